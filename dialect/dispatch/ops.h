#pragma once

#include "dialect/dispatch/machine.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <optional>

#include "dialect/dispatch/dialect.h.inc"
#include "dialect/dispatch/enums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/dispatch/attributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/dispatch/types.h.inc"

#define GET_OP_CLASSES
#include "dialect/dispatch/ops.h.inc"

namespace alula::dispatch {
/// Of an entry: something may run beside it. Its grid is too small for the
/// machine, and what it computes is not small.
inline constexpr llvm::StringLiteral narrowName = "dispatch.narrow";
} // namespace alula::dispatch

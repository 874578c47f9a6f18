#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"

#include "dialect/plan/dialect.h.inc"
#include "dialect/plan/enums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/plan/attributes.h.inc"

namespace alula::plan {

/// A StageAttr on an op of a kernel's body.
inline constexpr llvm::StringLiteral stageName = "plan.stage";
/// A GridAttr on the function of a kernel, which says that it is planned.
inline constexpr llvm::StringLiteral gridName = "plan.grid";

/// Whether a way is an order in which elements of a map are written to memory.
bool isOrderOfMap(Way way);

} // namespace alula::plan

// The dialects `check` and `interpreter`, which test files use.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"

#include "reference/check/check_dialect.h.inc"
#include "reference/check/interpreter_dialect.h.inc"

#define GET_OP_CLASSES
#include "reference/check/check_ops.h.inc"

#define GET_OP_CLASSES
#include "reference/check/interpreter_ops.h.inc"

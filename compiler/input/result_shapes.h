#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace alula::input {

/// Known values: an attribute for a constant, null otherwise.
using KnownValue = llvm::function_ref<mlir::DenseElementsAttr(mlir::Value)>;

/// The most that the operands tell about the results' types. Empty if they tell
/// nothing; fails after a diagnostic where the op contradicts itself.
mlir::FailureOr<llvm::SmallVector<mlir::Type>>
inferResultTypes(mlir::Operation *op, KnownValue known);

/// A custom call whose result shapes are operands: the numbers of these
/// operands, one for each result. Empty if it is none.
llvm::SmallVector<int64_t> getShapeOperands(mlir::Operation *op);

} // namespace alula::input

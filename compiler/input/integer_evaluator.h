#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace alula::input {

/// Results with more elements are not computed: shapes are small.
constexpr int64_t maxEvaluatedElements = 4096;

/// The result of an op on integers or booleans whose operands are known.
/// Nothing if the op is none that shape arithmetic uses, or its type is not
/// static, or it would divide by zero. Knows constants and sizes of static
/// dimensions without operands.
mlir::DenseElementsAttr
evaluateIntegers(mlir::Operation *op,
                 llvm::ArrayRef<mlir::DenseElementsAttr> operands);

/// The integers of a known value.
llvm::SmallVector<int64_t> getIntegers(mlir::DenseElementsAttr value);

} // namespace alula::input

#pragma once

#include "mlir/IR/PatternMatch.h"

// The families of chlo ops; convert_chlo_to_stablehlo.cpp asks each in turn.

namespace alula::input {

/// Nothing where the op is of another family; otherwise the op has been
/// replaced, or an error stands at it.
using Outcome = std::optional<llvm::LogicalResult>;

Outcome convertChloElementwise(mlir::Operation *op, mlir::IRRewriter &rewriter);
Outcome convertChloBroadcast(mlir::Operation *op, mlir::IRRewriter &rewriter);
Outcome convertChloCompound(mlir::Operation *op, mlir::IRRewriter &rewriter);

/// The same in the words of stablehlo; null for none.
mlir::ArrayAttr convertPrecision(std::optional<mlir::ArrayAttr> precision,
                                 mlir::MLIRContext *context);

/// Replaces a ragged_dot by a call that kernels have code for, if it fits.
bool convertRaggedDotToCall(mlir::Operation *op, mlir::IRRewriter &rewriter);

/// Replaces the op; a value whose type knows more or less of the shape than
/// the op's result is converted to the result's type.
void replaceWithTyped(mlir::Operation *op, mlir::ValueRange values,
                      mlir::IRRewriter &rewriter);

/// `a > b` as a comparator of tensors of `elements`; floats in total order, so
/// that NaN is the largest as in JAX.
void buildDescending(mlir::Region &region, llvm::ArrayRef<mlir::Type> elements,
                     mlir::OpBuilder &builder, mlir::Location location);

/// The binary functions that have a broadcasting twin.
mlir::FailureOr<mlir::Value>
buildChloBinary(llvm::StringRef name, mlir::Value lhs, mlir::Value rhs,
                mlir::Operation *op, mlir::IRRewriter &rewriter);

} // namespace alula::input

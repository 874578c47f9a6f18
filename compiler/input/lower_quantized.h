#pragma once

#include "mlir/IR/Builders.h"

#include <optional>

namespace alula::input {

/// The integer type that values of a quantized element type are stored as,
/// signless or unsigned; null for other types.
mlir::Type getStorageType(mlir::Type elementType);

/// The real numbers that `stored` stands for in a quantized element type.
mlir::Value buildDequantize(mlir::OpBuilder &builder, mlir::Location location,
                            mlir::Value stored, mlir::Type quantized);
/// The stored values of real numbers in a quantized element type.
mlir::Value buildQuantize(mlir::OpBuilder &builder, mlir::Location location,
                          mlir::Value real, mlir::Type quantized);
/// The stored values of `integers` times `factors`, one or as many as dimension
/// `axis` has, in a quantized element type.
mlir::Value buildRequantize(mlir::OpBuilder &builder, mlir::Location location,
                            mlir::Value integers,
                            llvm::ArrayRef<double> factors,
                            std::optional<int64_t> axis, mlir::Type quantized);
/// `integers` times `factors`, one or as many as dimension `axis` has, as
/// numbers of type `real`.
mlir::Value buildScale(mlir::OpBuilder &builder, mlir::Location location,
                       mlir::Value integers, llvm::ArrayRef<double> factors,
                       std::optional<int64_t> axis, mlir::Type real);
/// What a quantized element type stores for zero, in the shape of `like`; null
/// where that is the integer zero everywhere.
mlir::Value buildStoredZero(mlir::OpBuilder &builder, mlir::Location location,
                            mlir::Value like, mlir::Type quantized);

/// Makes a product of floats that were dequantized before one of the quantized
/// tensors, with a result of floats, if the following holds for that.
void multiplyQuantized(mlir::Operation *op);
/// Whether a product or convolution of quantized tensors can be one of bytes,
/// summed in i32 without overflow.
bool isIntegerProduct(mlir::Operation *op);
/// Makes it one, when operands and result have become storage: the types are
/// those of before.
void lowerIntegerProduct(mlir::Operation *op, mlir::TypeRange operandTypes,
                         mlir::Type resultElement);

/// Whether an op gives zeros to a process that receives nothing.
bool mayGiveZeros(mlir::Operation *op);
/// Makes an op on storage, of which the above holds, give what stands for zero
/// in the types that its operands had before. Before it, operands are moved so
/// that zero is the integer zero; after it, results are moved back.
void shiftZeros(mlir::Operation *op, mlir::TypeRange operandTypes);

} // namespace alula::input

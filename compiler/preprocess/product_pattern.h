#pragma once

#include "dialect/stablehlo/ops.h"

#include <optional>
#include <string>

namespace alula::preprocess {

/// A product of matrices, or of batches of them, with what can be done to each
/// element of it at once: act(lhs x rhs + bias).
struct Product {
  /// Elements lie so far apart along rows and columns; matrices of a batch
  /// along `batch`.
  struct Matrix {
    mlir::Value value;
    int64_t row, column, batch;
  };
  enum class Activation { None, Relu, Gelu };

  int64_t rows, columns, depth, batches;
  Matrix lhs, rhs;
  /// One number for each column; null: none.
  mlir::Value bias;
  Activation activation = Activation::None;
  mlir::Value result;
  /// All ops but constants, in the order of the block.
  llvm::SmallVector<mlir::Operation *> ops;

  /// Of lhs, rhs, result, bias.
  mlir::Type getType(mlir::Value value) const;
};

/// The largest such group that begins with the product; nothing if its matrices
/// do not lie in steps, or have types that no library multiplies.
std::optional<Product> matchProduct(mlir::stablehlo::DotGeneralOp dot);

/// What cuBLASLt is asked for (runtime/device/cuda/libraries/cublaslt.cpp):
/// of `rhs`, `lhs`, the result and perhaps the bias.
std::string describeForCublaslt(const Product &product);

} // namespace alula::preprocess

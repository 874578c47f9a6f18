#pragma once

#include "dialect/stablehlo/ops.h"

#include "mlir/IR/PatternMatch.h"

namespace alula::input {

/// Integers of a program as ops on tensor<i64>, and lists of them.
class ListArithmetic {
public:
  ListArithmetic(mlir::OpBuilder &builder, mlir::Location location)
      : builder(builder), location(location),
        type(mlir::RankedTensorType::get({}, builder.getI64Type())) {}

  mlir::Value make(int64_t value);
  mlir::Value getDim(mlir::Value tensor, int64_t dim);
  /// An element of a list or of a scalar.
  mlir::Value getElement(mlir::Value list, llvm::ArrayRef<int64_t> position);
  mlir::Value makeList(mlir::ValueRange numbers);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value subtract(mlir::Value a, mlir::Value b);
  mlir::Value multiply(mlir::Value a, mlir::Value b);
  mlir::Value divide(mlir::Value a, mlir::Value b);
  mlir::Value getRemainder(mlir::Value a, mlir::Value b);
  mlir::Value getMaximum(mlir::Value a, mlir::Value b);
  mlir::Value getMinimum(mlir::Value a, mlir::Value b);

private:
  mlir::OpBuilder &builder;
  mlir::Location location;
  mlir::RankedTensorType type;
};

} // namespace alula::input

#pragma once

#include "compiler/dispatch/host_tensors.h"
#include "dialect/stablehlo/result_sizes.h"

namespace alula::dispatch {

/// The sizes of everything in a host function, as numbers of the host.
class HostSizes : public mlir::stablehlo::SizeArithmetic {
public:
  explicit HostSizes(mlir::func::FuncOp function);

  /// Finds the sizes of every dynamic result. What an op reads of its sizes is
  /// handed to it as a `dispatch.pack` from then on, and what must be true of
  /// sizes is asserted.
  mlir::LogicalResult compute();

  /// The sizes of a value's dynamic dimensions, in order.
  llvm::SmallVector<mlir::Value> getDynamicDims(mlir::Value tensor);
  /// A value takes the place of another one.
  void replace(mlir::Value old, mlir::Value by);

  mlir::Value makeNumber(int64_t value) override { return numbers.make(value); }
  mlir::Value getDim(mlir::Value tensor, int64_t dim) override;
  mlir::Value getElement(mlir::Value tensor,
                         llvm::ArrayRef<int64_t> position) override;
  mlir::Value add(mlir::Value a, mlir::Value b) override {
    return numbers.add(a, b);
  }
  mlir::Value subtract(mlir::Value a, mlir::Value b) override {
    return numbers.subtract(a, b);
  }
  mlir::Value multiply(mlir::Value a, mlir::Value b) override {
    return numbers.multiply(a, b);
  }
  mlir::Value getMaximum(mlir::Value a, mlir::Value b) override {
    return numbers.getMaximum(a, b);
  }
  mlir::Value divide(mlir::Value a, mlir::Value b) override {
    return numbers.divide(a, b);
  }
  HostNumbers &getNumbers() { return numbers; }

private:
  mlir::LogicalResult computeBlock(mlir::Block &block);
  mlir::LogicalResult computeOp(mlir::Operation *op);
  /// The operand, if the result has all of its sizes and elements; or null.
  mlir::Value getSame(mlir::Operation *op);
  mlir::LogicalResult computeResult(mlir::OpResult result);
  mlir::LogicalResult computeCustomCallResult(mlir::OpResult result);
  void pack(mlir::OpOperand &operand);
  mlir::LogicalResult assertShape(mlir::Operation *customCall);

  mlir::func::FuncOp function;
  HostNumbers numbers;
  HostTensors tensors;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> sizes;
  llvm::SmallVector<mlir::Operation *> replaced;
};

} // namespace alula::dispatch

#pragma once

#include "compiler/dispatch/host_numbers.h"

namespace alula::dispatch {

/// Elements of small tensors of integers as numbers of the host. What sizes are
/// computed with is followed back to sizes and constants; anything else is
/// read from memory.
class HostTensors {
public:
  explicit HostTensors(HostNumbers &numbers) : numbers(numbers) {}

  /// Sizes of dynamic dimensions come from whoever knows them.
  using GetDim = std::function<mlir::Value(mlir::Value tensor, int64_t dim)>;
  void setDims(GetDim getDim) { this->getDim = std::move(getDim); }

  /// A number, or a condition for i1.
  mlir::Value getElement(mlir::Value tensor, llvm::ArrayRef<int64_t> position);

private:
  mlir::Value compute(mlir::Value tensor, llvm::ArrayRef<int64_t> position);
  mlir::Value computeElementwise(mlir::Operation *op,
                                 llvm::ArrayRef<int64_t> position);
  /// Of a tensor of f64, if it is a whole number.
  mlir::Value computeWhole(mlir::Value tensor,
                           llvm::ArrayRef<int64_t> position);
  mlir::Value computeIntegers(mlir::Operation *op, mlir::Value a,
                              mlir::Value b);
  mlir::Value computeConditions(mlir::Operation *op, mlir::Value a,
                                mlir::Value b);
  mlir::Value computeMoved(mlir::Operation *op,
                           llvm::ArrayRef<int64_t> position);
  mlir::Value computeReduce(mlir::Operation *op,
                            llvm::ArrayRef<int64_t> position);

  HostNumbers &numbers;
  GetDim getDim;
  std::map<std::pair<void *, std::vector<int64_t>>, mlir::Value> known;
};

} // namespace alula::dispatch

// Numbers of the host that follow from the sizes of its arguments.

#pragma once

#include "compiler/driver/options.h"

#include "llvm/ADT/DenseMap.h"

namespace alula::driver {

class KnownSizes {
public:
  /// `sizes` has those of arguments: "0.1" is dimension 1 of argument 0 of any
  /// function, "main:0.1" of @main.
  explicit KnownSizes(const std::map<std::string, int64_t> &sizes)
      : sizes(sizes) {}

  /// An integer; none if more has to be known.
  std::optional<int64_t> evaluate(mlir::Value number);
  /// The type of a tensor with all its sizes; null if more has to be known.
  mlir::RankedTensorType evaluateType(mlir::Value tensor);

private:
  std::optional<int64_t> compute(mlir::Value number);
  std::optional<int64_t> computeDim(mlir::Value tensor, int64_t dim);

  const std::map<std::string, int64_t> &sizes;
  llvm::DenseMap<mlir::Value, std::optional<int64_t>> known;
};

} // namespace alula::driver

#include "dialect/newer/limits.h"

std::optional<int64_t>
alula::newer::countElements(llvm::ArrayRef<int64_t> shape) {
  int64_t product = 1;
  for (int64_t dim : shape) {
    if (dim <= 0)
      continue;
    if (dim > maxElements / product)
      return std::nullopt;
    product *= dim;
  }
  return product;
}

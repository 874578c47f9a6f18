// A stable sort that any comparator may drive, also one that contradicts
// itself, and whose comparisons can fail.
#pragma once

#include "mlir/Support/LLVM.h"

#include <cstdint>
#include <vector>

namespace alula::reference {

/// Sorts `order`; `isLess(a, b)` gives whether a must come before b, or fails.
template <typename IsLess>
mlir::LogicalResult mergeSort(std::vector<int64_t> &order, IsLess isLess) {
  std::vector<int64_t> merged(order.size());
  for (size_t width = 1; width < order.size(); width *= 2) {
    for (size_t start = 0; start < order.size(); start += 2 * width) {
      size_t middle = std::min(start + width, order.size());
      size_t end = std::min(start + 2 * width, order.size());
      size_t left = start, right = middle, at = start;
      while (left < middle && right < end) {
        mlir::FailureOr<bool> less = isLess(order[right], order[left]);
        if (failed(less))
          return mlir::failure();
        merged[at++] = *less ? order[right++] : order[left++];
      }
      while (left < middle)
        merged[at++] = order[left++];
      while (right < end)
        merged[at++] = order[right++];
    }
    order.swap(merged);
  }
  return mlir::success();
}

} // namespace alula::reference

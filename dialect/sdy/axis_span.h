#pragma once

#include "dialect/sdy/dialect.h"

#include <tuple>

namespace mlir::sdy {

/// An axis or a part of one as the range [begin, end) of products of sizes to
/// the left: the whole of an axis of size 8 is [1, 8), `"a":(2)2` is [2, 4).
/// Parts of one axis overlap where their ranges do.
struct AxisSpan {
  llvm::StringRef name;
  int64_t axisIndex; ///< In the mesh.
  int64_t fullSize;  ///< Of the whole axis.
  int64_t begin, end;

  /// `axis` must name an axis of `mesh` and satisfy `verifyAxes`.
  static AxisSpan get(AxisRefAttr axis, MeshAttr mesh);
  AxisRefAttr toAttr(MLIRContext *context) const;

  /// An axis of size 1 is an empty range, but still one's own.
  bool overlaps(const AxisSpan &other) const {
    return *this == other || (axisIndex == other.axisIndex &&
                              begin < other.end && other.begin < end);
  }
  /// Whether `next` goes on where this ends, so that both are one.
  bool continuesWith(const AxisSpan &next) const {
    return axisIndex == next.axisIndex && end == next.begin;
  }
  friend bool operator==(const AxisSpan &a, const AxisSpan &b) {
    return a.axisIndex == b.axisIndex && a.begin == b.begin && a.end == b.end;
  }
  /// The order of a mesh.
  friend bool operator<(const AxisSpan &a, const AxisSpan &b) {
    return std::tie(a.axisIndex, a.begin, a.end) <
           std::tie(b.axisIndex, b.begin, b.end);
  }
};

using AxisSpans = llvm::SmallVector<AxisSpan>;

AxisSpans getSpans(llvm::ArrayRef<AxisRefAttr> axes, MeshAttr mesh);

/// Adds `span` as the minor-most one, as part of the last one if it goes on
/// where that ends.
void append(AxisSpans &spans, const AxisSpan &span);

/// Takes `span` away from the minor end. False if it isn't there.
bool removeSuffix(AxisSpans &spans, const AxisSpan &span);

/// Sorts in the order of the mesh and joins what belongs together.
void sortAndMerge(AxisSpans &spans);

/// `{"a", "b":(2)2}`.
std::string toString(llvm::ArrayRef<AxisSpan> spans);

} // namespace mlir::sdy

// Axes of meshes without their names. Devices are numbered 0 … n-1, and an axis
// is some of the digits of that number: with 8 devices, those of a mesh
// <"x"=4, "y"=2> are [2, 8) and [1, 2), the digits between two strides. So axes
// of different meshes over the same devices can be compared, and a part of an
// axis is no special case.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace alula::partition {

/// The digit (device / begin) % (end / begin).
struct Span {
  int64_t begin, end;

  int64_t size() const { return end / begin; }
  bool overlaps(const Span &other) const {
    return begin < other.end && other.begin < end;
  }
  friend bool operator==(const Span &a, const Span &b) {
    return a.begin == b.begin && a.end == b.end;
  }
  friend bool operator<(const Span &a, const Span &b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  }
};

/// From major to minor; of neighbours that are one span none are left.
using Spans = llvm::SmallVector<Span, 2>;

/// Into how many pieces they split what they split.
int64_t countShards(llvm::ArrayRef<Span> spans);
/// Adds one at the minor end.
void append(Spans &spans, Span span);
void append(Spans &spans, llvm::ArrayRef<Span> more);
bool overlaps(llvm::ArrayRef<Span> spans, Span span);
bool overlap(llvm::ArrayRef<Span> a, llvm::ArrayRef<Span> b);
/// What both begin with.
Spans getCommonPrefix(llvm::ArrayRef<Span> a, llvm::ArrayRef<Span> b);
bool isPrefix(llvm::ArrayRef<Span> prefix, llvm::ArrayRef<Span> spans);
/// What follows a prefix.
Spans removePrefix(llvm::ArrayRef<Span> spans, llvm::ArrayRef<Span> prefix);
/// The longest prefix that splits `size` evenly; spans may be cut.
Spans getDividingPrefix(llvm::ArrayRef<Span> spans, int64_t size);
/// The size of each of so many pieces; the last ones may have less of the array
/// and padding, of which nothing is known, behind it.
int64_t getPieceSize(int64_t size, int64_t pieces);
/// All, if there is something for most devices, else the longest prefix that
/// divides.
Spans getPaddablePrefix(llvm::ArrayRef<Span> spans, int64_t size);
/// The prefix before the first part that one of `used` overlaps.
Spans cutBefore(llvm::ArrayRef<Span> spans, llvm::ArrayRef<Span> used);
/// In the order of their strides, from major to minor, joined: a set.
Spans sortSpans(llvm::ArrayRef<Span> spans);
/// The parts of `spans`, as a set, that none of `others` has.
Spans subtract(llvm::ArrayRef<Span> spans, llvm::ArrayRef<Span> others);

/// How an array is split over the devices of a program. Along digits that are
/// not mentioned it is there as a whole.
struct Sharding {
  llvm::SmallVector<Spans> dims;
  /// Devices hold parts that together, added up, are the array. A set.
  Spans unreduced;

  Sharding() = default;
  explicit Sharding(int64_t rank) : dims(static_cast<size_t>(rank)) {}

  bool isWhole() const;
  /// All digits of dimensions.
  Spans getSplitting() const;
  /// The type of a piece, padding included.
  mlir::RankedTensorType getLocalType(mlir::RankedTensorType type) const;
  bool divides(mlir::RankedTensorType type) const;
  friend bool operator==(const Sharding &a, const Sharding &b) {
    return a.dims == b.dims && a.unreduced == b.unreduced;
  }
};

} // namespace alula::partition

#include "compiler/partition/spans.h"

#include "llvm/ADT/STLExtras.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace alula::partition;

int64_t alula::partition::countShards(ArrayRef<Span> spans) {
  int64_t count = 1;
  for (Span span : spans)
    count *= span.size();
  return count;
}

void alula::partition::append(Spans &spans, Span span) {
  if (span.size() == 1)
    return;
  if (!spans.empty() && spans.back().begin == span.end)
    spans.back().begin = span.begin;
  else
    spans.push_back(span);
}

void alula::partition::append(Spans &spans, ArrayRef<Span> more) {
  for (Span span : more)
    append(spans, span);
}

bool alula::partition::overlaps(ArrayRef<Span> spans, Span span) {
  return llvm::any_of(spans, [&](Span s) { return s.overlaps(span); });
}

bool alula::partition::overlap(ArrayRef<Span> a, ArrayRef<Span> b) {
  return llvm::any_of(a, [&](Span s) { return overlaps(b, s); });
}

Spans alula::partition::getCommonPrefix(ArrayRef<Span> a, ArrayRef<Span> b) {
  Spans common;
  for (auto [left, right] : llvm::zip(a, b)) {
    if (left == right) {
      common.push_back(left);
      continue;
    }
    int64_t begin = std::max(left.begin, right.begin),
            other = std::min(left.begin, right.begin);
    // A part of one of them; what follows differs then.
    if (left.end == right.end && begin % other == 0)
      common.push_back({begin, left.end});
    break;
  }
  return common;
}

bool alula::partition::isPrefix(ArrayRef<Span> prefix, ArrayRef<Span> spans) {
  return ArrayRef<Span>(getCommonPrefix(prefix, spans)) == prefix;
}

Spans alula::partition::removePrefix(ArrayRef<Span> spans,
                                     ArrayRef<Span> prefix) {
  Spans rest;
  for (auto [i, span] : llvm::enumerate(spans)) {
    if (i >= prefix.size())
      rest.push_back(span);
    else if (prefix[i].begin != span.begin)
      rest.push_back({span.begin, prefix[i].begin});
  }
  return rest;
}

Spans alula::partition::getDividingPrefix(ArrayRef<Span> spans, int64_t size) {
  Spans prefix;
  for (Span span : spans) {
    int64_t part = std::gcd(span.size(), size);
    if (part > 1)
      prefix.push_back({span.end / part, span.end});
    if (part != span.size())
      break;
    size /= part;
  }
  return prefix;
}

int64_t alula::partition::getPieceSize(int64_t size, int64_t pieces) {
  return llvm::divideCeil(size, pieces);
}

Spans alula::partition::getPaddablePrefix(ArrayRef<Span> spans, int64_t size) {
  if (countShards(spans) <= size)
    return Spans(spans);
  return getDividingPrefix(spans, size);
}

Spans alula::partition::cutBefore(ArrayRef<Span> spans, ArrayRef<Span> used) {
  Spans prefix;
  for (Span span : spans) {
    int64_t begin = span.begin;
    for (Span other : used)
      if (other.overlaps(span))
        begin = std::max(begin, std::min(other.end, span.end));
    if (begin == span.begin) {
      prefix.push_back(span);
      continue;
    }
    if (begin < span.end && span.end % begin == 0 && begin % span.begin == 0)
      prefix.push_back({begin, span.end});
    break;
  }
  return prefix;
}

Spans alula::partition::sortSpans(ArrayRef<Span> spans) {
  Spans sorted(spans), set;
  llvm::sort(sorted, [](Span a, Span b) { return b < a; });
  for (Span span : sorted)
    append(set, span);
  return set;
}

Spans alula::partition::subtract(ArrayRef<Span> spans, ArrayRef<Span> others) {
  Spans left(spans);
  for (Span other : others) {
    Spans next;
    for (Span span : left) {
      if (!span.overlaps(other)) {
        next.push_back(span);
        continue;
      }
      if (span.end > other.end)
        next.push_back({other.end, span.end});
      if (span.begin < other.begin)
        next.push_back({span.begin, other.begin});
    }
    left = std::move(next);
  }
  return sortSpans(left);
}

bool Sharding::isWhole() const {
  return unreduced.empty() &&
         llvm::all_of(dims, [](const Spans &spans) { return spans.empty(); });
}

Spans Sharding::getSplitting() const {
  Spans all;
  for (const Spans &spans : dims)
    all.append(spans.begin(), spans.end());
  return all;
}

RankedTensorType Sharding::getLocalType(RankedTensorType type) const {
  SmallVector<int64_t> shape(type.getShape());
  for (auto [size, spans] : llvm::zip(shape, dims))
    if (!spans.empty())
      size = getPieceSize(size, countShards(spans));
  return type.clone(shape);
}

bool Sharding::divides(RankedTensorType type) const {
  for (auto [size, spans] : llvm::zip(type.getShape(), dims))
    if (!spans.empty() &&
        (ShapedType::isDynamic(size) || size % countShards(spans)))
      return false;
  return true;
}

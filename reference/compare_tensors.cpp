#include "reference/compare_tensors.h"

#include "reference/interpreter.h"

#include "llvm/Support/raw_ostream.h"

#include <cmath>

namespace alula::reference {
namespace {

template <typename Agree>
Difference compare(const Tensor &actual, const Tensor &expected, Agree agree) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (actual.getDims() != expected.getDims() ||
      actual.getKind() != expected.getKind()) {
    os << "expected a tensor of " << printDims(expected.getDims()) << " "
       << expected.getElementType() << ", actual "
       << printDims(actual.getDims()) << " " << actual.getElementType();
    return text;
  }
  Kind kind = actual.getKind();
  int64_t different = 0, at = 0;
  for (BoxWalk walk(actual.getDims()); !walk.isDone(); walk.next(), ++at) {
    Cell a = actual.getCell(at), e = expected.getCell(at);
    if (agree(kind, a, e))
      continue;
    if (different++ == 0)
      os << "expected " << printCell(kind, e) << ", actual "
         << printCell(kind, a) << ", index " << printDims(walk.getIndex());
  }
  if (different == 0)
    return std::nullopt;
  os << ", " << different << " of " << actual.getSize()
     << " elements differ";
  return text;
}

bool equalReal(double a, double e) {
  return a == e || (std::isnan(a) && std::isnan(e));
}

/// Calls `agree` for each real number of a cell.
template <typename Agree>
bool forParts(Kind kind, const Cell &a, const Cell &e, Agree agree) {
  return agree(a.re, e.re) && (!isComplex(kind) || agree(a.im, e.im));
}

bool isReal(Kind kind) { return isFloat(kind) || isComplex(kind); }

} // namespace

Difference findUnequal(const Tensor &actual, const Tensor &expected) {
  return compare(actual, expected,
                 [](Kind kind, const Cell &a, const Cell &e) {
                   if (!isReal(kind))
                     return a.u == e.u;
                   return forParts(kind, a, e, equalReal);
                 });
}

Difference findFar(const Tensor &actual, const Tensor &expected,
                   double tolerance) {
  return compare(
      actual, expected, [&](Kind kind, const Cell &a, const Cell &e) {
        if (!isReal(kind))
          return a.u == e.u;
        return forParts(kind, a, e, [&](double x, double y) {
          return equalReal(x, y) || std::fabs(x - y) <= tolerance;
        });
      });
}

Difference findNotClose(const Tensor &actual, const Tensor &expected,
                        uint64_t minUlps, uint64_t maxUlps) {
  return compare(
      actual, expected, [&](Kind kind, const Cell &a, const Cell &e) {
        if (!isReal(kind))
          return a.u == e.u;
        Kind real = getRealKind(kind);
        return forParts(kind, a, e, [&](double x, double y) {
          uint64_t distance = UINT64_MAX;
          if (equalReal(x, y))
            distance = 0;
          else if (std::optional<uint64_t> ulps = getUlpDistance(real, x, y))
            distance = *ulps;
          return distance >= minUlps && distance <= maxUlps;
        });
      });
}

} // namespace alula::reference

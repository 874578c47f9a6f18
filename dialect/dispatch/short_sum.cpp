#include "dialect/dispatch/short_sum.h"

#include "dialect/stablehlo/access.h"
#include "dialect/stablehlo/element_rules.h"
#include "dialect/stablehlo/ops.h"
#include "dialect/stablehlo/product_dims.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace alula::dispatch;

namespace {
/// Fewer than fill a vector: of terms, and of elements that are unrolled.
int64_t getFew(const MachineFacts &machine) { return machine.lanes / 2; }

ArrayRef<int64_t> getSizes(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getShape();
}

int64_t countFree(Value tensor, ArrayRef<int64_t> batching,
                  ArrayRef<int64_t> contracting) {
  int64_t count = 1;
  for (auto [dim, size] : llvm::enumerate(getSizes(tensor))) {
    auto number = static_cast<int64_t>(dim);
    if (!llvm::is_contained(batching, number) &&
        !llvm::is_contained(contracting, number))
      count = llvm::SaturatingMultiply(uint64_t(count), uint64_t(size));
  }
  return count;
}

std::optional<LoopsOfDims> getLoopsOfFactor(stablehlo::DotGeneralOp dot,
                                            bool isLhs,
                                            const LoopsOfDims &ofResult) {
  Value operand = isLhs ? dot.getLhs() : dot.getRhs();
  // All terms of a sum are added at once.
  LoopsOfDims loops(getSizes(operand).size(), unrolled);
  for (auto [dim, loop] :
       llvm::zip_equal(stablehlo::getProductDims(dot), ofResult)) {
    int64_t ofOperand = isLhs ? dim.lhs : dim.rhs;
    if (ofOperand >= 0)
      loops[static_cast<size_t>(ofOperand)] = loop;
  }
  return loops;
}

/// Dimensions of one element come and go.
std::optional<LoopsOfDims> getLoopsOfReshaped(ArrayRef<int64_t> from,
                                              ArrayRef<int64_t> to,
                                              const LoopsOfDims &ofResult) {
  LoopsOfDims loops;
  size_t at = 0;
  auto skipOnes = [&] {
    while (at < to.size() && to[at] == 1)
      ++at;
  };
  for (int64_t size : from) {
    if (size == 1) {
      loops.push_back(unrolled);
      continue;
    }
    skipOnes();
    if (at == to.size() || to[at] != size)
      return std::nullopt;
    loops.push_back(ofResult[at++]);
  }
  skipOnes();
  return at == to.size() ? std::optional(loops) : std::nullopt;
}
} // namespace

bool alula::dispatch::isShortSum(Operation *op) {
  auto dot = dyn_cast<stablehlo::DotGeneralOp>(op);
  if (!dot)
    return false;
  auto isKnown = [](Value tensor) {
    return cast<RankedTensorType>(tensor.getType()).hasStaticShape();
  };
  if (!isKnown(dot.getLhs()) || !isKnown(dot.getRhs()))
    return false;
  MachineFacts machine = getMachine(op);
  int64_t few = getFew(machine);
  std::optional<int64_t> terms = stablehlo::countTerms(op);
  if (!terms || *terms < 1 || *terms > few)
    return false;
  auto numbers = dot.getDotDimensionNumbers();
  int64_t rows = countFree(dot.getLhs(), numbers.getLhsBatchingDimensions(),
                           numbers.getLhsContractingDimensions());
  int64_t columns = countFree(dot.getRhs(), numbers.getRhsBatchingDimensions(),
                              numbers.getRhsContractingDimensions());
  return std::min(rows, columns) <= few ||
         rows * columns * *terms < machine.callSteps;
}

LoopsOfDims alula::dispatch::getLoopsOfDims(Value written) {
  ArrayRef<int64_t> sizes = getSizes(written);
  LoopsOfDims loops;
  for (size_t dim = 0; dim < sizes.size(); ++dim)
    loops.push_back(static_cast<int64_t>(dim));
  Operation *op = written.getDefiningOp();
  if (!op)
    return loops;
  int64_t few = getFew(getMachine(op)), count = 1;
  bool isLast = true;
  for (size_t dim = sizes.size(); dim-- > 0;) {
    // A size that is not known is negative.
    isLast &= sizes[dim] >= 1 && sizes[dim] <= few && count * sizes[dim] <= few;
    if (isLast)
      count *= sizes[dim];
    if (isLast || sizes[dim] == 1)
      loops[dim] = unrolled;
  }
  return loops;
}

std::optional<LoopsOfDims>
alula::dispatch::getLoopsOfDims(OpOperand &use, const LoopsOfDims &ofResult) {
  Operation *op = use.getOwner();
  if (stablehlo::isElementwise(op) &&
      getSizes(use.get()).size() == ofResult.size())
    return ofResult;
  if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op)) {
    LoopsOfDims loops(ofResult.size());
    for (auto [to, from] : llvm::enumerate(transpose.getPermutation()))
      loops[static_cast<size_t>(from)] = ofResult[to];
    return loops;
  }
  if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op)) {
    LoopsOfDims loops;
    for (auto [dim, to] : llvm::enumerate(broadcast.getBroadcastDimensions())) {
      int64_t size = getSizes(use.get())[dim];
      if (ShapedType::isDynamic(size))
        return std::nullopt;
      loops.push_back(size == 1 ? unrolled : ofResult[static_cast<size_t>(to)]);
    }
    return loops;
  }
  if (isa<stablehlo::ReshapeOp>(op))
    return getLoopsOfReshaped(getSizes(use.get()), getSizes(op->getResult(0)),
                              ofResult);
  if (isShortSum(op))
    return getLoopsOfFactor(cast<stablehlo::DotGeneralOp>(op),
                            use.getOperandNumber() == 0, ofResult);
  return std::nullopt;
}

bool alula::dispatch::isReadOnce(const LoopsOfDims &loops,
                                 ArrayRef<int64_t> written) {
  return llvm::all_of(written, [&](int64_t loop) {
    return loop == unrolled || llvm::is_contained(loops, loop);
  });
}

// What the comparator of a sort compares.

#include "compiler/kernel/plan/sort_order.h"

#include "compiler/kernel/element/element_form.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace alula::kernel;
using stablehlo::ComparisonDirection;

namespace {
/// Places are numbers of 32 bits.
constexpr int64_t maxRow = INT32_MAX;

/// Whether `a` is computed from `fromA` as `b` is from `fromB`, and from
/// nothing else that differs.
bool isSameFunction(Value a, Value fromA, Value b, Value fromB) {
  if (a == fromA || b == fromB)
    return a == fromA && b == fromB;
  Operation *opA = a.getDefiningOp(), *opB = b.getDefiningOp();
  if (!opA || !opB || isa<BlockArgument>(a))
    return a == b && !isa<BlockArgument>(a);
  if (opA->getName() != opB->getName() || opA->getNumRegions() ||
      opA->getAttrDictionary() != opB->getAttrDictionary() ||
      opA->getNumOperands() != opB->getNumOperands() ||
      opA->getResultTypes() != opB->getResultTypes() ||
      opA->getNumResults() != 1 || !isMemoryEffectFree(opA))
    return false;
  for (auto [x, y] : llvm::zip_equal(opA->getOperands(), opB->getOperands()))
    if (!isSameFunction(x, fromA, y, fromB))
      return false;
  return true;
}
} // namespace

std::optional<SortOrder> alula::kernel::findSortOrder(stablehlo::SortOp sort) {
  Block &comparator = sort.getComparator().front();
  auto comparison = comparator.getTerminator()
                        ->getOperand(0)
                        .getDefiningOp<stablehlo::CompareOp>();
  if (!comparison || comparison->getBlock() != &comparator)
    return std::nullopt;
  ComparisonDirection direction = comparison.getComparisonDirection();
  if (direction != ComparisonDirection::LT &&
      direction != ComparisonDirection::GT)
    return std::nullopt;
  Type element = getElementType(comparison.getLhs());
  // Where a NaN is, nothing is in order.
  if (isa<FloatType>(element)
          ? comparison.getCompareType() != stablehlo::ComparisonType::TOTALORDER
          : !isa<IntegerType>(element))
    return std::nullopt;
  for (unsigned k = 0; k + 1 < comparator.getNumArguments(); k += 2) {
    Value a = comparator.getArgument(k), b = comparator.getArgument(k + 1);
    bool isGreater = direction == ComparisonDirection::GT;
    if (isSameFunction(comparison.getLhs(), a, comparison.getRhs(), b))
      return SortOrder{comparison.getLhs(), isGreater};
    if (isSameFunction(comparison.getLhs(), b, comparison.getRhs(), a))
      return SortOrder{comparison.getRhs(), !isGreater};
  }
  return std::nullopt;
}

size_t alula::kernel::getSortedDim(stablehlo::SortOp sort) {
  auto rank = cast<RankedTensorType>(sort.getInputs()[0].getType()).getRank();
  auto given = static_cast<int64_t>(sort.getDimension());
  return static_cast<size_t>(given < 0 ? given + rank : given);
}

bool alula::kernel::maySortByDigits(stablehlo::SortOp sort) {
  auto type = cast<RankedTensorType>(sort.getInputs()[0].getType());
  if (!type.getRank())
    return false;
  auto dim = static_cast<unsigned>(getSortedDim(sort));
  if (type.isDynamicDim(dim) || type.getDimSize(dim) < 1 ||
      type.getDimSize(dim) > maxRow)
    return false;
  std::optional<SortOrder> order = findSortOrder(sort);
  if (!order)
    return false;
  Type element = getElementType(order->number);
  return getValueType(element) && !isSmallFloat(element) &&
         isa<IntegerType, FloatType>(element);
}

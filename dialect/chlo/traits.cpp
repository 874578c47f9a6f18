// What the shared rules of traits.td infer: broadcast shapes.

#include "dialect/chlo/traits.h"

#include "dialect/stablehlo/type_rules.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::chlo;
using stablehlo::inferError;

namespace {
std::string text(ArrayRef<int64_t> dims) {
  std::string result;
  llvm::raw_string_ostream stream(result);
  stream << '[';
  llvm::interleaveComma(dims, stream);
  stream << ']';
  return result;
}

std::string text(Type type) {
  std::string result;
  llvm::raw_string_ostream(result) << type;
  return result;
}

/// One dimension; nothing if the sizes contradict each other.
std::optional<int64_t> broadcastDim(int64_t a, int64_t b) {
  if (a == b || b == 1)
    return a;
  if (a == 1)
    return b;
  // A `?` can only match a size above 1 by being 1 or the same.
  if (ShapedType::isDynamic(a))
    return b;
  if (ShapedType::isDynamic(b))
    return a;
  return std::nullopt;
}
} // namespace

std::optional<SmallVector<int64_t>>
chlo::broadcastShapes(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  if (a.size() < b.size())
    std::swap(a, b);
  SmallVector<int64_t> shape(a);
  size_t offset = a.size() - b.size();
  for (auto [index, size] : llvm::enumerate(b)) {
    std::optional<int64_t> dim = broadcastDim(a[offset + index], size);
    if (!dim)
      return std::nullopt;
    shape[offset + index] = *dim;
  }
  return shape;
}

SmallVector<int64_t>
chlo::getBroadcastDimensions(int64_t rank, int64_t operandRank,
                             std::optional<ArrayRef<int64_t>> written) {
  if (written && operandRank < rank)
    return SmallVector<int64_t>(*written);
  SmallVector<int64_t> dimensions;
  for (int64_t dim = rank - operandRank; dim < rank; ++dim)
    dimensions.push_back(dim);
  return dimensions;
}

LogicalResult chlo::OpTrait::detail::inferBroadcast(
    std::optional<Location> location, StringRef opName, ValueRange operands,
    std::optional<ArrayRef<int64_t>> dimensions, BroadcastElement element,
    SmallVectorImpl<Type> &inferred) {
  auto lhs = dyn_cast<RankedTensorType>(operands[0].getType());
  auto rhs = dyn_cast<RankedTensorType>(operands[1].getType());
  if (!lhs || !rhs)
    return inferError(location, opName,
                      "operands must be ranked tensors: " +
                          text(operands[0].getType()) + " and " +
                          text(operands[1].getType()));
  if (!stablehlo::areCompatibleElementTypes(lhs.getElementType(),
                                            rhs.getElementType()))
    return inferError(location, opName,
                      "element types must be compatible: " + text(lhs) +
                          " and " + text(rhs));
  Type resultElement = lhs.getElementType();
  if (element == BroadcastElement::Pred)
    resultElement = IntegerType::get(lhs.getContext(), 1);
  if (element == BroadcastElement::Complex)
    resultElement = ComplexType::get(resultElement);

  auto large = lhs.getRank() > rhs.getRank() ? lhs : rhs;
  auto small = lhs.getRank() > rhs.getRank() ? rhs : lhs;
  // Between equal ranks there is nothing for broadcast_dimensions to say.
  if (!dimensions || lhs.getRank() == rhs.getRank()) {
    auto shape = broadcastShapes(lhs.getShape(), rhs.getShape());
    if (!shape)
      return inferError(location, opName,
                        "shapes can't be broadcast: " + text(lhs) + " and " +
                            text(rhs));
    inferred.push_back(RankedTensorType::get(*shape, resultElement));
    return success();
  }
  if (static_cast<int64_t>(dimensions->size()) != small.getRank())
    return inferError(location, opName,
                      "broadcast_dimensions must name each dimension of the "
                      "operand of lower rank: " +
                          text(*dimensions) + " for " + text(small));
  SmallVector<int64_t> shape(large.getShape());
  int64_t previous = -1;
  for (auto [index, dim] : llvm::enumerate(*dimensions)) {
    if (dim <= previous || dim >= large.getRank())
      return inferError(location, opName,
                        "broadcast_dimensions must increase and be below the "
                        "rank: " +
                            text(*dimensions) + " with rank " +
                            Twine(large.getRank()));
    previous = dim;
    auto size = broadcastDim(large.getDimSize(dim),
                             small.getDimSize(static_cast<unsigned>(index)));
    if (!size)
      return inferError(location, opName,
                        "shapes can't be broadcast: " + text(lhs) + " and " +
                            text(rhs) + " with broadcast_dimensions " +
                            text(*dimensions));
    shape[dim] = *size;
  }
  inferred.push_back(RankedTensorType::get(shape, resultElement));
  return success();
}

LogicalResult
chlo::OpTrait::detail::inferPred(ValueRange operands,
                                 SmallVectorImpl<Type> &inferred) {
  auto type = cast<ShapedType>(operands.front().getType());
  inferred.push_back(type.clone(IntegerType::get(type.getContext(), 1)));
  return success();
}

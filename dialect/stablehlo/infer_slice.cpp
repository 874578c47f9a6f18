// Inference and rules of ops that read or write a part of a tensor.

#include "dialect/stablehlo/dimension_rules.h"
#include "dialect/stablehlo/ops.h"

using namespace mlir;
using namespace mlir::stablehlo;

namespace {
/// What is taken along one dimension.
struct SliceRange {
  int64_t start, limit, stride;
};

/// `0 <= start <= limit <= size` and `0 < stride`, and how many elements that
/// takes.
FailureOr<int64_t> countTaken(const RuleSite &site, RankedTensorType operand,
                              int64_t dim, const SliceRange &range) {
  auto [start, limit, stride] = range;
  if (start < 0)
    return site.fail("start must not be negative: is ", start, " in dimension ",
                     dim);
  if (start > limit)
    return site.fail("start must not exceed limit: start ", start, ", limit ",
                     limit, " in dimension ", dim);
  int64_t size = operand.getDimSize(dim), bound = boundOf(operand, dim);
  if (!ShapedType::isDynamic(size) && limit > size)
    return site.fail("limit must not exceed the dimension size: limit ", limit,
                     ", size ", size, " in dimension ", dim);
  if (!ShapedType::isDynamic(bound) && limit > bound)
    return site.fail("limit must not exceed the dimension bound: limit ", limit,
                     ", bound ", bound, " in dimension ", dim);
  if (stride <= 0)
    return site.fail("stride must be positive: is ", stride, " in dimension ",
                     dim);
  int64_t length = limit - start;
  return length / stride + (length % stride != 0);
}

/// One scalar of one type for each dimension.
LogicalResult verifyStartIndices(const RuleSite &site, ValueRange starts,
                                 RankedTensorType operand) {
  if (static_cast<int64_t>(starts.size()) != operand.getRank())
    return site.fail("start_indices must have an entry for each dimension: ",
                     "has ", starts.size(), ", operand is ", operand);
  for (auto [index, start] : llvm::enumerate(starts))
    if (start.getType() != starts.front().getType())
      return site.fail("start_indices must have one type: 0 is ",
                       starts.front().getType(), ", ", index, " is ",
                       start.getType());
  return success();
}
} // namespace

LogicalResult
SliceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                          ValueRange operands, DictionaryAttr attributes,
                          OpaqueProperties properties, RegionRange,
                          SmallVectorImpl<Type> &inferred) {
  RuleSite site(location, getOperationName());
  Adaptor adaptor(operands, attributes, properties);
  RankedTensorType operand = tensorOperand(site, operands, 0);
  if (!operand)
    return failure();
  if (!adaptor.getStartIndicesAttr() || !adaptor.getLimitIndicesAttr() ||
      !adaptor.getStridesAttr())
    return site.fail("start_indices, limit_indices and strides must be given: "
                     "are not");
  ArrayRef<int64_t> starts = adaptor.getStartIndices();
  ArrayRef<int64_t> limits = adaptor.getLimitIndices();
  ArrayRef<int64_t> strides = adaptor.getStrides();
  size_t rank = operand.getRank();
  if (starts.size() != rank || limits.size() != rank || strides.size() != rank)
    return site.fail("start_indices, limit_indices and strides must have an "
                     "entry for each dimension: have ",
                     starts.size(), ", ", limits.size(), " and ",
                     strides.size(), ", operand is ", operand);
  ShapeBuilder shape;
  for (size_t dim = 0; dim < rank; ++dim) {
    FailureOr<int64_t> size = countTaken(
        site, operand, dim, {starts[dim], limits[dim], strides[dim]});
    if (failed(size))
      return failure();
    shape.add(*size);
  }
  inferred.push_back(shape.get(operand.getElementType()));
  return success();
}

LogicalResult DynamicSliceOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange,
    SmallVectorImpl<Type> &inferred) {
  RuleSite site(location, getOperationName());
  Adaptor adaptor(operands, attributes, properties);
  RankedTensorType operand = tensorOperand(site, operands, 0);
  if (!operand ||
      failed(verifyStartIndices(site, operands.drop_front(), operand)))
    return failure();
  if (!adaptor.getSliceSizesAttr())
    return site.fail("slice_sizes must be given: are not");
  ArrayRef<int64_t> sizes = adaptor.getSliceSizes();
  if (static_cast<int64_t>(sizes.size()) != operand.getRank())
    return site.fail("slice_sizes must have an entry for each dimension: has ",
                     sizes.size(), ", operand is ", operand);
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (failed(countTaken(site, operand, dim, {0, size, 1})))
      return failure();
  inferred.push_back(getTensorType(sizes, operand.getElementType()));
  return success();
}

LogicalResult DynamicUpdateSliceOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, ValueRange operands,
    DictionaryAttr, OpaqueProperties, RegionRange,
    SmallVectorImpl<Type> &inferred) {
  RuleSite site(location, getOperationName());
  RankedTensorType operand = tensorOperand(site, operands, 0);
  RankedTensorType update = tensorOperand(site, operands, 1);
  if (!operand || !update)
    return failure();
  if (update.getElementType() != operand.getElementType())
    return site.fail("update must have the operand's element type: operand is ",
                     operand, ", update is ", update);
  if (update.getRank() != operand.getRank())
    return site.fail("update must have the operand's rank: operand is ",
                     operand, ", update is ", update);
  if (failed(verifyStartIndices(site, operands.drop_front(2), operand)))
    return failure();
  for (int64_t dim = 0; dim < operand.getRank(); ++dim) {
    int64_t size = update.getDimSize(dim);
    int64_t most = operand.isDynamicDim(dim) ? boundOf(operand, dim)
                                             : operand.getDimSize(dim);
    if (!ShapedType::isDynamic(size) && !ShapedType::isDynamic(most) &&
        size > most)
      return site.fail("update must not be larger than the operand: operand "
                       "is ",
                       operand, ", update is ", update);
  }
  inferred.push_back(operand);
  return success();
}

LogicalResult RealDynamicSliceOp::verify() {
  RuleSite site(*this);
  RankedTensorType operand = getOperand().getType(), result = getType();
  if (result.getElementType() != operand.getElementType() ||
      result.getRank() != operand.getRank())
    return site.fail("result must have the operand's element type and rank: "
                     "operand is ",
                     operand, ", result is ", result);
  std::pair<StringRef, Value> lists[] = {{"start_indices", getStartIndices()},
                                         {"limit_indices", getLimitIndices()},
                                         {"strides", getStrides()}};
  std::optional<SmallVector<int64_t>> known[3];
  for (auto [index, list] : llvm::enumerate(lists)) {
    auto [name, value] = list;
    int64_t count = cast<ShapedType>(value.getType()).getDimSize(0);
    if (!agree(count, operand.getRank()))
      return site.fail(name, " must have an entry for each dimension: has ",
                       count, ", operand is ", operand);
    known[index] = readConstant(value);
  }
  auto &[starts, limits, strides] = known;
  if (!starts || !limits || !strides)
    return success();
  for (int64_t dim = 0; dim < operand.getRank(); ++dim) {
    FailureOr<int64_t> size = countTaken(
        site, operand, dim, {(*starts)[dim], (*limits)[dim], (*strides)[dim]});
    if (failed(size))
      return failure();
    if (!agree(result.getDimSize(dim), *size))
      return site.fail("result must have the size that is taken: is ",
                       result.getDimSize(dim), " in dimension ", dim,
                       ", taken "
                       "are ",
                       *size);
  }
  return success();
}

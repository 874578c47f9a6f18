// Inference and verifiers of reduce, sort and the batch norms.

#include "dialect/stablehlo/dimension_rules.h"
#include "dialect/stablehlo/ops.h"
#include "dialect/stablehlo/region_rules.h"

using namespace mlir;
using namespace mlir::stablehlo;

namespace {
/// What the three batch norms share: one element of `vectors` for each feature
/// of each of `tensors`.
struct BatchNormShapes {
  RankedTensorType tensor, vector;
};

FailureOr<BatchNormShapes> inferBatchNorm(const RuleSite &site,
                                          TypeRange tensors, TypeRange vectors,
                                          IntegerAttr featureIndex) {
  RankedTensorType tensor = mergeShapes(tensors);
  if (!tensor)
    return site.fail("operands must have compatible shapes: are ", tensors);
  RankedTensorType vector = mergeShapes(vectors);
  if (!vector || vector.getRank() != 1)
    return site.fail("1-dimensional operands must have compatible shapes: are ",
                     vectors);
  std::optional<int64_t> feature = readInteger(featureIndex);
  if (!feature)
    return site.fail("feature_index must be given: is not");
  if (failed(verifyInRange(site, "feature_index", *feature, tensor.getRank())))
    return failure();
  ShapeBuilder features;
  features.addDim(tensor, *feature);
  RankedTensorType counted = features.get(vector.getElementType());
  auto merged =
      dyn_cast_or_null<RankedTensorType>(mergeTypes(vector, counted));
  if (!merged)
    return site.fail("size of 1-dimensional operands must be the number of "
                     "features: is ",
                     sizeText(vector.getDimSize(0)), ", dim ", *feature,
                     " of ", tensor, " is ",
                     sizeText(tensor.getDimSize(*feature)));
  return BatchNormShapes{tensor, merged};
}

LogicalResult verifyCount(const RuleSite &site, ValueRange operands,
                          size_t count) {
  if (operands.size() == count)
    return success();
  return site.fail("number of operands must be ", count, ": is ",
                   operands.size());
}
} // namespace

LogicalResult BatchNormGradOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange,
    SmallVectorImpl<Type> &inferred) {
  RuleSite site(location, getOperationName());
  Adaptor adaptor(operands, attributes, properties);
  if (failed(verifyCount(site, operands, 5)))
    return failure();
  Type scale = adaptor.getScale().getType();
  auto shapes = inferBatchNorm(
      site,
      {adaptor.getOperand().getType(), adaptor.getGradOutput().getType()},
      {scale, adaptor.getMean().getType(), adaptor.getVariance().getType()},
      adaptor.getFeatureIndexAttr());
  if (failed(shapes))
    return failure();
  inferred.assign({shapes->tensor, shapes->vector, shapes->vector});
  return success();
}

LogicalResult BatchNormInferenceOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange,
    SmallVectorImpl<Type> &inferred) {
  RuleSite site(location, getOperationName());
  Adaptor adaptor(operands, attributes, properties);
  if (failed(verifyCount(site, operands, 5)))
    return failure();
  auto shapes = inferBatchNorm(
      site, adaptor.getOperand().getType(),
      {adaptor.getScale().getType(), adaptor.getOffset().getType(),
       adaptor.getMean().getType(), adaptor.getVariance().getType()},
      adaptor.getFeatureIndexAttr());
  if (failed(shapes))
    return failure();
  inferred.push_back(shapes->tensor);
  return success();
}

LogicalResult BatchNormTrainingOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange,
    SmallVectorImpl<Type> &inferred) {
  RuleSite site(location, getOperationName());
  Adaptor adaptor(operands, attributes, properties);
  if (failed(verifyCount(site, operands, 3)))
    return failure();
  auto shapes = inferBatchNorm(
      site, adaptor.getOperand().getType(),
      {adaptor.getScale().getType(), adaptor.getOffset().getType()},
      adaptor.getFeatureIndexAttr());
  if (failed(shapes))
    return failure();
  inferred.assign({shapes->tensor, shapes->vector, shapes->vector});
  return success();
}

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

LogicalResult ReduceOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
    SmallVectorImpl<Type> &inferred) {
  RuleSite site(location, getOperationName());
  Adaptor adaptor(operands, attributes, properties, regions);
  FailureOr<RankedTensorType> input = verifyReducedOperands(site, operands);
  if (failed(input))
    return failure();
  if (!adaptor.getDimensionsAttr())
    return site.fail("dimensions must be given: are not");
  ArrayRef<int64_t> dimensions = adaptor.getDimensions();
  if (failed(verifyInRange(site, {"dimensions", dimensions},
                           input->getRank())) ||
      failed(verifyUnique(site, {{"dimensions", dimensions}})))
    return failure();
  ShapeBuilder shape;
  for (int64_t dim = 0; dim < input->getRank(); ++dim)
    if (!llvm::is_contained(dimensions, dim))
      shape.addDim(*input, dim);
  TypeRange inputTypes(operands.take_front(operands.size() / 2));
  for (Type element : reducedElementTypes(regions, 0, inputTypes))
    inferred.push_back(shape.get(element));
  return success();
}

LogicalResult ReduceOp::verify() {
  return verifyReducer(RuleSite(*this), "body", getBody(), getInputs());
}

//===----------------------------------------------------------------------===//
// sort
//===----------------------------------------------------------------------===//

LogicalResult SortOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
    SmallVectorImpl<Type> &inferred) {
  RuleSite site(location, getOperationName());
  Adaptor adaptor(operands, attributes, properties, regions);
  if (operands.empty())
    return site.fail("number of inputs must be at least 1: is 0");
  RankedTensorType shape = mergeShapes(operands.getTypes());
  if (!shape)
    return site.fail("inputs must have compatible shapes: are ",
                     operands.getTypes());
  IntegerAttr dimensionAttr = adaptor.getDimensionAttr();
  std::optional<int64_t> dimension =
      dimensionAttr ? readInteger(dimensionAttr) : -1;
  int64_t rank = shape.getRank();
  if (!dimension || *dimension < -rank || *dimension >= rank)
    return site.fail("dimension must be in range [", -rank, ", ", rank,
                     "): ", dimension.value_or(INT64_MAX), " is not");
  llvm::append_range(inferred, operands.getTypes());
  return success();
}

LogicalResult SortOp::verify() {
  return verifyPredicate(RuleSite(*this), "comparator", getComparator(),
                         getInputs());
}

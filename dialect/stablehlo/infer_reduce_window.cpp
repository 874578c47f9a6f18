// Inference and verifiers of reduce_window and select_and_scatter.

#include "dialect/stablehlo/infer_window.h"
#include "dialect/stablehlo/ops.h"
#include "dialect/stablehlo/region_rules.h"

using namespace mlir;
using namespace mlir::stablehlo;

namespace {
/// The list of an attribute that may be missing.
ArrayRef<int64_t> listOrEmpty(DenseI64ArrayAttr attribute) {
  return attribute ? attribute.asArrayRef() : ArrayRef<int64_t>();
}

/// The shape that windows over `input` make.
FailureOr<ShapeBuilder> inferWindows(const RuleSite &site,
                                     RankedTensorType input,
                                     const WindowLists &lists) {
  if (static_cast<int64_t>(lists.sizes.size()) != input.getRank())
    return site.fail("window_dimensions must have an entry for each dimension "
                     "of the input: has ",
                     lists.sizes.size(), ", input is ", input);
  auto window = readWindow(site, lists);
  if (failed(window))
    return failure();
  ShapeBuilder shape;
  for (auto [dim, along] : llvm::enumerate(*window))
    if (failed(addWindows(site, shape, input, static_cast<int64_t>(dim),
                          along)))
      return failure();
  return shape;
}
} // namespace

LogicalResult ReduceWindowOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
    SmallVectorImpl<Type> &inferred) {
  RuleSite site(location, getOperationName());
  Adaptor adaptor(operands, attributes, properties, regions);
  FailureOr<RankedTensorType> input = verifyReducedOperands(site, operands);
  if (failed(input))
    return failure();
  WindowLists lists;
  lists.sizes = listOrEmpty(adaptor.getWindowDimensionsAttr());
  lists.strides = adaptor.getWindowStridesAttr();
  lists.baseDilations = adaptor.getBaseDilationsAttr();
  lists.windowDilations = adaptor.getWindowDilationsAttr();
  lists.padding = adaptor.getPaddingAttr();
  FailureOr<ShapeBuilder> shape = inferWindows(site, *input, lists);
  if (failed(shape))
    return failure();
  TypeRange inputTypes(operands.take_front(operands.size() / 2));
  for (Type element : reducedElementTypes(regions, 0, inputTypes))
    inferred.push_back(shape->get(element));
  return success();
}

LogicalResult ReduceWindowOp::verify() {
  return verifyReducer(RuleSite(*this), "body", getBody(), getInputs());
}

LogicalResult SelectAndScatterOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
    SmallVectorImpl<Type> &inferred) {
  RuleSite site(location, getOperationName());
  Adaptor adaptor(operands, attributes, properties, regions);
  if (operands.size() != 3)
    return site.fail("number of operands must be 3: is ", operands.size());
  auto operand = dyn_cast<RankedTensorType>(operands[0].getType());
  auto source = dyn_cast<RankedTensorType>(operands[1].getType());
  auto init = dyn_cast<RankedTensorType>(operands[2].getType());
  if (!operand || !source || !init)
    return site.fail("operands must be ranked tensors: are ",
                     operands.getTypes());
  if (init.getRank() != 0)
    return site.fail("init_value must be 0-dimensional: is ", init);
  for (RankedTensorType type : {source, init})
    if (!areCompatibleElementTypes(operand.getElementType(),
                                   type.getElementType()))
      return site.fail("element types of operand, source and init_value must "
                       "be equal: are ",
                       operand, ", ", source, " and ", init);
  WindowLists lists;
  lists.sizes = listOrEmpty(adaptor.getWindowDimensionsAttr());
  lists.strides = adaptor.getWindowStridesAttr();
  lists.padding = adaptor.getPaddingAttr();
  FailureOr<ShapeBuilder> windows = inferWindows(site, operand, lists);
  if (failed(windows))
    return failure();
  if (!areCompatibleShapes(windows->get(source.getElementType()), source))
    return site.fail("shape of source must be the number of windows ",
                     shapeText(windows->getSizes()), ": source is ", source);
  Type element = reducedElementTypes(regions, 1, operand).front();
  inferred.push_back(ShapeBuilder(operand).get(element));
  return success();
}

LogicalResult SelectAndScatterOp::verify() {
  RuleSite site(*this);
  if (failed(verifyPredicate(site, "select", getSelect(), getOperand())))
    return failure();
  return verifyReducer(site, "scatter", getScatter(), getOperand());
}

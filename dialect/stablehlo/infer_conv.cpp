// Verifiers of convolution and dynamic_conv.

#include "dialect/stablehlo/infer_window.h"
#include "dialect/stablehlo/ops.h"
#include "dialect/stablehlo/quantized_rules.h"

using namespace mlir;
using namespace mlir::stablehlo;

namespace {
/// What the two ops have in common, and the padding as far as it is known.
struct Convolution {
  RankedTensorType lhs, rhs, result;
  ConvDimensionNumbersAttr numbers;
  int64_t featureGroups, batchGroups;
  WindowLists window;
  DenseBoolArrayAttr reversal;
  std::optional<ArrayAttr> precision;
  bool paddingIsKnown;
};

template <typename Op>
Convolution describe(Op op) {
  Convolution conv;
  conv.lhs = cast<RankedTensorType>(op.getLhs().getType());
  conv.rhs = cast<RankedTensorType>(op.getRhs().getType());
  conv.result = cast<RankedTensorType>(op.getType());
  conv.numbers = op.getDimensionNumbers();
  conv.featureGroups = static_cast<int64_t>(op.getFeatureGroupCount());
  conv.batchGroups = static_cast<int64_t>(op.getBatchGroupCount());
  conv.window.strides = op.getWindowStridesAttr();
  conv.window.baseDilations = op.getLhsDilationAttr();
  conv.window.windowDilations = op.getRhsDilationAttr();
  conv.window.baseDilationsName = "lhs_dilation";
  conv.window.windowDilationsName = "rhs_dilation";
  conv.window.sizesName = "kernel spatial sizes";
  conv.window.sizesMayBeUnknown = true;
  conv.reversal = op.getWindowReversalAttr();
  conv.precision = op.getPrecisionConfig();
  conv.paddingIsKnown = true;
  return conv;
}

/// The dimension numbers of one tensor are a permutation of its dimensions.
LogicalResult verifyNumbers(const RuleSite &site, StringRef name, int64_t first,
                            int64_t second, ArrayRef<int64_t> spatial,
                            int64_t rank) {
  if (static_cast<int64_t>(spatial.size()) != rank - 2)
    return site.fail(name, "_spatial_dimensions must have ", rank - 2,
                     " entries: has ", spatial.size());
  SmallVector<int64_t> all = {first, second};
  llvm::append_range(all, spatial);
  std::string text = (name + " dimension numbers").str();
  if (failed(verifyInRange(site, {text, all}, rank)))
    return failure();
  return verifyUnique(site, {{text, all}});
}

LogicalResult verifyDivisible(const RuleSite &site, StringRef what,
                              int64_t size, StringRef countName,
                              int64_t count) {
  if (ShapedType::isDynamic(size) || size % count == 0)
    return success();
  return site.fail(what, " size must be a multiple of ", countName, ": ", size,
                   " and ", count);
}

LogicalResult verifyGroups(const RuleSite &site, const Convolution &conv) {
  if (conv.featureGroups <= 0 || conv.batchGroups <= 0)
    return site.fail("feature_group_count and batch_group_count must be "
                     "positive: are ",
                     conv.featureGroups, " and ", conv.batchGroups);
  if (conv.featureGroups > 1 && conv.batchGroups > 1)
    return site.fail("feature_group_count or batch_group_count must be 1: are ",
                     conv.featureGroups, " and ", conv.batchGroups);
  ConvDimensionNumbersAttr numbers = conv.numbers;
  int64_t batch = conv.lhs.getDimSize(numbers.getInputBatchDimension());
  int64_t features = conv.lhs.getDimSize(numbers.getInputFeatureDimension());
  int64_t kernelInput =
      conv.rhs.getDimSize(numbers.getKernelInputFeatureDimension());
  int64_t kernelOutput =
      conv.rhs.getDimSize(numbers.getKernelOutputFeatureDimension());
  if (failed(verifyDivisible(site, "input batch dimension", batch,
                             "batch_group_count", conv.batchGroups)) ||
      failed(verifyDivisible(site, "input feature dimension", features,
                             "feature_group_count", conv.featureGroups)) ||
      failed(verifyDivisible(site, "kernel output feature dimension",
                             kernelOutput, "batch_group_count",
                             conv.batchGroups)) ||
      failed(verifyDivisible(site, "kernel output feature dimension",
                             kernelOutput, "feature_group_count",
                             conv.featureGroups)))
    return failure();
  if (!ShapedType::isDynamic(features) &&
      !agree(kernelInput, features / conv.featureGroups))
    return site.fail("kernel input feature dimension size must be that of the "
                     "input divided by feature_group_count: ",
                     kernelInput, " and ", features, " / ", conv.featureGroups);
  return success();
}

LogicalResult verifyElementTypes(const RuleSite &site,
                                 const Convolution &conv) {
  Type lhs = conv.lhs.getElementType(), rhs = conv.rhs.getElementType();
  Type result = conv.result.getElementType();
  if (!isQuantizedElement(lhs) && !isQuantizedElement(rhs) && lhs != rhs)
    return site.fail("element types of lhs and rhs must be equal: lhs is ", lhs,
                     ", rhs is ", rhs);
  if (failed(verifyQuantizedProduct(site, lhs, rhs, result)))
    return failure();
  int64_t kernelOutput = conv.numbers.getKernelOutputFeatureDimension();
  int64_t outputFeature = conv.numbers.getOutputFeatureDimension();
  if (quantizedDimension(rhs).value_or(kernelOutput) != kernelOutput)
    return site.fail("quantization dimension of rhs must be "
                     "kernel_output_feature_dimension: ",
                     *quantizedDimension(rhs), " and ", kernelOutput);
  if (quantizedDimension(result).value_or(outputFeature) != outputFeature)
    return site.fail("quantization dimension of result must be "
                     "output_feature_dimension: ",
                     *quantizedDimension(result), " and ", outputFeature);
  return success();
}

LogicalResult verifyResult(const RuleSite &site, const Convolution &conv,
                           ArrayRef<WindowDimension> window) {
  ConvDimensionNumbersAttr numbers = conv.numbers;
  RankedTensorType lhs = conv.lhs, rhs = conv.rhs;
  ShapeBuilder spatial;
  for (auto [index, along] : llvm::enumerate(window)) {
    if (!conv.paddingIsKnown)
      spatial.add(ShapedType::kDynamic);
    else if (failed(addWindows(site, spatial, lhs,
                               numbers.getInputSpatialDimensions()[index],
                               along)))
      return failure();
  }
  int64_t batch = lhs.getDimSize(numbers.getInputBatchDimension());
  int64_t batchBound = boundOf(lhs, numbers.getInputBatchDimension());
  auto divided = [&](int64_t size) {
    return ShapedType::isDynamic(size) ? size : size / conv.batchGroups;
  };
  int64_t kernelOutput = numbers.getKernelOutputFeatureDimension();
  RankedTensorType windows = spatial.get(conv.result.getElementType());
  ShapeBuilder shape;
  for (int64_t i = 0; i < lhs.getRank(); ++i)
    shape.add(0);
  shape.set(numbers.getOutputBatchDimension(), divided(batch),
            divided(batchBound));
  shape.set(numbers.getOutputFeatureDimension(), rhs.getDimSize(kernelOutput),
            boundOf(rhs, kernelOutput));
  for (auto [index, dim] :
       llvm::enumerate(numbers.getOutputSpatialDimensions())) {
    auto from = static_cast<int64_t>(index);
    shape.set(dim, windows.getDimSize(from), boundOf(windows, from));
  }
  if (!areCompatibleShapes(shape.get(conv.result.getElementType()),
                           conv.result))
    return site.fail("result shape must be ", shapeText(shape.getSizes()),
                     ": result is ", conv.result);
  return success();
}

LogicalResult verifyConvolution(const RuleSite &site, Convolution conv) {
  ConvDimensionNumbersAttr numbers = conv.numbers;
  int64_t rank = conv.lhs.getRank();
  if (conv.rhs.getRank() != rank || rank < 2)
    return site.fail("lhs and rhs must have one rank of at least 2: lhs is ",
                     conv.lhs, ", rhs is ", conv.rhs);
  if (failed(verifyNumbers(site, "input", numbers.getInputBatchDimension(),
                           numbers.getInputFeatureDimension(),
                           numbers.getInputSpatialDimensions(), rank)) ||
      failed(verifyNumbers(site, "kernel",
                           numbers.getKernelInputFeatureDimension(),
                           numbers.getKernelOutputFeatureDimension(),
                           numbers.getKernelSpatialDimensions(), rank)) ||
      failed(verifyNumbers(site, "output", numbers.getOutputBatchDimension(),
                           numbers.getOutputFeatureDimension(),
                           numbers.getOutputSpatialDimensions(), rank)) ||
      failed(verifyGroups(site, conv)))
    return failure();

  SmallVector<int64_t> sizes;
  for (int64_t dim : numbers.getKernelSpatialDimensions())
    sizes.push_back(conv.rhs.getDimSize(dim));
  conv.window.sizes = sizes;
  auto window = readWindow(site, conv.window);
  if (failed(window))
    return failure();
  if (conv.reversal && !conv.reversal.empty() &&
      conv.reversal.size() != rank - 2)
    return site.fail("window_reversal must have an entry for each window "
                     "dimension: ",
                     rank - 2, " dimensions, ", conv.reversal.size(),
                     " entries");
  if (conv.precision && conv.precision->size() > 2)
    return site.fail("precision_config must have at most 2 entries: has ",
                     conv.precision->size());
  if (failed(verifyElementTypes(site, conv)))
    return failure();
  if (conv.result.getRank() != rank)
    return site.fail("rank of result must be ", rank, ": result is ",
                     conv.result);
  return verifyResult(site, conv, *window);
}
} // namespace

LogicalResult ConvolutionOp::verify() {
  Convolution conv = describe(*this);
  conv.window.padding = getPaddingAttr();
  return verifyConvolution(RuleSite(*this), conv);
}

LogicalResult DynamicConvOp::verify() {
  RuleSite site(*this);
  Convolution conv = describe(*this);
  auto type = cast<RankedTensorType>(getPadding().getType());
  int64_t spatialRank = conv.lhs.getRank() - 2;
  if (spatialRank >= 0 &&
      (type.getDimSize(0) != spatialRank || type.getDimSize(1) != 2))
    return site.fail("padding must have shape ", shapeText({spatialRank, 2}),
                     ": is ", type);
  std::optional<SmallVector<int64_t>> padding = readConstant(getPadding());
  conv.paddingIsKnown = padding.has_value();
  if (padding)
    conv.window.padding = DenseIntElementsAttr::get(
        RankedTensorType::get(type.getShape(),
                              IntegerType::get(getContext(), 64)),
        *padding);
  return verifyConvolution(site, conv);
}

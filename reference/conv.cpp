// Convolution with padding, dilations, strides and groups.
#include "reference/op_table.h"
#include "reference/products.h"
#include "reference/window.h"

#include "dialect/stablehlo/ops.h"

using namespace mlir;

namespace alula::reference {
namespace {

struct ConvShape {
  stablehlo::ConvDimensionNumbersAttr numbers;
  llvm::SmallVector<WindowDim> window;
  llvm::SmallVector<bool> reversed;
  int64_t featureGroups = 1, batchGroups = 1;
};

LogicalResult checkNumbers(OpCall &call, const ConvShape &shape) {
  auto numbers = shape.numbers;
  auto isPermutation = [&](int64_t a, int64_t b, llvm::ArrayRef<int64_t> rest,
                           int64_t rank) {
    llvm::SmallVector<bool> used(size_t(rank), false);
    llvm::SmallVector<int64_t> all(rest);
    all.append({a, b});
    for (int64_t d : all) {
      if (d < 0 || d >= rank || used[size_t(d)])
        return false;
      used[size_t(d)] = true;
    }
    return int64_t(all.size()) == rank;
  };
  int64_t rank = call.tensor(0).getRank();
  if (call.tensor(1).getRank() != rank ||
      !isPermutation(numbers.getInputBatchDimension(),
                     numbers.getInputFeatureDimension(),
                     numbers.getInputSpatialDimensions(), rank) ||
      !isPermutation(numbers.getKernelInputFeatureDimension(),
                     numbers.getKernelOutputFeatureDimension(),
                     numbers.getKernelSpatialDimensions(), rank) ||
      !isPermutation(numbers.getOutputBatchDimension(),
                     numbers.getOutputFeatureDimension(),
                     numbers.getOutputSpatialDimensions(), rank))
    return call.error() << "dimension_numbers must name each of " << rank
                        << " dimensions once";
  return success();
}

/// One run of batch and feature loops at fixed spatial positions.
struct ConvLoop {
  int64_t batches, outputFeatures, inputFeatures;
  int64_t featuresPerGroup, featuresPerBatchGroup;
  int64_t lhsBatch, lhsFeature, rhsInput, rhsOutput, outBatch, outFeature;
};

template <typename Products>
void accumulate(const ConvLoop &loop,
                const typename Products::Element *lhs,
                const typename Products::Element *rhs,
                typename Products::Sum *sums) {
  for (int64_t batch = 0; batch < loop.batches; ++batch)
    for (int64_t out = 0; out < loop.outputFeatures; ++out) {
      int64_t group = out / loop.featuresPerGroup;
      int64_t batchGroup = out / loop.featuresPerBatchGroup;
      const auto *a =
          lhs + (batchGroup * loop.batches + batch) * loop.lhsBatch +
          group * loop.inputFeatures * loop.lhsFeature;
      const auto *b = rhs + out * loop.rhsOutput;
      auto &sum = sums[batch * loop.outBatch + out * loop.outFeature];
      for (int64_t in = 0; in < loop.inputFeatures; ++in)
        Products::add(sum, a[in * loop.lhsFeature], b[in * loop.rhsInput]);
    }
}

LogicalResult convolve(OpCall &call, const ConvShape &shape) {
  const Tensor &lhs = call.tensor(0), &rhs = call.tensor(1);
  if (failed(checkNumbers(call, shape)))
    return failure();
  auto numbers = shape.numbers;
  auto lhsDim = [&](int64_t d) { return lhs.getDim(size_t(d)); };
  auto rhsDim = [&](int64_t d) { return rhs.getDim(size_t(d)); };
  int64_t batches = lhsDim(numbers.getInputBatchDimension());
  int64_t features = lhsDim(numbers.getInputFeatureDimension());
  int64_t inputFeatures = rhsDim(numbers.getKernelInputFeatureDimension());
  int64_t outputFeatures = rhsDim(numbers.getKernelOutputFeatureDimension());
  if (shape.featureGroups < 1 || shape.batchGroups < 1 ||
      features != inputFeatures * shape.featureGroups ||
      outputFeatures % shape.featureGroups != 0 ||
      outputFeatures % shape.batchGroups != 0 ||
      batches % shape.batchGroups != 0)
    return call.error() << "groups do not fit: feature_group_count "
                        << shape.featureGroups << ", batch_group_count "
                        << shape.batchGroups << ", input features "
                        << features << ", kernel input features "
                        << inputFeatures << ", output features "
                        << outputFeatures << ", batch " << batches;
  size_t spatial = numbers.getInputSpatialDimensions().size();
  Dims places, sizes, out(lhs.getDims().size());
  llvm::SmallVector<WindowDim> window = shape.window;
  for (size_t d = 0; d < spatial; ++d) {
    window[d].size = rhsDim(numbers.getKernelSpatialDimensions()[d]);
    sizes.push_back(window[d].size);
    // An empty kernel dimension leaves an empty sum at every place.
    WindowDim counted = window[d];
    counted.size = std::max<int64_t>(counted.size, 1);
    std::optional<int64_t> count =
        counted.getCount(lhsDim(numbers.getInputSpatialDimensions()[d]));
    if (!count)
      return call.error() << "the window makes no sense in spatial dimension "
                          << d;
    places.push_back(*count);
    out[size_t(numbers.getOutputSpatialDimensions()[d])] = *count;
  }
  out[size_t(numbers.getOutputBatchDimension())] =
      batches / shape.batchGroups;
  out[size_t(numbers.getOutputFeatureDimension())] = outputFeatures;
  FailureOr<Tensor> result = call.newTensor(call.getElementType(0), out);
  if (failed(result))
    return failure();
  if (failed(call.charge(result->getSize(),
                         getNumElements(sizes).value_or(INT64_MAX),
                         inputFeatures + 1)))
    return failure();
  Dims lhsStrides = getStrides(lhs.getDims()),
       rhsStrides = getStrides(rhs.getDims()), outStrides = getStrides(out);
  ConvLoop loop{
      batches / shape.batchGroups,
      outputFeatures,
      inputFeatures,
      std::max<int64_t>(outputFeatures / shape.featureGroups, 1),
      std::max<int64_t>(outputFeatures / shape.batchGroups, 1),
      lhsStrides[size_t(numbers.getInputBatchDimension())],
      lhsStrides[size_t(numbers.getInputFeatureDimension())],
      rhsStrides[size_t(numbers.getKernelInputFeatureDimension())],
      rhsStrides[size_t(numbers.getKernelOutputFeatureDimension())],
      outStrides[size_t(numbers.getOutputBatchDimension())],
      outStrides[size_t(numbers.getOutputFeatureDimension())]};
  std::vector<Cell> lhsCells = readAs(lhs, result->getKind()),
                    rhsCells = readAs(rhs, result->getKind());
  withProducts(result->getKind(), call.getWide(), [&](auto products) {
    using Products = decltype(products);
    auto a = getElements<Products>(lhsCells);
    auto b = getElements<Products>(rhsCells);
    std::vector<typename Products::Sum> sums(size_t(result->getSize()));
    if (sums.empty())
      return;
    for (BoxWalk place(places); !place.isDone(); place.next())
      for (BoxWalk at(sizes); !at.isDone(); at.next()) {
        int64_t lhsAt = 0, rhsAt = 0, outAt = 0;
        bool inside = true;
        for (size_t d = 0; d < spatial && inside; ++d) {
          size_t input = size_t(numbers.getInputSpatialDimensions()[d]);
          // A reversed window meets the kernel from its far end.
          int64_t base = window[d].getBase(
              place[d],
              shape.reversed[d] ? sizes[d] - 1 - at[d] : at[d],
              lhs.getDim(input));
          inside = base >= 0;
          lhsAt += base * lhsStrides[input];
          rhsAt += at[d] * rhsStrides[size_t(
                               numbers.getKernelSpatialDimensions()[d])];
          outAt += place[d] * outStrides[size_t(
                                  numbers.getOutputSpatialDimensions()[d])];
        }
        if (inside)
          accumulate<Products>(loop, a.data() + lhsAt, b.data() + rhsAt,
                               sums.data() + outAt);
      }
    std::vector<Cell> cells(sums.size());
    for (size_t k = 0; k < sums.size(); ++k)
      Products::finish(sums[k], cells[k]);
    store(result->getKind(), cells.data(), result->getMutableData(),
          cells.size());
  });
  return call.give(*result);
}

FailureOr<ConvShape>
getShape(OpCall &call, stablehlo::ConvDimensionNumbersAttr numbers,
         llvm::ArrayRef<std::pair<int64_t, int64_t>> padding) {
  ConvShape shape;
  shape.numbers = numbers;
  size_t spatial = numbers.getInputSpatialDimensions().size();
  auto strides = call.getInts("window_strides", spatial, 1);
  auto base = call.getInts("lhs_dilation", spatial, 1);
  auto dilation = call.getInts("rhs_dilation", spatial, 1);
  auto reversed = call.getInts("window_reversal", spatial, 0);
  if (strides.size() != spatial || base.size() != spatial ||
      dilation.size() != spatial || reversed.size() != spatial ||
      padding.size() != spatial)
    return call.error() << "the window must have " << spatial
                        << " dimensions";
  for (size_t d = 0; d < spatial; ++d) {
    shape.window.push_back({1, strides[d], padding[d].first,
                            padding[d].second, base[d], dilation[d]});
    shape.reversed.push_back(reversed[d] != 0);
  }
  shape.featureGroups = call.getInt("feature_group_count", 1);
  shape.batchGroups = call.getInt("batch_group_count", 1);
  return shape;
}

LogicalResult evalConvolution(OpCall &call) {
  auto op = cast<stablehlo::ConvolutionOp>(call.op);
  size_t spatial =
      op.getDimensionNumbers().getInputSpatialDimensions().size();
  FailureOr<ConvShape> shape = getShape(call, op.getDimensionNumbers(),
                                        call.getPairs("padding", spatial));
  return failed(shape) ? failure() : convolve(call, *shape);
}

LogicalResult evalDynamicConv(OpCall &call) {
  auto op = cast<stablehlo::DynamicConvOp>(call.op);
  std::vector<int64_t> flat = call.tensor(2).getIntegers();
  llvm::SmallVector<std::pair<int64_t, int64_t>> padding;
  for (size_t k = 0; k + 1 < flat.size(); k += 2)
    padding.emplace_back(flat[k], flat[k + 1]);
  FailureOr<ConvShape> shape =
      getShape(call, op.getDimensionNumbers(), padding);
  return failed(shape) ? failure() : convolve(call, *shape);
}

} // namespace

void addConvOps(OpTable &table) {
  table.add("stablehlo.convolution", evalConvolution, Quantized::Dequantized);
  table.add("stablehlo.dynamic_conv", evalDynamicConv,
            Quantized::Dequantized);
}

} // namespace alula::reference

#include "compiler/target/cpu/kernel/convolution.h"

#include "compiler/kernel/element/scalar.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;
using Predicate = arith::CmpIPredicate;

Convolution::Convolution(stablehlo::ConvolutionOp convolution,
                         Lowering &lowering, Type givenSumType)
    : lowering(lowering), b(lowering.b), op(convolution) {
  auto padding = convolution.getPadding();
  read(convolution, [&](size_t i) {
    return lowering.index(padding ? padding->getValues<int64_t>()[{i, 0}] : 0);
  });
  if (givenSumType)
    sumType = givenSumType;
}

Convolution::Convolution(stablehlo::DynamicConvOp convolution,
                         Lowering &lowering)
    : lowering(lowering), b(lowering.b), op(convolution) {
  read(convolution, [&](size_t i) {
    return lowering.getIndexElement(
        convolution.getPadding(),
        {lowering.index(static_cast<int64_t>(i)), lowering.index(0)});
  });
}

template <typename Op>
void Convolution::read(Op convolution, function_ref<Value(size_t)> getPadding) {
  lhs = convolution.getLhs();
  rhs = convolution.getRhs();
  numbers = convolution.getDimensionNumbers();
  featureGroups = static_cast<int64_t>(convolution.getFeatureGroupCount());
  batchGroups = static_cast<int64_t>(convolution.getBatchGroupCount());
  element = getElementType(convolution.getResult());
  sumType = getSumType(element);
  // Lists may be empty, which says the same as none.
  auto at = [](auto values, size_t i) {
    return values && i < values->size() ? (*values)[i] : 1;
  };
  Value result = convolution.getResult();
  for (size_t i = 0; i < numbers.getInputSpatialDimensions().size(); ++i) {
    ConvWindow window;
    window.stride = at(convolution.getWindowStrides(), i);
    window.lhsDilation = at(convolution.getLhsDilation(), i);
    window.rhsDilation = at(convolution.getRhsDilation(), i);
    window.isReversed = convolution.getWindowReversal() &&
                        i < convolution.getWindowReversal()->size() &&
                        (*convolution.getWindowReversal())[i];
    window.paddingLow = getPadding(i);
    window.inputSize =
        lowering.getDim(lhs, numbers.getInputSpatialDimensions()[i]);
    window.kernelSize =
        lowering.getDim(rhs, numbers.getKernelSpatialDimensions()[i]);
    window.outputSize =
        lowering.getDim(result, numbers.getOutputSpatialDimensions()[i]);
    windows.push_back(window);
  }
  numBatches = lowering.getDim(result, numbers.getOutputBatchDimension());
  int64_t groups = std::max(featureGroups, batchGroups);
  numGroups = lowering.index(groups);
  featuresOfGroup = lowering.div(
      lowering.getDim(result, numbers.getOutputFeatureDimension()), numGroups);
  inputFeaturesOfGroup =
      lowering.getDim(rhs, numbers.getKernelInputFeatureDimension());
}

SmallVector<Value> Convolution::getOutputIndices(const ConvPosition &at) const {
  SmallVector<Value> indices(windows.size() + 2);
  indices[static_cast<size_t>(numbers.getOutputBatchDimension())] = at.batch;
  indices[static_cast<size_t>(numbers.getOutputFeatureDimension())] =
      lowering.add(lowering.mul(at.group, featuresOfGroup), at.feature);
  for (auto [dim, index] :
       llvm::zip_equal(numbers.getOutputSpatialDimensions(), at.place))
    indices[static_cast<size_t>(dim)] = index;
  return indices;
}

Value Convolution::getInputPlace(const ConvWindow &window, Value place,
                                 Value offset, Value &isInside) const {
  Value position = lowering.sub(
      lowering.add(lowering.mul(place, lowering.index(window.stride)),
                   lowering.mul(offset, lowering.index(window.rhsDilation))),
      window.paddingLow);
  // What is before the start is a huge unsigned number.
  Value dilation = lowering.index(window.lhsDilation);
  if (window.lhsDilation != 1)
    isInside = lowering.both(isInside,
                             lowering.compare(Predicate::eq,
                                              lowering.rem(position, dilation),
                                              lowering.index(0)));
  position = lowering.div(position, dilation);
  isInside = lowering.both(
      isInside, lowering.compare(Predicate::ult, position, window.inputSize));
  return position;
}

SmallVector<int64_t> alula::cpu::getNumbers(ValueRange constants) {
  return llvm::map_to_vector(
      constants, [](Value constant) { return *getConstantIntValue(constant); });
}

void alula::cpu::forEachPlace(
    ArrayRef<int64_t> sizes, llvm::function_ref<void(ArrayRef<int64_t>)> body) {
  SmallVector<int64_t> strides = computeStrides(sizes);
  for (int64_t i = 0, count = computeProduct(sizes); i < count; ++i)
    body(delinearize(i, strides));
}

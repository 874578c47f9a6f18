// Depthwise convolutions as calls of the library, one for each row of outputs.

#include "compiler/target/cpu/kernel/depthwise_call.h"

#include "compiler/kernel/element/element_form.h"
#include "compiler/kernel/plan/forms.h"
#include "compiler/target/cpu/kernel/narrow_matrix.h"
#include "compiler/target/cpu/kernel/product_call.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;

bool alula::cpu::isDepthwiseOfLibrary(const Convolution &convolution) {
  Lowering &lowering = convolution.lowering;
  auto numbers = convolution.numbers;
  auto isLast = [](int64_t dim, Value tensor) {
    return dim + 1 == cast<RankedTensorType>(tensor.getType()).getRank();
  };
  auto isPlain = [&](Value tensor) {
    return getElementType(tensor) == convolution.sumType &&
           lowering.hasBuffer(tensor);
  };
  size_t spatial = convolution.windows.size();
  return lowering.machine.lanes >= 4 && convolution.featureGroups > 1 &&
         (spatial == 1 || spatial == 2) &&
         (convolution.sumType.isF32() || convolution.sumType.isF64()) &&
         convolution.element == convolution.sumType &&
         isPlain(convolution.lhs) && isPlain(convolution.rhs) &&
         getConstantIntValue(convolution.featuresOfGroup) == 1 &&
         getConstantIntValue(convolution.inputFeaturesOfGroup) == 1 &&
         isLast(numbers.getInputFeatureDimension(), convolution.lhs) &&
         isLast(numbers.getOutputFeatureDimension(),
                convolution.op->getResult(0)) &&
         liesByOutputs(numbers,
                       cast<RankedTensorType>(convolution.rhs.getType())) &&
         llvm::all_of(convolution.windows, [](const ConvWindow &window) {
           return window.lhsDilation == 1 &&
                  getConstantIntValue(window.kernelSize);
         });
}

namespace {
/// Elements of a tensor, by dimensions.
struct Layout {
  Layout(Lowering &lowering, Value tensor)
      : lowering(lowering),
        strides(lowering.getStrides(lowering.getShape(tensor))) {}
  Value getStride(int64_t dim) const {
    return strides[static_cast<size_t>(dim)];
  }
  Value getPlace(int64_t dim, Value index) const {
    return lowering.mul(index, getStride(dim));
  }

  Lowering &lowering;
  SmallVector<Value> strides;
};
} // namespace

void alula::cpu::emitDepthwise(const Convolution &convolution) {
  Lowering &lowering = convolution.lowering;
  auto numbers = convolution.numbers;
  Value result = convolution.op->getResult(0);
  Value buffer = lowering.createResult(result);
  Layout output(lowering, result), input(lowering, convolution.lhs),
      kernel(lowering, convolution.rhs);
  Value zero = lowering.index(0), one = lowering.index(1);
  // A reversed dimension begins with its last weights.
  Value firstWeight = zero;
  SmallVector<Value> kernelSteps;
  int64_t taps = 1;
  for (auto [window, dim] : llvm::zip_equal(
           convolution.windows, numbers.getKernelSpatialDimensions())) {
    int64_t size = *getConstantIntValue(window.kernelSize);
    taps *= size;
    Value step = kernel.getStride(dim);
    if (window.isReversed) {
      firstWeight = lowering.add(
          firstWeight, kernel.getPlace(dim, lowering.index(size - 1)));
      step = lowering.sub(zero, step);
    }
    kernelSteps.push_back(step);
  }
  // An image of one dimension is one row.
  const ConvWindow &column = convolution.windows.back();
  ConvWindow row;
  row.paddingLow = zero;
  row.inputSize = row.kernelSize = row.outputSize = one;
  Value outputRow = zero, inputRow = zero, kernelRow = zero;
  if (convolution.windows.size() > 1) {
    row = convolution.windows.front();
    outputRow = output.getStride(numbers.getOutputSpatialDimensions().front());
    inputRow = input.getStride(numbers.getInputSpatialDimensions().front());
    kernelRow = kernelSteps.front();
  }
  int64_t places = getConstantIntValue(column.outputSize).value_or(1);
  int64_t steps = places * taps * convolution.featureGroups /
                  getProductsPerStep(lowering.machine);
  SmallVector<Value> grid{convolution.numBatches, row.outputSize};
  lowering.forEachBlock(lowering.product(grid), steps, [&](Value number) {
    SmallVector<Value> at = lowering.delinearize(number, grid);
    Value to =
        lowering.add(output.getPlace(numbers.getOutputBatchDimension(), at[0]),
                     lowering.mul(at[1], outputRow));
    Value from = input.getPlace(numbers.getInputBatchDimension(), at[0]);
    RoutineArguments arguments(lowering,
                               getElementPointer(lowering, buffer, to));
    arguments.addSize(
        output.getStride(numbers.getOutputSpatialDimensions().back()));
    arguments.addSize(column.outputSize);
    arguments.addSize(convolution.featureGroups);
    arguments.add(
        getElementPointer(lowering, lowering.getBuffer(convolution.lhs), from));
    arguments.addSize(inputRow);
    arguments.addSize(
        input.getStride(numbers.getInputSpatialDimensions().back()));
    arguments.addSize(row.inputSize);
    arguments.addSize(column.inputSize);
    arguments.addSize(lowering.sub(
        lowering.mul(at[1], lowering.index(row.stride)), row.paddingLow));
    arguments.addSize(lowering.sub(zero, column.paddingLow));
    arguments.addSize(column.stride);
    arguments.addSize(row.rhsDilation);
    arguments.addSize(column.rhsDilation);
    arguments.add(getElementPointer(
        lowering, lowering.getBuffer(convolution.rhs), firstWeight));
    arguments.addSize(kernelRow);
    arguments.addSize(kernelSteps.back());
    arguments.addSize(row.kernelSize);
    arguments.addSize(column.kernelSize);
    lowering.callLibrary(
        "alula_depthwise_" + getLibraryName(convolution.sumType), arguments);
  });
}

// Which way to compute an op its types allow.

#include "compiler/kernel/plan/forms.h"

#include "compiler/kernel/element/associative.h"
#include "compiler/kernel/element/element_form.h"
#include "compiler/kernel/element/sum_types.h"
#include "dialect/dispatch/machine.h"
#include "dialect/dispatch/short_sum.h"

using namespace mlir;
using namespace alula::kernel;

namespace {
/// A part of a row that is worth a state of its own.
constexpr int64_t minPart = 16;
/// Reduced side by side.
constexpr int64_t mostRowsTogether = 64;
} // namespace

bool alula::kernel::liesByOutputs(stablehlo::ConvDimensionNumbersAttr numbers,
                                  RankedTensorType kernel) {
  return llvm::all_of(kernel.getShape().drop_front(static_cast<size_t>(
                          numbers.getKernelOutputFeatureDimension() + 1)),
                      [](int64_t size) { return size == 1; });
}

static bool convolvesInBlocks(stablehlo::ConvolutionOp convolution) {
  // Narrow outputs and huge windows are better off as loops.
  constexpr int64_t minFeatures = 8, maxPieces = 1024;
  int64_t minSteps = alula::dispatch::getMachine(convolution).callSteps;
  auto kernel = cast<RankedTensorType>(convolution.getRhs().getType());
  auto numbers = convolution.getDimensionNumbers();
  if (!kernel.hasStaticShape() || !kernel.getNumElements() ||
      !getProductTypes(convolution) || convolution.getBatchGroupCount() != 1 ||
      numbers.getKernelSpatialDimensions().empty())
    return false;
  int64_t groups = static_cast<int64_t>(convolution.getFeatureGroupCount());
  int64_t features = kernel.getDimSize(static_cast<unsigned>(
                         numbers.getKernelOutputFeatureDimension())) /
                     groups;
  int64_t pieces = 1;
  for (int64_t dim : numbers.getKernelSpatialDimensions())
    pieces *= kernel.getDimSize(static_cast<unsigned>(dim));
  int64_t steps = kernel.getNumElements();
  auto result = cast<RankedTensorType>(convolution.getType());
  for (int64_t dim : numbers.getOutputSpatialDimensions()) {
    int64_t size = result.getDimSize(static_cast<unsigned>(dim));
    if (size == 0)
      return false;
    steps = std::min(steps, minSteps) *
            (ShapedType::isDynamic(size) ? minSteps : std::min(size, minSteps));
  }
  // Loops would ask for each element whether it is one, but for rows of groups.
  auto dilation = convolution.getLhsDilation();
  bool isDilated =
      dilation && llvm::any_of(*dilation, [](int64_t d) { return d != 1; });
  bool hasRows = groups > 1 && features == 1 &&
                 numbers.getOutputFeatureDimension() == result.getRank() - 1 &&
                 liesByOutputs(numbers, kernel);
  return (features >= minFeatures || (isDilated && !hasRows)) &&
         pieces <= maxPieces && steps >= minSteps;
}

/// Threads go over single elements, not over blocks.
static bool hasThreads(Operation *op) {
  return alula::dispatch::getMachine(op).blockThreads > 1;
}

bool alula::kernel::worksInBlocks(Operation *op) {
  if (hasThreads(op))
    return false;
  if (auto convolution = dyn_cast<stablehlo::ConvolutionOp>(op))
    return convolvesInBlocks(convolution);
  if (auto reduce = dyn_cast<stablehlo::ReduceOp>(op))
    return reduce.getNumResults() == 1 && reducesColumns(reduce);
  auto dot = dyn_cast<stablehlo::DotGeneralOp>(op);
  if (!dot || dispatch::isShortSum(op) || !getProductTypes(op))
    return false;
  auto lhs = cast<RankedTensorType>(dot.getLhs().getType());
  // Below this many steps loops of scalars are as fast.
  int64_t minSteps = dispatch::getMachine(op).callSteps;
  auto result = cast<RankedTensorType>(dot.getType());
  int64_t steps = result.hasStaticShape() ? result.getNumElements() : minSteps;
  for (int64_t dim :
       dot.getDotDimensionNumbers().getLhsContractingDimensions()) {
    int64_t size = lhs.getDimSize(static_cast<unsigned>(dim));
    size = ShapedType::isDynamic(size) ? minSteps : std::min(size, minSteps);
    steps = std::min(steps, minSteps) * size;
  }
  return steps >= minSteps;
}

bool alula::kernel::isWindowProduct(stablehlo::ConvolutionOp convolution) {
  auto numbers = convolution.getDimensionNumbers();
  auto input = cast<RankedTensorType>(convolution.getLhs().getType());
  auto kernel = cast<RankedTensorType>(convolution.getRhs().getType());
  auto result = cast<RankedTensorType>(convolution.getType());
  ProductTypes types = getProductTypes(convolution);
  auto spatial =
      static_cast<int64_t>(numbers.getInputSpatialDimensions().size());
  if (!types || types.left != types.sum || types.right != types.sum ||
      input.getElementType() != types.sum ||
      kernel.getElementType() != types.sum ||
      result.getElementType() != types.sum || spatial == 0 ||
      convolution.getFeatureGroupCount() != 1 ||
      convolution.getBatchGroupCount() != 1 || !input.hasStaticShape() ||
      !kernel.hasStaticShape() || !result.hasStaticShape() ||
      numbers.getInputFeatureDimension() != 0 ||
      numbers.getInputBatchDimension() != spatial + 1 ||
      numbers.getKernelInputFeatureDimension() != 0 ||
      numbers.getKernelOutputFeatureDimension() != spatial + 1 ||
      numbers.getOutputBatchDimension() != spatial ||
      numbers.getOutputFeatureDimension() != spatial + 1)
    return false;
  int64_t window = 1, outputs = 1;
  for (int64_t i = 0; i < spatial; ++i) {
    auto at = static_cast<size_t>(i);
    if (numbers.getInputSpatialDimensions()[at] != i + 1 ||
        numbers.getKernelSpatialDimensions()[at] != i + 1 ||
        numbers.getOutputSpatialDimensions()[at] != i)
      return false;
    // Lists may be empty, which says the same as none.
    auto isOne = [&](auto values) {
      return !values || values->empty() || (*values)[at] == 1;
    };
    if (!isOne(convolution.getLhsDilation()) ||
        (i + 1 == spatial && !isOne(convolution.getWindowStrides())) ||
        (convolution.getWindowReversal() &&
         !convolution.getWindowReversal()->empty() &&
         (*convolution.getWindowReversal())[at]))
      return false;
    window *= kernel.getDimSize(static_cast<unsigned>(i + 1));
    outputs *= result.getDimSize(static_cast<unsigned>(i));
  }
  return window > outputs && result.getNumElements() > 0;
}

bool alula::kernel::reducesColumns(stablehlo::ReduceOp reduce) {
  auto rank = cast<RankedTensorType>(reduce.getInputs()[0].getType()).getRank();
  return !reduce.getDimensions().empty() &&
         !llvm::is_contained(reduce.getDimensions(), rank - 1) &&
         !hasThreads(reduce);
}

bool alula::kernel::mayReduceRowsTogether(stablehlo::ReduceOp reduce,
                                          int64_t rows) {
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(reduce.getInputs()[0].getType()).getShape();
  auto last = static_cast<int64_t>(shape.size()) - 1;
  return last > 0 && reduce.getDimensions() == ArrayRef(last) && rows > 0 &&
         rows <= mostRowsTogether &&
         (ShapedType::isDynamic(shape[shape.size() - 2]) ||
          shape[shape.size() - 2] >= rows) &&
         !getFloatSumType(reduce, reduce.getBody().front());
}

bool alula::kernel::mayReduceInParts(stablehlo::ReduceOp reduce,
                                     int64_t parts) {
  if (reduce.getDimensions().size() != 1)
    return false;
  int64_t terms =
      cast<RankedTensorType>(reduce.getInputs()[0].getType())
          .getDimSize(static_cast<unsigned>(reduce.getDimensions()[0]));
  return !ShapedType::isDynamic(terms) && terms >= parts * minPart &&
         !getFloatSumType(reduce, reduce.getBody().front()) &&
         llvm::none_of(reduce.getResults(),
                       [](Value result) {
                         return isSmallFloat(getElementType(result));
                       }) &&
         isAssociative(reduce.getBody().front());
}

SmallVector<int64_t> alula::kernel::collectFreeDims(stablehlo::DotGeneralOp dot,
                                                    bool isLhs) {
  auto numbers = dot.getDotDimensionNumbers();
  Value tensor = isLhs ? dot.getLhs() : dot.getRhs();
  auto batch = isLhs ? numbers.getLhsBatchingDimensions()
                     : numbers.getRhsBatchingDimensions();
  auto contracted = isLhs ? numbers.getLhsContractingDimensions()
                          : numbers.getRhsContractingDimensions();
  SmallVector<int64_t> free;
  for (int64_t d = 0; d < cast<RankedTensorType>(tensor.getType()).getRank();
       ++d)
    if (!llvm::is_contained(batch, d) && !llvm::is_contained(contracted, d))
      free.push_back(d);
  return free;
}

bool alula::kernel::hasBatchBetweenColumns(stablehlo::DotGeneralOp dot,
                                           bool isLhs) {
  auto numbers = dot.getDotDimensionNumbers();
  ArrayRef<int64_t> batch = isLhs ? numbers.getLhsBatchingDimensions()
                                  : numbers.getRhsBatchingDimensions();
  SmallVector<int64_t> free = collectFreeDims(dot, isLhs);
  return !free.empty() &&
         llvm::any_of(batch, [&](int64_t dim) { return dim > free.front(); });
}

// Sizes of results with dynamic dimensions, from the sizes of operands and the
// numbers in them.

#include "dialect/stablehlo/result_sizes.h"

#include "dialect/stablehlo/ops.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::stablehlo;

namespace {
using Sizes = SmallVector<Value>;

RankedTensorType getType(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}

/// One dimension of a window: what it does to a size.
struct Window {
  int64_t stride = 1, inputDilation = 1, windowDilation = 1;
  Value padding; ///< Both edges together.
};

class Computer {
public:
  explicit Computer(SizeArithmetic &numbers) : numbers(numbers) {}

  std::optional<Sizes> compute(OpResult result);

private:
  Value make(int64_t value) { return numbers.makeNumber(value); }
  Value getDim(Value tensor, int64_t dim) {
    RankedTensorType type = getType(tensor);
    return type.isDynamicDim(static_cast<unsigned>(dim))
               ? numbers.getDim(tensor, dim)
               : make(type.getDimSize(static_cast<unsigned>(dim)));
  }
  Sizes copy(Value tensor) {
    Sizes sizes;
    for (int64_t dim = 0; dim < getType(tensor).getRank(); ++dim)
      sizes.push_back(getDim(tensor, dim));
    return sizes;
  }
  Sizes pick(Value tensor, ArrayRef<int64_t> dims) {
    Sizes sizes;
    for (int64_t dim : dims)
      sizes.push_back(getDim(tensor, dim));
    return sizes;
  }
  Sizes readList(Value list) {
    Sizes sizes;
    for (int64_t i = 0; i < getType(list).getDimSize(0); ++i)
      sizes.push_back(numbers.getElement(list, {i}));
    return sizes;
  }

  Value dilate(Value size, int64_t dilation) {
    if (dilation == 1)
      return size;
    // An empty dimension has no holes.
    Value last =
        numbers.multiply(numbers.subtract(size, make(1)), make(dilation));
    return numbers.getMaximum(numbers.add(last, make(1)), make(0));
  }
  /// How many places a window has.
  Value countPlaces(Value size, Value windowSize, const Window &window) {
    Value padded =
        numbers.add(dilate(size, window.inputDilation), window.padding);
    Value room =
        numbers.subtract(padded, dilate(windowSize, window.windowDilation));
    Value strides =
        numbers.getMaximum(numbers.add(room, make(window.stride)), make(0));
    return window.stride == 1 ? strides
                              : numbers.divide(strides, make(window.stride));
  }

  Sizes computeElementwise(Operation *op);
  Sizes computeGather(Operation *op, GatherDimensionNumbersAttr map,
                      function_ref<Value(int64_t)> getSliceSize);
  template <typename Op> Sizes computeConvolution(Op op);
  Sizes computeReduceWindow(ReduceWindowOp op);
  Sizes computeDot(DotGeneralOp op);
  Sizes computeBitcast(BitcastConvertOp op);
  std::optional<Sizes> computeAny(OpResult result);

  SizeArithmetic &numbers;
};

// Operands have one shape; a size that one of them tells is told by all.
Sizes Computer::computeElementwise(Operation *op) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    if (getType(operand).getRank() == getType(op->getResult(0)).getRank())
      operands.push_back(operand);
  Sizes sizes;
  for (int64_t dim = 0; dim < getType(op->getResult(0)).getRank(); ++dim) {
    auto isStatic = [&](Value operand) {
      return !getType(operand).isDynamicDim(static_cast<unsigned>(dim));
    };
    auto *found = llvm::find_if(operands, isStatic);
    sizes.push_back(
        getDim(found == operands.end() ? operands.front() : *found, dim));
  }
  return sizes;
}

Sizes Computer::computeGather(Operation *op, GatherDimensionNumbersAttr map,
                              function_ref<Value(int64_t)> getSliceSize) {
  Value operand = op->getOperand(0), indices = op->getOperand(1);
  Sizes batch, window;
  for (int64_t dim = 0; dim < getType(indices).getRank(); ++dim)
    if (dim != map.getIndexVectorDim())
      batch.push_back(getDim(indices, dim));
  for (int64_t dim = 0; dim < getType(operand).getRank(); ++dim)
    if (!llvm::is_contained(map.getCollapsedSliceDims(), dim) &&
        !llvm::is_contained(map.getOperandBatchingDims(), dim))
      window.push_back(getSliceSize(dim));
  Sizes sizes;
  ArrayRef<Value> nextBatch(batch), nextWindow(window);
  for (int64_t dim = 0; dim < getType(op->getResult(0)).getRank(); ++dim) {
    auto &next =
        llvm::is_contained(map.getOffsetDims(), dim) ? nextWindow : nextBatch;
    sizes.push_back(next.front());
    next = next.drop_front();
  }
  return sizes;
}

template <typename Op> Sizes Computer::computeConvolution(Op op) {
  ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  auto at = [](auto values, size_t i) { return values ? (*values)[i] : 1; };
  Sizes sizes(static_cast<size_t>(getType(op.getResult()).getRank()));
  sizes[dims.getOutputBatchDimension()] =
      getDim(op.getLhs(), dims.getInputBatchDimension());
  if (op.getBatchGroupCount() != 1)
    sizes[dims.getOutputBatchDimension()] =
        numbers.divide(sizes[dims.getOutputBatchDimension()],
                       make(static_cast<int64_t>(op.getBatchGroupCount())));
  sizes[dims.getOutputFeatureDimension()] =
      getDim(op.getRhs(), dims.getKernelOutputFeatureDimension());
  for (auto [i, output] : llvm::enumerate(dims.getOutputSpatialDimensions())) {
    Window window;
    window.stride = at(op.getWindowStrides(), i);
    window.inputDilation = at(op.getLhsDilation(), i);
    window.windowDilation = at(op.getRhsDilation(), i);
    auto dim = static_cast<int64_t>(i);
    if constexpr (std::is_same_v<Op, DynamicConvOp>) {
      window.padding =
          numbers.add(numbers.getElement(op.getPadding(), {dim, 0}),
                      numbers.getElement(op.getPadding(), {dim, 1}));
    } else {
      int64_t both = 0;
      if (auto padding = op.getPadding())
        both = padding->template getValues<int64_t>()[{i, 0}] +
               padding->template getValues<int64_t>()[{i, 1}];
      window.padding = make(both);
    }
    sizes[output] = countPlaces(
        getDim(op.getLhs(), dims.getInputSpatialDimensions()[i]),
        getDim(op.getRhs(), dims.getKernelSpatialDimensions()[i]), window);
  }
  return sizes;
}

Sizes Computer::computeReduceWindow(ReduceWindowOp op) {
  auto at = [](auto values, size_t i) { return values ? (*values)[i] : 1; };
  Sizes sizes;
  for (auto [i, size] : llvm::enumerate(op.getWindowDimensions())) {
    Window window;
    window.stride = at(op.getWindowStrides(), i);
    window.inputDilation = at(op.getBaseDilations(), i);
    window.windowDilation = at(op.getWindowDilations(), i);
    int64_t both = 0;
    if (auto padding = op.getPadding())
      both = padding->getValues<int64_t>()[{i, 0}] +
             padding->getValues<int64_t>()[{i, 1}];
    window.padding = make(both);
    sizes.push_back(
        countPlaces(getDim(op.getInputs()[0], static_cast<int64_t>(i)),
                    make(size), window));
  }
  return sizes;
}

Sizes Computer::computeDot(DotGeneralOp op) {
  DotDimensionNumbersAttr dims = op.getDotDimensionNumbers();
  Sizes sizes = pick(op.getLhs(), dims.getLhsBatchingDimensions());
  auto addFree = [&](Value operand, ArrayRef<int64_t> batching,
                     ArrayRef<int64_t> contracting) {
    for (int64_t dim = 0; dim < getType(operand).getRank(); ++dim)
      if (!llvm::is_contained(batching, dim) &&
          !llvm::is_contained(contracting, dim))
        sizes.push_back(getDim(operand, dim));
  };
  addFree(op.getLhs(), dims.getLhsBatchingDimensions(),
          dims.getLhsContractingDimensions());
  addFree(op.getRhs(), dims.getRhsBatchingDimensions(),
          dims.getRhsContractingDimensions());
  return sizes;
}

// A narrower type adds a dimension, which is static; a wider one drops it.
Sizes Computer::computeBitcast(BitcastConvertOp op) {
  Sizes sizes = copy(op.getOperand());
  RankedTensorType type = getType(op.getResult());
  auto rank = static_cast<size_t>(type.getRank());
  if (sizes.size() < rank)
    sizes.push_back(make(type.getShape().back()));
  sizes.resize(rank);
  return sizes;
}

std::optional<Sizes> Computer::computeAny(OpResult result) {
  using Answer = std::optional<Sizes>;
  Operation *op = result.getOwner();
  unsigned number = result.getResultNumber();
  return llvm::TypeSwitch<Operation *, Answer>(op)
      .Case<DynamicBroadcastInDimOp, DynamicReshapeOp>(
          [&](auto) -> Answer { return readList(op->getOperand(1)); })
      .Case(
          [&](DynamicIotaOp) -> Answer { return readList(op->getOperand(0)); })
      .Case([&](RngOp rng) -> Answer { return readList(rng.getShape()); })
      .Case<SelectOp, ClampOp>(
          [&](auto) -> Answer { return computeElementwise(op); })
      .Case<DynamicUpdateSliceOp, ReverseOp, CholeskyOp>(
          [&](auto) -> Answer { return copy(op->getOperand(0)); })
      .Case<MapOp>([&](auto) -> Answer { return computeElementwise(op); })
      .Case(
          [&](TriangularSolveOp solve) -> Answer { return copy(solve.getB()); })
      .Case<ScatterOp, SortOp, OptimizationBarrierOp>(
          [&](auto) -> Answer { return copy(op->getOperand(number)); })
      .Case(
          [&](SelectAndScatterOp) -> Answer { return copy(op->getOperand(0)); })
      .Case([&](BatchNormInferenceOp) -> Answer {
        return copy(op->getOperand(0));
      })
      .Case<BatchNormTrainingOp, BatchNormGradOp>(
          [&](auto) -> Answer { return copy(op->getOperand(number ? 1 : 0)); })
      .Case([&](TransposeOp transpose) -> Answer {
        return pick(transpose.getOperand(), transpose.getPermutation());
      })
      .Case([&](ReduceOp reduce) -> Answer {
        SmallVector<int64_t> kept;
        for (int64_t dim = 0; dim < getType(reduce.getInputs()[0]).getRank();
             ++dim)
          if (!llvm::is_contained(reduce.getDimensions(), dim))
            kept.push_back(dim);
        return pick(reduce.getInputs()[0], kept);
      })
      .Case([&](ConcatenateOp concatenate) -> Answer {
        Sizes sizes = copy(concatenate.getInputs()[0]);
        auto dim = static_cast<int64_t>(concatenate.getDimension());
        for (Value input : concatenate.getInputs().drop_front())
          sizes[dim] = numbers.add(sizes[dim], getDim(input, dim));
        return sizes;
      })
      .Case([&](PadOp pad) -> Answer {
        Sizes sizes = copy(pad.getOperand());
        for (auto [i, size] : llvm::enumerate(sizes))
          size = numbers.add(
              dilate(size, pad.getInteriorPadding()[i] + 1),
              make(pad.getEdgePaddingLow()[i] + pad.getEdgePaddingHigh()[i]));
        return sizes;
      })
      .Case([&](DynamicPadOp pad) -> Answer {
        Sizes sizes = copy(pad.getOperand());
        for (auto [i, size] : llvm::enumerate(sizes)) {
          SmallVector<int64_t> at{static_cast<int64_t>(i)};
          Value gaps =
              numbers.getMaximum(numbers.subtract(size, make(1)), make(0));
          Value holes = numbers.multiply(
              gaps, numbers.getElement(pad.getInteriorPadding(), at));
          Value edges =
              numbers.add(numbers.getElement(pad.getEdgePaddingLow(), at),
                          numbers.getElement(pad.getEdgePaddingHigh(), at));
          size = numbers.add(numbers.add(size, holes), edges);
        }
        return sizes;
      })
      .Case([&](SliceOp slice) -> Answer {
        Sizes sizes;
        for (auto [start, limit, stride] :
             llvm::zip_equal(slice.getStartIndices(), slice.getLimitIndices(),
                             slice.getStrides()))
          sizes.push_back(make((limit - start + stride - 1) / stride));
        return sizes;
      })
      .Case([&](DynamicSliceOp slice) -> Answer {
        Sizes sizes;
        for (int64_t size : slice.getSliceSizes())
          sizes.push_back(make(size));
        return sizes;
      })
      .Case([&](RealDynamicSliceOp slice) -> Answer {
        Sizes sizes;
        for (int64_t i = 0; i < getType(result).getRank(); ++i) {
          Value start = numbers.getElement(slice.getStartIndices(), {i});
          Value limit = numbers.getElement(slice.getLimitIndices(), {i});
          Value stride = numbers.getElement(slice.getStrides(), {i});
          Value rounded = numbers.add(numbers.subtract(limit, start),
                                      numbers.subtract(stride, make(1)));
          sizes.push_back(
              numbers.divide(numbers.getMaximum(rounded, make(0)), stride));
        }
        return sizes;
      })
      .Case([&](GatherOp gather) -> Answer {
        return computeGather(op, gather.getDimensionNumbers(), [&](int64_t i) {
          return make(gather.getSliceSizes()[static_cast<size_t>(i)]);
        });
      })
      .Case([&](DynamicGatherOp gather) -> Answer {
        return computeGather(op, gather.getDimensionNumbers(), [&](int64_t i) {
          return numbers.getElement(gather.getSliceSizes(), {i});
        });
      })
      .Case<ConvolutionOp, DynamicConvOp>([&](auto convolution) -> Answer {
        return computeConvolution(convolution);
      })
      .Case([&](ReduceWindowOp window) -> Answer {
        return computeReduceWindow(window);
      })
      .Case([&](DotGeneralOp dot) -> Answer { return computeDot(dot); })
      .Case([&](BitcastConvertOp bitcast) -> Answer {
        return computeBitcast(bitcast);
      })
      .Case([&](FftOp fft) -> Answer {
        Sizes sizes = copy(fft.getOperand());
        int64_t length = fft.getFftLength().back();
        if (fft.getFftType() == FftType::RFFT)
          sizes.back() = make(length ? length / 2 + 1 : 0);
        else if (fft.getFftType() == FftType::IRFFT)
          sizes.back() = make(length);
        return sizes;
      })
      .Case([&](SetDimensionSizeOp set) -> Answer {
        Sizes sizes = copy(set.getOperand());
        sizes[set.getDimension()] = numbers.getElement(set.getSize(), {});
        return sizes;
      })
      .Default([&](Operation *) -> Answer {
        if (op->hasTrait<mlir::OpTrait::Elementwise>())
          return computeElementwise(op);
        return std::nullopt;
      });
}

std::optional<Sizes> Computer::compute(OpResult result) {
  std::optional<Sizes> sizes;
  RankedTensorType type = getType(result);
  if (type.hasStaticShape())
    sizes.emplace(static_cast<size_t>(type.getRank()));
  else
    sizes = computeAny(result);
  if (!sizes || sizes->size() != static_cast<size_t>(type.getRank()))
    return std::nullopt;
  for (auto [dim, size] : llvm::enumerate(*sizes))
    if (!type.isDynamicDim(static_cast<unsigned>(dim)))
      size = make(type.getDimSize(static_cast<unsigned>(dim)));
  return sizes;
}
} // namespace

std::optional<SmallVector<Value>>
mlir::stablehlo::computeResultSizes(OpResult result, SizeArithmetic &numbers) {
  return Computer(numbers).compute(result);
}

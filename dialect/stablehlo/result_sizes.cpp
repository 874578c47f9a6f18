// Sizes of results, from the sizes of operands and the numbers in them: once
// for numbers of a program that runs, and for those that are known before.

#include "dialect/stablehlo/result_sizes.h"

#include "dialect/stablehlo/element_rules.h"
#include "dialect/stablehlo/ops.h"
#include "dialect/stablehlo/product_dims.h"
#include "dialect/stablehlo/shape_math.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::stablehlo;

namespace {
RankedTensorType getRankedType(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}

/// Numbers that may be known before the program runs; kDynamic for others, and
/// for what fits no size.
class KnownNumbers {
public:
  using Size = int64_t;

  explicit KnownNumbers(KnownElement known) : known(known) {}

  int64_t makeNumber(int64_t value) { return value; }
  int64_t getDim(Value, int64_t) { return ShapedType::kDynamic; }
  int64_t getElement(Value tensor, ArrayRef<int64_t> position) {
    return known(tensor, position).value_or(int64_t(ShapedType::kDynamic));
  }
  int64_t add(int64_t a, int64_t b) { return compute(a, b, addSizes); }
  int64_t subtract(int64_t a, int64_t b) {
    return compute(a, b, [](int64_t a, int64_t b) -> std::optional<int64_t> {
      int64_t difference;
      if (llvm::SubOverflow(a, b, difference))
        return std::nullopt;
      return difference;
    });
  }
  int64_t multiply(int64_t a, int64_t b) {
    return compute(a, b, multiplySizes);
  }
  int64_t getMaximum(int64_t a, int64_t b) {
    return compute(a, b, [](int64_t a, int64_t b) {
      return std::optional(std::max(a, b));
    });
  }
  int64_t divide(int64_t a, int64_t b) {
    return compute(a, b, [](int64_t a, int64_t b) {
      return b > 0 ? std::optional(a / b) : std::nullopt;
    });
  }

private:
  template <typename Function>
  static int64_t compute(int64_t a, int64_t b, Function function) {
    if (ShapedType::isDynamic(a) || ShapedType::isDynamic(b))
      return ShapedType::kDynamic;
    return function(a, b).value_or(int64_t(ShapedType::kDynamic));
  }

  KnownElement known;
};

/// One dimension of a window: what it does to a size.
template <typename Size> struct Window {
  int64_t stride = 1, inputDilation = 1, windowDilation = 1;
  Size padding{}; ///< Both edges together.
};

template <typename Numbers> class Computer {
public:
  using Size = typename Numbers::Size;
  using Sizes = SmallVector<Size>;

  explicit Computer(Numbers &numbers) : numbers(numbers) {}

  std::optional<Sizes> compute(OpResult result);
  std::optional<Sizes> computeAny(OpResult result);

private:
  Size make(int64_t value) { return numbers.makeNumber(value); }
  Size getDim(Value tensor, int64_t dim) {
    RankedTensorType type = getRankedType(tensor);
    return type.isDynamicDim(static_cast<unsigned>(dim))
               ? numbers.getDim(tensor, dim)
               : make(type.getDimSize(static_cast<unsigned>(dim)));
  }
  Sizes copy(Value tensor) {
    Sizes sizes;
    for (int64_t dim = 0; dim < getRankedType(tensor).getRank(); ++dim)
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
    for (int64_t i = 0; i < getRankedType(list).getDimSize(0); ++i)
      sizes.push_back(numbers.getElement(list, {i}));
    return sizes;
  }

  Size dilate(Size size, int64_t dilation) {
    if (dilation == 1)
      return size;
    // An empty dimension has no holes.
    Size last =
        numbers.multiply(numbers.subtract(size, make(1)), make(dilation));
    return numbers.getMaximum(numbers.add(last, make(1)), make(0));
  }
  /// How many places a window has.
  Size countPlaces(Size size, Size windowSize, const Window<Size> &window) {
    Size padded =
        numbers.add(dilate(size, window.inputDilation), window.padding);
    Size room =
        numbers.subtract(padded, dilate(windowSize, window.windowDilation));
    Size strides =
        numbers.getMaximum(numbers.add(room, make(window.stride)), make(0));
    return window.stride == 1 ? strides
                              : numbers.divide(strides, make(window.stride));
  }

  Sizes computeElementwise(Operation *op);
  Sizes computeGather(Operation *op, GatherDimensionNumbersAttr map,
                      function_ref<Size(int64_t)> getSliceSize);
  template <typename Op> Sizes computeConvolution(Op op);
  Sizes computeReduceWindow(ReduceWindowOp op);
  Sizes computeProduct(Operation *op, ArrayRef<ProductDim> dims);
  Sizes computeBitcast(BitcastConvertOp op);
  std::optional<Sizes> computeGroups(Value operand, uint64_t dim,
                                     Attribute groups, bool dependsOnRun,
                                     bool isGathered);

  Numbers &numbers;
};

// Operands have one shape; a size that one of them tells is told by all.
template <typename Numbers>
auto Computer<Numbers>::computeElementwise(Operation *op) -> Sizes {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    if (getRankedType(operand).getRank() ==
        getRankedType(op->getResult(0)).getRank())
      operands.push_back(operand);
  Sizes sizes;
  for (int64_t dim = 0; dim < getRankedType(op->getResult(0)).getRank();
       ++dim) {
    auto isStatic = [&](Value operand) {
      return !getRankedType(operand).isDynamicDim(static_cast<unsigned>(dim));
    };
    auto *found = llvm::find_if(operands, isStatic);
    sizes.push_back(
        getDim(found == operands.end() ? operands.front() : *found, dim));
  }
  return sizes;
}

template <typename Numbers>
auto Computer<Numbers>::computeGather(Operation *op,
                                      GatherDimensionNumbersAttr map,
                                      function_ref<Size(int64_t)> getSliceSize)
    -> Sizes {
  Value operand = op->getOperand(0), indices = op->getOperand(1);
  Sizes batch, window;
  for (int64_t dim = 0; dim < getRankedType(indices).getRank(); ++dim)
    if (dim != map.getIndexVectorDim())
      batch.push_back(getDim(indices, dim));
  for (int64_t dim = 0; dim < getRankedType(operand).getRank(); ++dim)
    if (!llvm::is_contained(map.getCollapsedSliceDims(), dim) &&
        !llvm::is_contained(map.getOperandBatchingDims(), dim))
      window.push_back(getSliceSize(dim));
  Sizes sizes;
  ArrayRef<Size> nextBatch(batch), nextWindow(window);
  for (int64_t dim = 0; dim < getRankedType(op->getResult(0)).getRank();
       ++dim) {
    auto &next =
        llvm::is_contained(map.getOffsetDims(), dim) ? nextWindow : nextBatch;
    sizes.push_back(next.front());
    next = next.drop_front();
  }
  return sizes;
}

template <typename Numbers>
template <typename Op>
auto Computer<Numbers>::computeConvolution(Op op) -> Sizes {
  ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  // Lists may be empty, which says the same as none.
  auto at = [](auto values, size_t i) {
    return values && i < values->size() ? (*values)[i] : 1;
  };
  Sizes sizes(static_cast<size_t>(getRankedType(op.getResult()).getRank()));
  sizes[dims.getOutputBatchDimension()] =
      getDim(op.getLhs(), dims.getInputBatchDimension());
  if (op.getBatchGroupCount() != 1)
    sizes[dims.getOutputBatchDimension()] =
        numbers.divide(sizes[dims.getOutputBatchDimension()],
                       make(static_cast<int64_t>(op.getBatchGroupCount())));
  sizes[dims.getOutputFeatureDimension()] =
      getDim(op.getRhs(), dims.getKernelOutputFeatureDimension());
  for (auto [i, output] : llvm::enumerate(dims.getOutputSpatialDimensions())) {
    Window<Size> window;
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

template <typename Numbers>
auto Computer<Numbers>::computeReduceWindow(ReduceWindowOp op) -> Sizes {
  // Lists may be empty, which says the same as none.
  auto at = [](auto values, size_t i) {
    return values && i < values->size() ? (*values)[i] : 1;
  };
  Sizes sizes;
  for (auto [i, size] : llvm::enumerate(op.getWindowDimensions())) {
    Window<Size> window;
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

template <typename Numbers>
auto Computer<Numbers>::computeProduct(Operation *op, ArrayRef<ProductDim> dims)
    -> Sizes {
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  Sizes sizes;
  for (ProductDim dim : dims) {
    // Of a batch dimension, the operand tells that knows more.
    bool isRight =
        dim.lhs < 0 || (dim.rhs >= 0 && getRankedType(lhs).isDynamicDim(
                                            static_cast<unsigned>(dim.lhs)));
    sizes.push_back(isRight ? getDim(rhs, dim.rhs) : getDim(lhs, dim.lhs));
  }
  return sizes;
}

// A narrower type adds a dimension; a wider one drops it.
template <typename Numbers>
auto Computer<Numbers>::computeBitcast(BitcastConvertOp op) -> Sizes {
  Sizes sizes = copy(op.getOperand());
  unsigned from = elementBits(getRankedType(op.getOperand()).getElementType());
  unsigned to = elementBits(getRankedType(op.getResult()).getElementType());
  if (from < to && !sizes.empty())
    sizes.pop_back();
  else if (from > to && to != 0)
    sizes.push_back(make(from / to));
  return sizes;
}

// A dimension is as many times as long as a group has members, or a part of it.
template <typename Numbers>
auto Computer<Numbers>::computeGroups(Value operand, uint64_t dim,
                                      Attribute groups, bool dependsOnRun,
                                      bool isGathered) -> std::optional<Sizes> {
  Sizes sizes = copy(operand);
  auto dense = dyn_cast<DenseIntElementsAttr>(groups);
  if (!dense || dense.getType().getRank() != 2 || dense.getNumElements() == 0 ||
      dependsOnRun) {
    if constexpr (std::is_same_v<Size, int64_t>) {
      sizes[dim] = ShapedType::kDynamic;
      return sizes;
    }
    return std::nullopt;
  }
  Size members = make(dense.getType().getDimSize(1));
  sizes[dim] = isGathered ? numbers.multiply(sizes[dim], members)
                          : numbers.divide(sizes[dim], members);
  return sizes;
}

template <typename Numbers>
auto Computer<Numbers>::computeAny(OpResult result) -> std::optional<Sizes> {
  using Answer = std::optional<Sizes>;
  Operation *op = result.getOwner();
  unsigned number = result.getResultNumber();
  return llvm::TypeSwitch<Operation *, Answer>(op)
      .template Case<DynamicBroadcastInDimOp, DynamicReshapeOp>(
          [&](auto) -> Answer { return readList(op->getOperand(1)); })
      .Case(
          [&](DynamicIotaOp) -> Answer { return readList(op->getOperand(0)); })
      .Case([&](RngOp rng) -> Answer { return readList(rng.getShape()); })
      .template Case<DynamicUpdateSliceOp, ReverseOp, CholeskyOp>(
          [&](auto) -> Answer { return copy(op->getOperand(0)); })
      .Case(
          [&](TriangularSolveOp solve) -> Answer { return copy(solve.getB()); })
      .template Case<ScatterOp, SortOp, OptimizationBarrierOp>(
          [&](auto) -> Answer { return copy(op->getOperand(number)); })
      .Case(
          [&](SelectAndScatterOp) -> Answer { return copy(op->getOperand(0)); })
      .Case([&](BatchNormInferenceOp) -> Answer {
        return copy(op->getOperand(0));
      })
      .template Case<BatchNormTrainingOp, BatchNormGradOp>(
          [&](auto) -> Answer { return copy(op->getOperand(number ? 1 : 0)); })
      .Case([&](TransposeOp transpose) -> Answer {
        return pick(transpose.getOperand(), transpose.getPermutation());
      })
      .Case([&](ReduceOp reduce) -> Answer {
        SmallVector<int64_t> kept;
        for (int64_t dim = 0;
             dim < getRankedType(reduce.getInputs()[0]).getRank(); ++dim)
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
          Size gaps =
              numbers.getMaximum(numbers.subtract(size, make(1)), make(0));
          Size holes = numbers.multiply(
              gaps, numbers.getElement(pad.getInteriorPadding(), at));
          Size edges =
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
        for (int64_t i = 0; i < getRankedType(result).getRank(); ++i) {
          Size start = numbers.getElement(slice.getStartIndices(), {i});
          Size limit = numbers.getElement(slice.getLimitIndices(), {i});
          Size stride = numbers.getElement(slice.getStrides(), {i});
          Size rounded = numbers.add(numbers.subtract(limit, start),
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
      .template Case<ConvolutionOp, DynamicConvOp>(
          [&](auto convolution) -> Answer {
            return computeConvolution(convolution);
          })
      .Case([&](ReduceWindowOp window) -> Answer {
        return computeReduceWindow(window);
      })
      .template Case<DotGeneralOp, DotOp>([&](auto dot) -> Answer {
        return computeProduct(op, getProductDims(dot));
      })
      .Case([&](AllGatherOp gather) -> Answer {
        return computeGroups(
            gather.getOperands()[number], gather.getAllGatherDim(),
            gather.getReplicaGroups(),
            gather.getChannelHandle() && !gather.getUseGlobalDeviceIds(),
            /*isGathered=*/true);
      })
      .Case([&](ReduceScatterOp scatter) -> Answer {
        return computeGroups(
            scatter.getOperand(), scatter.getScatterDimension(),
            scatter.getReplicaGroups(),
            scatter.getChannelHandle() && !scatter.getUseGlobalDeviceIds(),
            /*isGathered=*/false);
      })
      .Case([&](TorchIndexSelectOp select) -> Answer {
        auto dim = static_cast<int64_t>(select.getDim());
        auto batch = static_cast<int64_t>(select.getBatchDims());
        Sizes operand = copy(select.getOperand());
        Sizes index = copy(select.getIndex());
        // Negative numbers count from the end.
        dim += dim < 0 ? static_cast<int64_t>(operand.size()) : 0;
        batch += batch < 0 ? static_cast<int64_t>(index.size()) : 0;
        Sizes sizes(ArrayRef<Size>(operand).take_front(dim));
        llvm::append_range(sizes, ArrayRef<Size>(index).drop_front(
                                      std::min<size_t>(batch, index.size())));
        llvm::append_range(sizes, ArrayRef<Size>(operand).drop_front(dim + 1));
        return sizes;
      })
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
        if (keepsIndices(op))
          return computeElementwise(op);
        return std::nullopt;
      });
}

template <typename Numbers>
auto Computer<Numbers>::compute(OpResult result) -> std::optional<Sizes> {
  std::optional<Sizes> sizes;
  RankedTensorType type = getRankedType(result);
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
  return Computer<SizeArithmetic>(numbers).compute(result);
}

std::optional<SmallVector<int64_t>>
mlir::stablehlo::computeKnownSizes(OpResult result, KnownElement known) {
  KnownNumbers numbers(known);
  auto sizes = Computer<KnownNumbers>(numbers).computeAny(result);
  auto rank = static_cast<size_t>(getRankedType(result).getRank());
  return sizes && sizes->size() == rank ? sizes : std::nullopt;
}

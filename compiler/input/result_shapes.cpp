// Infers result types: by the op's own inference where it has one, by the rule
// of its family otherwise.

#include "compiler/input/result_shapes.h"
#include "compiler/input/integer_evaluator.h"

#include "dialect/chlo/ops.h"
#include "dialect/stablehlo/ops.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace alula::input;

namespace {
using Shape = SmallVector<int64_t>;

RankedTensorType typeOf(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

/// A known shape as sizes; negative sizes are an error of the program.
FailureOr<std::optional<Shape>> readShape(Operation *op, Value operand,
                                          KnownValue known) {
  DenseElementsAttr value = known(operand);
  if (!value)
    return std::optional<Shape>();
  Shape shape = getIntegers(value);
  for (int64_t size : shape)
    if (size < 0)
      return stablehlo::opError(op)
             << "shape must not be negative: " << value;
  return std::optional<Shape>(shape);
}

template <typename DotOp>
Shape inferDot(DotOp op, ArrayRef<int64_t> lhsBatching,
               ArrayRef<int64_t> lhsContracting, ArrayRef<int64_t> rhsBatching,
               ArrayRef<int64_t> rhsContracting) {
  auto lhs = typeOf(op.getLhs()), rhs = typeOf(op.getRhs());
  Shape shape;
  for (auto [l, r] : llvm::zip(lhsBatching, rhsBatching))
    shape.push_back(lhs.isDynamicDim(l) ? rhs.getDimSize(r)
                                        : lhs.getDimSize(l));
  for (int64_t dim = 0; dim < lhs.getRank(); ++dim)
    if (!llvm::is_contained(lhsBatching, dim) &&
        !llvm::is_contained(lhsContracting, dim))
      shape.push_back(lhs.getDimSize(dim));
  for (int64_t dim = 0; dim < rhs.getRank(); ++dim)
    if (!llvm::is_contained(rhsBatching, dim) &&
        !llvm::is_contained(rhsContracting, dim))
      shape.push_back(rhs.getDimSize(dim));
  return shape;
}

/// The windows of a convolution along each spatial dimension, and its batch
/// and features. `padding` has a pair for each spatial dimension.
template <typename ConvOp>
Shape inferConv(ConvOp op, ArrayRef<int64_t> padding) {
  auto lhs = typeOf(op.getLhs()), rhs = typeOf(op.getRhs());
  auto numbers = op.getDimensionNumbers();
  Shape shape(lhs.getRank(), ShapedType::kDynamic);
  int64_t batch = lhs.getDimSize(numbers.getInputBatchDimension());
  if (!ShapedType::isDynamic(batch))
    shape[numbers.getOutputBatchDimension()] =
        batch / static_cast<int64_t>(op.getBatchGroupCount());
  shape[numbers.getOutputFeatureDimension()] =
      rhs.getDimSize(numbers.getKernelOutputFeatureDimension());
  auto at = [](std::optional<ArrayRef<int64_t>> list, size_t index) {
    return list && !list->empty() ? (*list)[index] : 1;
  };
  for (auto [index, dim] : llvm::enumerate(numbers.getInputSpatialDimensions())) {
    int64_t size = lhs.getDimSize(dim);
    int64_t window = rhs.getDimSize(numbers.getKernelSpatialDimensions()[index]);
    if (ShapedType::isDynamic(size) || ShapedType::isDynamic(window))
      continue;
    auto dilate = [](int64_t count, int64_t by) {
      return count == 0 ? 0 : (count - 1) * by + 1;
    };
    int64_t low = padding.empty() ? 0 : padding[2 * index];
    int64_t high = padding.empty() ? 0 : padding[2 * index + 1];
    int64_t padded = dilate(size, at(op.getLhsDilation(), index)) + low + high;
    int64_t covered = dilate(window, at(op.getRhsDilation(), index));
    shape[numbers.getOutputSpatialDimensions()[index]] =
        padded < covered
            ? 0
            : (padded - covered) / at(op.getWindowStrides(), index) + 1;
  }
  return shape;
}

/// How many processes share a group; nothing if the module alone decides.
std::optional<int64_t> getGroupSize(Attribute groups, bool hasChannel,
                                    bool useGlobalIds) {
  auto dense = dyn_cast<DenseIntElementsAttr>(groups);
  if (!dense || dense.getType().getRank() != 2 || dense.getNumElements() == 0 ||
      (hasChannel && !useGlobalIds))
    return std::nullopt;
  return dense.getType().getDimSize(1);
}

/// Shapes of ops with one result and no inference of their own.
FailureOr<std::optional<Shape>> inferShape(Operation *op, KnownValue known) {
  using Result = FailureOr<std::optional<Shape>>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](stablehlo::DynamicReshapeOp reshape) {
        return readShape(op, reshape.getOutputShape(), known);
      })
      .Case([&](stablehlo::DynamicBroadcastInDimOp broadcast) {
        return readShape(op, broadcast.getOutputDimensions(), known);
      })
      .Case([&](stablehlo::DynamicIotaOp iota) {
        return readShape(op, iota.getOutputShape(), known);
      })
      .Case([&](stablehlo::RngOp rng) {
        return readShape(op, rng.getShape(), known);
      })
      .Case([&](stablehlo::DynamicPadOp pad) -> Result {
        auto operand = typeOf(pad.getOperand());
        auto low = known(pad.getEdgePaddingLow());
        auto high = known(pad.getEdgePaddingHigh());
        auto interior = known(pad.getInteriorPadding());
        if (!low || !high || !interior)
          return std::optional<Shape>();
        Shape shape;
        for (auto [size, l, h, i] :
             llvm::zip(operand.getShape(), getIntegers(low),
                       getIntegers(high), getIntegers(interior)))
          shape.push_back(ShapedType::isDynamic(size)
                              ? size
                              : size + std::max<int64_t>(size - 1, 0) * i + l +
                                    h);
        for (int64_t size : shape)
          if (size < 0 && !ShapedType::isDynamic(size))
            return stablehlo::opError(op)
                   << "padded size must not be negative: " << size;
        return std::optional<Shape>(shape);
      })
      .Case([&](stablehlo::RealDynamicSliceOp slice) -> Result {
        auto start = known(slice.getStartIndices());
        auto limit = known(slice.getLimitIndices());
        auto stride = known(slice.getStrides());
        if (!start || !limit || !stride)
          return std::optional<Shape>();
        Shape shape;
        for (auto [s, l, by] :
             llvm::zip_equal(getIntegers(start), getIntegers(limit),
                             getIntegers(stride))) {
          if (by <= 0 || l < s)
            return stablehlo::opError(op)
                   << "slice must have a start below its limit and a positive "
                      "stride: start "
                   << s << ", limit " << l << ", stride " << by;
          shape.push_back((l - s + by - 1) / by);
        }
        return std::optional<Shape>(shape);
      })
      .Case([&](stablehlo::DotGeneralOp dot) -> Result {
        auto numbers = dot.getDotDimensionNumbers();
        return std::optional(inferDot(dot, numbers.getLhsBatchingDimensions(),
                                      numbers.getLhsContractingDimensions(),
                                      numbers.getRhsBatchingDimensions(),
                                      numbers.getRhsContractingDimensions()));
      })
      .Case([&](stablehlo::DotOp dot) -> Result {
        int64_t lhsLast = typeOf(dot.getLhs()).getRank() - 1;
        return std::optional(inferDot(dot, {}, {lhsLast}, {}, {0}));
      })
      .Case([&](stablehlo::ConvolutionOp conv) -> Result {
        Shape padding;
        if (auto written = conv.getPadding())
          padding = Shape(written->getValues<int64_t>());
        return std::optional(inferConv(conv, padding));
      })
      .Case([&](stablehlo::DynamicConvOp conv) -> Result {
        auto padding = known(conv.getPadding());
        if (!padding)
          return std::optional<Shape>();
        return std::optional(inferConv(conv, getIntegers(padding)));
      })
      .Case([&](stablehlo::BitcastConvertOp cast) -> Result {
        auto operand = typeOf(cast.getOperand()), result = typeOf(cast);
        unsigned from = stablehlo::elementBits(operand.getElementType());
        unsigned to = stablehlo::elementBits(result.getElementType());
        Shape shape(operand.getShape());
        if (from < to && !shape.empty())
          shape.pop_back();
        else if (from > to && to != 0)
          shape.push_back(from / to);
        return std::optional(shape);
      })
      .Case([&](chlo::RaggedDotOp dot) -> Result {
        return std::optional(Shape(dot.getResultShape()));
      })
      .Case([&](stablehlo::AllGatherOp gather) -> Result {
        auto count = getGroupSize(gather.getReplicaGroups(),
                                  gather.getChannelHandle().has_value(),
                                  gather.getUseGlobalDeviceIds());
        auto operand = typeOf(gather.getOperands().front());
        auto dim = static_cast<int64_t>(gather.getAllGatherDim());
        Shape shape(operand.getShape());
        bool isKnown = count && !ShapedType::isDynamic(shape[dim]);
        shape[dim] = isKnown ? shape[dim] * *count : ShapedType::kDynamic;
        return std::optional(shape);
      })
      .Case([&](stablehlo::ReduceScatterOp scatter) -> Result {
        auto count = getGroupSize(scatter.getReplicaGroups(),
                                  scatter.getChannelHandle().has_value(),
                                  scatter.getUseGlobalDeviceIds());
        auto operand = typeOf(scatter.getOperand());
        auto dim = static_cast<int64_t>(scatter.getScatterDimension());
        Shape shape(operand.getShape());
        bool isKnown = count && !ShapedType::isDynamic(shape[dim]);
        shape[dim] = isKnown ? shape[dim] / *count : ShapedType::kDynamic;
        return std::optional(shape);
      })
      .Case([&](stablehlo::TorchIndexSelectOp select) -> Result {
        auto operand = typeOf(select.getOperand());
        auto index = typeOf(select.getIndex());
        auto dim = static_cast<int64_t>(select.getDim());
        auto batch = static_cast<int64_t>(select.getBatchDims());
        Shape shape(operand.getShape().take_front(dim));
        llvm::append_range(shape, index.getShape().drop_front(
                                      std::min(batch, index.getRank())));
        llvm::append_range(shape, operand.getShape().drop_front(dim + 1));
        return std::optional(shape);
      })
      .Default([](Operation *) { return std::optional<Shape>(); });
}

/// The custom calls that JAX writes where an op has no dynamic form. Empty for
/// others, and while their operands are not known.
FailureOr<SmallVector<Type>> inferNamedCall(stablehlo::CustomCallOp op,
                                            KnownValue known) {
  StringRef target = op.getCallTargetName();
  SmallVector<Type> types;
  unsigned count = op.getNumResults();
  if (target == "stablehlo.dynamic_rng_bit_generator" &&
      op.getNumOperands() == 2 && count == 2) {
    auto shape = readShape(op, op.getOperand(1), known);
    if (failed(shape))
      return failure();
    if (*shape)
      types = {op.getOperand(0).getType(),
               RankedTensorType::get(
                   **shape, getElementTypeOrSelf(op.getResult(1).getType()))};
  }
  if (target == "stablehlo.dynamic_top_k" && op.getNumOperands() == 2 &&
      count == 2) {
    auto k = known(op.getOperand(1));
    auto operand = typeOf(op.getOperand(0));
    if (!k || k.getNumElements() != 1 || !operand || operand.getRank() == 0)
      return types;
    Shape shape(operand.getShape());
    shape.back() = getIntegers(k).front();
    for (Type type : op->getResultTypes())
      types.push_back(
          RankedTensorType::get(shape, getElementTypeOrSelf(type)));
  }
  if (target == "stablehlo.dynamic_reduce_window" && count >= 1 &&
      op.getNumOperands() == 2 * count + 5) {
    // Sizes, strides, base dilations, window dilations, padding.
    SmallVector<Shape> lists;
    auto operand = typeOf(op.getOperand(0));
    for (unsigned list = 0; list < 5; ++list) {
      auto value = known(op.getOperand(2 * count + list));
      int64_t expected = operand ? operand.getRank() * (list == 4 ? 2 : 1) : 0;
      if (!value || !operand || value.getNumElements() != expected)
        return types;
      lists.push_back(getIntegers(value));
    }
    Shape shape;
    for (auto [dim, size] : llvm::enumerate(operand.getShape())) {
      int64_t stride = lists[1][dim];
      if (ShapedType::isDynamic(size) || stride <= 0) {
        shape.push_back(ShapedType::kDynamic);
        continue;
      }
      auto dilate = [](int64_t number, int64_t by) {
        return number == 0 ? 0 : (number - 1) * by + 1;
      };
      int64_t padded = dilate(size, lists[2][dim]) + lists[4][2 * dim] +
                       lists[4][2 * dim + 1];
      int64_t window = dilate(lists[0][dim], lists[3][dim]);
      shape.push_back(padded < window ? 0 : (padded - window) / stride + 1);
    }
    for (Type type : op->getResultTypes())
      types.push_back(
          RankedTensorType::get(shape, getElementTypeOrSelf(type)));
  }
  return types;
}

/// Everything that operands of one shape know about it together.
Type mergeOperandShapes(Operation *op) {
  Type merged;
  for (Type type : op->getOperandTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      continue;
    auto shape = stablehlo::getTensorType(
        tensor.getShape(), IntegerType::get(op->getContext(), 1),
        stablehlo::getBounds(tensor));
    merged = merged ? stablehlo::mergeTypes(merged, shape) : Type(shape);
    if (!merged)
      return {};
  }
  return merged;
}
} // namespace

SmallVector<int64_t> alula::input::getShapeOperands(Operation *op) {
  auto call = dyn_cast<stablehlo::CustomCallOp>(op);
  if (!call)
    return {};
  auto indices =
      call->getAttrOfType<DenseIntElementsAttr>("indices_of_shape_operands");
  if (!indices || indices.getNumElements() !=
                      static_cast<int64_t>(op->getNumResults()))
    return {};
  SmallVector<int64_t> result = getIntegers(indices);
  for (int64_t index : result)
    if (index < 0 || index >= static_cast<int64_t>(op->getNumOperands()))
      return {};
  return result;
}

FailureOr<SmallVector<Type>> alula::input::inferResultTypes(Operation *op,
                                                            KnownValue known) {
  SmallVector<Type> types;
  if (SmallVector<int64_t> indices = getShapeOperands(op); !indices.empty()) {
    for (auto [index, result] : llvm::zip_equal(indices, op->getResults())) {
      auto shape = readShape(op, op->getOperand(index), known);
      if (failed(shape))
        return failure();
      auto tensor = dyn_cast<ShapedType>(result.getType());
      bool fits = *shape && tensor;
      types.push_back(fits ? RankedTensorType::get(**shape,
                                                   tensor.getElementType())
                           : result.getType());
    }
    return types;
  }
  if (auto call = dyn_cast<stablehlo::CustomCallOp>(op))
    return inferNamedCall(call, known);
  if (op->getNumResults() == 1) {
    if (auto tensor = typeOf(op->getResult(0))) {
      auto shape = inferShape(op, known);
      if (failed(shape))
        return failure();
      if (*shape) {
        types.push_back(
            RankedTensorType::get(**shape, tensor.getElementType()));
        return types;
      }
    }
  }
  if (auto infer = dyn_cast<InferTypeOpInterface>(op)) {
    if (failed(infer.inferReturnTypes(
            op->getContext(), op->getLoc(), op->getOperands(),
            op->getDiscardableAttrDictionary(), op->getPropertiesStorage(),
            op->getRegions(), types)))
      return failure();
    return types;
  }
  if (op->hasTrait<stablehlo::OpTrait::CompatibleShapes>() &&
      op->getNumResults() == 1) {
    if (auto shape = dyn_cast_or_null<ShapedType>(mergeOperandShapes(op)))
      types.push_back(
          shape.clone(getElementTypeOrSelf(op->getResult(0).getType())));
  }
  return types;
}

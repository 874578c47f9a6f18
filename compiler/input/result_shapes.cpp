// Infers result types: by the op's own inference where it has one, by the rule
// for its sizes (dialect/stablehlo/result_sizes.h) otherwise.

#include "compiler/input/result_shapes.h"
#include "compiler/input/integer_evaluator.h"

#include "dialect/chlo/ops.h"
#include "dialect/stablehlo/access.h"
#include "dialect/stablehlo/ops.h"
#include "dialect/stablehlo/result_sizes.h"

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

/// What known operands of sizes must say.
LogicalResult checkSizes(Operation *op, KnownValue known) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<stablehlo::DynamicReshapeOp, stablehlo::DynamicBroadcastInDimOp,
            stablehlo::DynamicIotaOp, stablehlo::RngOp>([&](auto) {
        for (OpOperand &use : op->getOpOperands())
          if (stablehlo::getAccess(use) == stablehlo::Access::Sizes &&
              failed(readShape(op, use.get(), known)))
            return failure();
        return success();
      })
      .Case([&](stablehlo::RealDynamicSliceOp slice) -> LogicalResult {
        auto start = known(slice.getStartIndices());
        auto limit = known(slice.getLimitIndices());
        auto stride = known(slice.getStrides());
        if (!start || !limit || !stride)
          return success();
        for (auto [s, l, by] :
             llvm::zip_equal(getIntegers(start), getIntegers(limit),
                             getIntegers(stride)))
          if (by <= 0 || l < s)
            return stablehlo::opError(op)
                   << "slice must have a start below its limit and a positive "
                      "stride: start "
                   << s << ", limit " << l << ", stride " << by;
        return success();
      })
      .Default([](Operation *) { return success(); });
}

/// Shapes of ops with one result and no inference of their own.
FailureOr<std::optional<Shape>> inferShape(Operation *op, KnownValue known) {
  if (auto dot = dyn_cast<chlo::RaggedDotOp>(op))
    return std::optional(Shape(dot.getResultShape()));
  // Others merge what operands know, bounds too.
  bool isInferred = isa<InferTypeOpInterface>(op) ||
                    op->hasTrait<stablehlo::OpTrait::CompatibleShapes>();
  if (isInferred && !isa<stablehlo::RngOp>(op))
    return std::optional<Shape>();
  if (failed(checkSizes(op, known)))
    return failure();
  // The same list is asked for each of its elements.
  llvm::SmallDenseMap<Value, Shape, 4> lists;
  auto shape = stablehlo::computeKnownSizes(
      op->getResult(0),
      [&](Value tensor, ArrayRef<int64_t> position) -> std::optional<int64_t> {
        auto [list, isNew] = lists.try_emplace(tensor);
        if (isNew)
          if (DenseElementsAttr value = known(tensor))
            list->second = getIntegers(value);
        int64_t number = 0;
        for (auto [at, size] :
             llvm::zip_equal(position, typeOf(tensor).getShape()))
          number = number * size + at;
        if (number >= static_cast<int64_t>(list->second.size()))
          return std::nullopt;
        return list->second[number];
      });
  if (!shape || (!shape->empty() && llvm::all_of(*shape, ShapedType::isDynamic)))
    return std::optional<Shape>();
  for (int64_t size : *shape)
    if (size < 0 && !ShapedType::isDynamic(size))
      return stablehlo::opError(op)
             << "padded size must not be negative: " << size;
  return shape;
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

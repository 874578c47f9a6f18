// chlo.broadcast_f(x, y) → stablehlo.f(broadcast x, broadcast y). Shapes that
// are not static are computed.

#include "compiler/input/convert_chlo.h"

#include "dialect/chlo/ops.h"

using namespace mlir;
using namespace alula::input;

namespace {
/// One operand and the result dimensions that its dimensions go to.
struct Part {
  Value value;
  SmallVector<int64_t> dims;
  RankedTensorType type() const {
    return cast<RankedTensorType>(value.getType());
  }
};

/// The size of one result dimension as tensor<1xi32>.
Value buildSize(ArrayRef<Part> parts, int64_t dim, OpBuilder &builder,
                Location location) {
  Type i32 = builder.getI32Type();
  auto scalar = RankedTensorType::get({}, i32);
  auto constant = [&](int64_t number) -> Value {
    auto value = builder.getI32IntegerAttr(static_cast<int32_t>(number));
    return builder.create<stablehlo::ConstantOp>(
        location, scalar, DenseElementsAttr::get(scalar, value));
  };
  SmallVector<std::pair<Value, int64_t>> measured;
  std::optional<int64_t> known;
  for (const Part &part : parts)
    for (auto [index, target] : llvm::enumerate(part.dims)) {
      if (target != dim)
        continue;
      int64_t size = part.type().getDimSize(static_cast<unsigned>(index));
      if (ShapedType::isDynamic(size))
        measured.push_back({part.value, static_cast<int64_t>(index)});
      else if (!known || *known == 1)
        known = size;
    }
  Value size;
  if (known && (*known != 1 || measured.empty()))
    size = constant(*known);
  // The first that is not 1 decides.
  for (auto [value, index] : measured) {
    if (known && *known != 1)
      break;
    Value next = builder.create<stablehlo::GetDimensionSizeOp>(
        location, scalar, value, index);
    if (!size) {
      size = next;
      continue;
    }
    Value isOne = builder.create<stablehlo::CompareOp>(
        location, RankedTensorType::get({}, builder.getI1Type()), size,
        constant(1), stablehlo::ComparisonDirection::EQ,
        stablehlo::ComparisonTypeAttr::get(builder.getContext(),
                                           stablehlo::ComparisonType::SIGNED));
    size = builder.create<stablehlo::SelectOp>(location, scalar, isOne, next,
                                               size);
  }
  return builder.create<stablehlo::ReshapeOp>(
      location, RankedTensorType::get({1}, i32), size);
}

/// Gives all parts the shape that they broadcast to.
void broadcast(MutableArrayRef<Part> parts, ArrayRef<int64_t> shape,
               OpBuilder &builder, Location location) {
  Value sizes;
  if (ShapedType::isDynamicShape(shape)) {
    SmallVector<Value> each;
    for (size_t dim = 0; dim < shape.size(); ++dim)
      each.push_back(buildSize(parts, static_cast<int64_t>(dim), builder,
                               location));
    sizes = builder.create<stablehlo::ConcatenateOp>(
        location,
        RankedTensorType::get({static_cast<int64_t>(shape.size())},
                              builder.getI32Type()),
        each, /*dimension=*/0);
  }
  for (Part &part : parts) {
    auto type =
        RankedTensorType::get(shape, part.type().getElementType());
    auto dims = builder.getDenseI64ArrayAttr(part.dims);
    if (sizes)
      part.value = builder.create<stablehlo::DynamicBroadcastInDimOp>(
          location, type, part.value, sizes, dims);
    else if (part.type() != type)
      part.value = builder.create<stablehlo::BroadcastInDimOp>(
          location, type, part.value, dims);
  }
}

stablehlo::CompareOp buildCompare(chlo::BroadcastCompareOp op, Type type,
                                  Value lhs, Value rhs, OpBuilder &builder) {
  auto direction = stablehlo::symbolizeComparisonDirection(
      chlo::stringifyComparisonDirection(op.getComparisonDirection()));
  stablehlo::ComparisonTypeAttr kind;
  if (auto written = op.getCompareType())
    kind = stablehlo::ComparisonTypeAttr::get(
        op.getContext(), *stablehlo::symbolizeComparisonType(
                             chlo::stringifyComparisonType(*written)));
  return builder.create<stablehlo::CompareOp>(op.getLoc(), type, lhs, rhs,
                                              *direction, kind);
}
} // namespace

Outcome alula::input::convertChloBroadcast(Operation *op,
                                           IRRewriter &rewriter) {
  StringRef name = op->getName().stripDialect();
  if (!name.consume_front("broadcast_"))
    return std::nullopt;
  Location location = op->getLoc();
  auto written = op->getAttrOfType<DenseI64ArrayAttr>("broadcast_dimensions");
  std::optional<ArrayRef<int64_t>> dimensions;
  if (written)
    dimensions = written.asArrayRef();
  int64_t rank = 0;
  for (Type type : op->getOperandTypes())
    rank = std::max(rank, cast<RankedTensorType>(type).getRank());
  SmallVector<Part> parts;
  for (Value operand : op->getOperands())
    parts.push_back({operand, chlo::getBroadcastDimensions(
                                  rank,
                                  cast<ShapedType>(operand.getType()).getRank(),
                                  dimensions)});

  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  broadcast(parts, result.getShape(), rewriter, location);
  auto type = RankedTensorType::get(result.getShape(), result.getElementType());

  if (auto compare = dyn_cast<chlo::BroadcastCompareOp>(op)) {
    Value value = buildCompare(compare, type, parts[0].value, parts[1].value,
                               rewriter);
    replaceWithTyped(op, value, rewriter);
    return success();
  }
  if (isa<chlo::BroadcastNextAfterOp, chlo::BroadcastPolygammaOp,
          chlo::BroadcastZetaOp>(op)) {
    auto value = buildChloBinary(name, parts[0].value, parts[1].value, op,
                                 rewriter);
    if (failed(value))
      return failure();
    replaceWithTyped(op, *value, rewriter);
    return success();
  }
  // The others have the name of their stablehlo op.
  OperationState state(location, ("stablehlo." + name).str());
  for (const Part &part : parts)
    state.addOperands(part.value);
  state.addTypes(type);
  assert(state.name.isRegistered() && "a broadcast op of another name");
  replaceWithTyped(op, rewriter.create(state)->getResults(), rewriter);
  return success();
}

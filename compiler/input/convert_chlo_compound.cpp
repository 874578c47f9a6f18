// chlo.top_k → sort and slice, chlo.ragged_dot → dot_general and masks,
// chlo.scan → while.

#include "compiler/input/convert_chlo.h"
#include "compiler/input/element_math.h"

#include "dialect/chlo/ops.h"
#include "dialect/stablehlo/build.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace alula::input;

namespace {
Value buildScalar(int64_t number, Type element, OpBuilder &builder,
                  Location location) {
  auto type = RankedTensorType::get({}, element);
  return builder.create<stablehlo::ConstantOp>(
      location, type,
      DenseElementsAttr::get(type, builder.getIntegerAttr(element, number)));
}

//===- top_k --------------------------------------------------------------===//

LogicalResult convertTopK(chlo::TopKOp op, IRRewriter &rewriter) {
  Location location = op.getLoc();
  auto type = cast<RankedTensorType>(op.getOperand().getType());
  Type element = type.getElementType();
  if (!isa<IntegerType>(element) && !stablehlo::isFloatElement(element))
    return stablehlo::opError(op)
           << "elements must have an order: operand is " << type;
  auto i32 = rewriter.getI32Type();
  int64_t last = type.getRank() - 1;
  ElementMath math(rewriter, location, op.getOperand());
  auto indexType = cast<RankedTensorType>(math.shaped(i32));
  Value index;
  if (type.hasStaticShape())
    index = rewriter.create<stablehlo::IotaOp>(location, indexType, last);
  else
    index = rewriter.create<stablehlo::DynamicIotaOp>(location, indexType,
                                                      math.shapeValue(), last);
  auto sort = rewriter.create<stablehlo::SortOp>(
      location, TypeRange{type, indexType}, ValueRange{op.getOperand(), index},
      static_cast<uint64_t>(last), /*is_stable=*/true);
  buildDescending(sort.getComparator(), {element, i32}, rewriter, location);

  SmallVector<int64_t> starts(type.getRank(), 0), strides(type.getRank(), 1);
  SmallVector<int64_t> limits(type.getShape());
  limits.back() = static_cast<int64_t>(op.getK());
  SmallVector<Value> parts;
  if (!ShapedType::isDynamicShape(limits)) {
    for (Value sorted : sort.getResults())
      parts.push_back(rewriter.create<stablehlo::SliceOp>(
          location, RankedTensorType::get(limits, getElementTypeOrSelf(sorted)),
          sorted, starts, limits, strides));
    replaceWithTyped(op, parts, rewriter);
    return success();
  }
  // Sizes that are not known yet: the limits are the shape with k at its end.
  auto vector = [&](int64_t number, int64_t count) -> Value {
    auto vectorType = RankedTensorType::get({count}, i32);
    return rewriter.create<stablehlo::ConstantOp>(
        location, vectorType,
        DenseElementsAttr::get(vectorType, static_cast<int32_t>(number)));
  };
  Value limit = vector(limits.back(), 1);
  if (last > 0) {
    Value leading = rewriter.create<stablehlo::SliceOp>(
        location, RankedTensorType::get({last}, i32), math.shapeValue(),
        ArrayRef<int64_t>{0}, ArrayRef<int64_t>{last}, ArrayRef<int64_t>{1});
    limit = rewriter.create<stablehlo::ConcatenateOp>(
        location, RankedTensorType::get({last + 1}, i32),
        ValueRange{leading, limit}, /*dimension=*/0);
  }
  Value start = vector(0, last + 1), stride = vector(1, last + 1);
  for (Value sorted : sort.getResults())
    parts.push_back(rewriter.create<stablehlo::RealDynamicSliceOp>(
        location, RankedTensorType::get(limits, getElementTypeOrSelf(sorted)),
        sorted, start, limit, stride));
  replaceWithTyped(op, parts, rewriter);
  return success();
}

//===- ragged_dot ---------------------------------------------------------===//

/// Which elements belong to which group.
struct Groups {
  Location location;
  OpBuilder &builder;
  /// The sizes as [prefix…, g].
  Value sizes;

  RankedTensorType type() const {
    return cast<RankedTensorType>(sizes.getType());
  }
  int64_t count() const { return type().getShape().back(); }

  Value broadcast(Value value, ArrayRef<int64_t> shape,
                  ArrayRef<int64_t> dims) const {
    auto result = RankedTensorType::get(shape, getElementTypeOrSelf(value));
    return builder.create<stablehlo::BroadcastInDimOp>(location, result, value,
                                                       dims);
  }

  Value compare(Value lhs, Value rhs,
                stablehlo::ComparisonDirection direction) const {
    auto lhsType = cast<ShapedType>(lhs.getType());
    auto kind = lhsType.getElementType().isUnsignedInteger()
                    ? stablehlo::ComparisonType::UNSIGNED
                    : stablehlo::ComparisonType::SIGNED;
    return builder.create<stablehlo::CompareOp>(
        location, lhsType.clone(builder.getI1Type()), lhs, rhs, direction,
        stablehlo::ComparisonTypeAttr::get(builder.getContext(), kind));
  }

  /// The sum of the sizes before each group, and with its own.
  std::pair<Value, Value> buildBorders() const {
    SmallVector<int64_t> shape(type().getShape());
    int64_t rank = type().getRank();
    shape.push_back(count());
    SmallVector<int64_t> dims;
    for (int64_t dim = 0; dim + 1 < rank; ++dim)
      dims.push_back(dim);
    dims.push_back(rank);
    Type element = type().getElementType();
    auto square = RankedTensorType::get(shape, element);
    Value all = broadcast(sizes, shape, dims);
    Value group = builder.create<stablehlo::IotaOp>(location, square, rank - 1);
    Value other = builder.create<stablehlo::IotaOp>(location, square, rank);
    Value isBefore = compare(other, group, stablehlo::ComparisonDirection::LT);
    Value zero =
        broadcast(stablehlo::buildZero(builder, location, element), shape, {});
    Value before = builder.create<stablehlo::SelectOp>(location, square,
                                                       isBefore, all, zero);
    Value start = stablehlo::buildSum(builder, location, before, rank);
    Value end =
        builder.create<stablehlo::AddOp>(location, type(), start, sizes);
    return {start, end};
  }

  /// For tensors of `shape` [g, …]: true where the index in `raggedDim` is in
  /// the group; prefix dimension i is shape dimension prefixDims[i].
  Value buildMask(ArrayRef<int64_t> shape, int64_t raggedDim,
                  ArrayRef<int64_t> prefixDims) const {
    auto [start, end] = buildBorders();
    SmallVector<int64_t> dims(prefixDims);
    dims.push_back(0);
    // broadcast_in_dim takes its dimensions in any order.
    Value starts = broadcast(start, shape, dims);
    Value ends = broadcast(end, shape, dims);
    Value index = builder.create<stablehlo::IotaOp>(
        location, RankedTensorType::get(shape, type().getElementType()),
        raggedDim);
    Value isAfterStart =
        compare(starts, index, stablehlo::ComparisonDirection::LE);
    Value isBeforeEnd =
        compare(index, ends, stablehlo::ComparisonDirection::LT);
    return builder.create<stablehlo::AndOp>(location, isAfterStart.getType(),
                                            isAfterStart, isBeforeEnd);
  }

  /// `value` where the mask is true, 0 elsewhere.
  Value keep(Value mask, Value value) const {
    auto valueType = cast<RankedTensorType>(value.getType());
    Value zeros = broadcast(
        stablehlo::buildZero(builder, location, valueType.getElementType()),
        valueType.getShape(), {});
    return builder.create<stablehlo::SelectOp>(location, valueType, mask, value,
                                               zeros);
  }
};

SmallVector<int64_t> withOffset(ArrayRef<int64_t> dims) {
  return llvm::map_to_vector(dims, [](int64_t dim) { return dim + 1; });
}

} // namespace

ArrayAttr alula::input::convertPrecision(std::optional<ArrayAttr> precision,
                                         MLIRContext *context) {
  if (!precision)
    return {};
  SmallVector<Attribute> converted;
  for (Attribute entry : *precision)
    converted.push_back(stablehlo::PrecisionAttr::get(
        context, *stablehlo::symbolizePrecision(chlo::stringifyPrecision(
                     cast<chlo::PrecisionAttr>(entry).getValue()))));
  return ArrayAttr::get(context, converted);
}

namespace {
LogicalResult convertRaggedDot(chlo::RaggedDotOp op, IRRewriter &rewriter) {
  Location location = op.getLoc();
  auto lhs = cast<RankedTensorType>(op.getLhs().getType());
  auto rhs = cast<RankedTensorType>(op.getRhs().getType());
  auto sizes = cast<RankedTensorType>(op.getGroupSizes().getType());
  auto result = cast<RankedTensorType>(op.getType());
  if (!lhs.hasStaticShape() || !rhs.hasStaticShape() ||
      !sizes.hasStaticShape() || !result.hasStaticShape())
    return stablehlo::opError(op)
           << "shapes must be static: operands are " << lhs << ", " << rhs
           << ", " << sizes << ", result is " << result;
  auto numbers = op.getRaggedDotDimensionNumbers();
  ArrayRef<int64_t> lhsBatching = numbers.getLhsBatchingDimensions(),
                    rhsBatching = numbers.getRhsBatchingDimensions(),
                    lhsContracting = numbers.getLhsContractingDimensions(),
                    rhsContracting = numbers.getRhsContractingDimensions();
  int64_t ragged = numbers.getLhsRaggedDimensions().front();
  ArrayAttr precision =
      convertPrecision(op.getPrecisionConfig(), op.getContext());
  auto buildDot =
      [&](Value l, Value r, ArrayRef<int64_t> lBatching,
          ArrayRef<int64_t> rBatching, ArrayRef<int64_t> lContracting,
          ArrayRef<int64_t> rContracting, ArrayRef<int64_t> shape) -> Value {
    return rewriter.create<stablehlo::DotGeneralOp>(
        location, RankedTensorType::get(shape, result.getElementType()), l, r,
        stablehlo::DotDimensionNumbersAttr::get(
            op.getContext(), lBatching, rBatching, lContracting, rContracting),
        precision, stablehlo::DotAlgorithmAttr());
  };
  if (llvm::is_contained(lhsBatching, ragged)) {
    // Each batch is a product of its own, whatever its group.
    rewriter.replaceOp(op, buildDot(op.getLhs(), op.getRhs(), lhsBatching,
                                    rhsBatching, lhsContracting, rhsContracting,
                                    result.getShape()));
    return success();
  }

  SmallVector<int64_t> prefix = op.getGroupPrefixDims();
  SmallVector<int64_t> sizesShape;
  for (int64_t dim : prefix)
    sizesShape.push_back(lhs.getDimSize(dim));
  int64_t numGroups = sizes.getShape().back();
  sizesShape.push_back(numGroups);
  Groups groups{location, rewriter, op.getGroupSizes()};
  if (sizes.getRank() == 1 && !prefix.empty())
    groups.sizes = groups.broadcast(
        groups.sizes, sizesShape,
        ArrayRef<int64_t>{static_cast<int64_t>(prefix.size())});

  SmallVector<int64_t> lhsShape = {numGroups};
  llvm::append_range(lhsShape, lhs.getShape());
  SmallVector<int64_t> lhsDims;
  for (int64_t dim = 0; dim < lhs.getRank(); ++dim)
    lhsDims.push_back(dim + 1);
  Value wideLhs = groups.broadcast(op.getLhs(), lhsShape, lhsDims);
  SmallVector<int64_t> lhsGroupBatching = {0}, rhsGroupBatching = {0};
  llvm::append_range(lhsGroupBatching, withOffset(lhsBatching));

  if (const auto *found = llvm::find(lhsContracting, ragged);
      found != lhsContracting.end()) {
    // Both sides are masked, so that what is outside can't be inf * 0.
    SmallVector<int64_t> rhsShape = {numGroups}, rhsDims;
    llvm::append_range(rhsShape, rhs.getShape());
    for (int64_t dim = 0; dim < rhs.getRank(); ++dim)
      rhsDims.push_back(dim + 1);
    Value wideRhs = groups.broadcast(op.getRhs(), rhsShape, rhsDims);
    llvm::append_range(rhsGroupBatching, withOffset(rhsBatching));
    SmallVector<int64_t> rhsPrefix(rhsBatching);
    auto position = static_cast<size_t>(found - lhsContracting.begin());
    llvm::append_range(rhsPrefix, rhsContracting.take_front(position));
    Value lhsMask = groups.buildMask(lhsShape, ragged + 1, withOffset(prefix));
    Value rhsMask = groups.buildMask(rhsShape, rhsContracting[position] + 1,
                                     withOffset(rhsPrefix));
    rewriter.replaceOp(op,
                       buildDot(groups.keep(lhsMask, wideLhs),
                                groups.keep(rhsMask, wideRhs), lhsGroupBatching,
                                rhsGroupBatching, withOffset(lhsContracting),
                                withOffset(rhsContracting), result.getShape()));
    return success();
  }

  // Every group times all rows; then each row keeps its group's product.
  rhsGroupBatching = {numbers.getRhsGroupDimensions().front()};
  llvm::append_range(rhsGroupBatching, rhsBatching);
  SmallVector<int64_t> productShape = {numGroups};
  llvm::append_range(productShape, result.getShape());
  Value product =
      buildDot(wideLhs, op.getRhs(), lhsGroupBatching, rhsGroupBatching,
               withOffset(lhsContracting), rhsContracting, productShape);
  // Where the product has the dimensions of lhs: batching, then free ones.
  SmallVector<int64_t> order(lhsBatching);
  for (int64_t dim = 0; dim < lhs.getRank(); ++dim)
    if (!llvm::is_contained(lhsBatching, dim) &&
        !llvm::is_contained(lhsContracting, dim))
      order.push_back(dim);
  auto place = [&](int64_t dim) -> int64_t {
    return llvm::find(order, dim) - order.begin() + 1;
  };
  Value mask = groups.buildMask(productShape, place(ragged),
                                llvm::map_to_vector(prefix, place));
  rewriter.replaceOp(op, stablehlo::buildSum(rewriter, location,
                                             groups.keep(mask, product),
                                             /*dims=*/{0}));
  return success();
}

//===- scan ---------------------------------------------------------------===//

/// The slice of `operand` at `index` of `dim`, without that dimension.
Value buildSliceAt(Value operand, Value index, int64_t dim, Type sliceType,
                   OpBuilder &builder, Location location) {
  auto type = cast<RankedTensorType>(operand.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = 1;
  SmallVector<Value> starts(
      type.getRank(), buildScalar(0, builder.getI64Type(), builder, location));
  starts[dim] = index;
  Value slice = builder.create<stablehlo::DynamicSliceOp>(
      location, RankedTensorType::get(shape, type.getElementType()), operand,
      starts, shape);
  return builder.create<stablehlo::ReshapeOp>(location, sliceType, slice);
}

Value buildUpdateAt(Value operand, Value slice, Value index, int64_t dim,
                    OpBuilder &builder, Location location) {
  auto type = cast<RankedTensorType>(operand.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = 1;
  Value update = builder.create<stablehlo::ReshapeOp>(
      location, RankedTensorType::get(shape, type.getElementType()), slice);
  SmallVector<Value> starts(
      type.getRank(), buildScalar(0, builder.getI64Type(), builder, location));
  starts[dim] = index;
  return builder.create<stablehlo::DynamicUpdateSliceOp>(
      location, type, operand, update, starts);
}

LogicalResult convertScan(chlo::ScanOp op, IRRewriter &rewriter) {
  Location location = op.getLoc();
  auto isStatic = [](Type type) {
    return cast<ShapedType>(type).hasStaticShape();
  };
  auto dim = static_cast<int64_t>(op.getDimension());
  std::optional<int64_t> count;
  if (op.getScanDimSize())
    count = static_cast<int64_t>(*op.getScanDimSize());
  for (Value value : llvm::concat<Value>(SmallVector<Value>(op.getInputs()),
                                         SmallVector<Value>(op.getOutputs())))
    count = cast<ShapedType>(value.getType()).getDimSize(dim);
  if (!llvm::all_of(op->getOperandTypes(), isStatic) ||
      !llvm::all_of(op->getResultTypes(), isStatic) || !count)
    return stablehlo::opError(op)
           << "shapes must be static: type is "
           << FunctionType::get(op.getContext(), op->getOperandTypes(),
                                op->getResultTypes());

  // The loop carries a counter, the outputs so far and the carries.
  auto i64 = rewriter.getI64Type();
  SmallVector<Value> init = {buildScalar(0, i64, rewriter, location)};
  for (Type type : op.getOutputs().getTypes()) {
    auto tensor = cast<RankedTensorType>(type);
    if (isa<quant::QuantizedType>(tensor.getElementType()))
      return stablehlo::opError(op)
             << "outputs can't be quantized: type is " << tensor;
    init.push_back(rewriter.create<stablehlo::BroadcastInDimOp>(
        location, type,
        stablehlo::buildZero(rewriter, location, tensor.getElementType()),
        ArrayRef<int64_t>{}));
  }
  llvm::append_range(init, op.getInits());
  SmallVector<Type> types(ValueRange(init).getTypes());
  auto loop = rewriter.create<stablehlo::WhileOp>(location, types, init);
  SmallVector<Location> locations(types.size(), location);

  Block *cond = rewriter.createBlock(&loop.getCond(), {}, types, locations);
  Value isMore = rewriter.create<stablehlo::CompareOp>(
      location, RankedTensorType::get({}, rewriter.getI1Type()),
      cond->getArgument(0), buildScalar(*count, i64, rewriter, location),
      stablehlo::ComparisonDirection::LT,
      stablehlo::ComparisonTypeAttr::get(op.getContext(),
                                         stablehlo::ComparisonType::SIGNED));
  rewriter.create<stablehlo::ReturnOp>(location, isMore);

  Block *body = rewriter.createBlock(&loop.getBody(), {}, types, locations);
  Value counter = body->getArgument(0);
  Value index = counter;
  if (op.getIsReverse())
    index = rewriter.create<stablehlo::SubtractOp>(
        location, counter.getType(),
        buildScalar(*count - 1, i64, rewriter, location), counter);
  Block &scanBody = op.getBody().front();
  IRMapping mapping;
  size_t numInputs = op.getInputs().size(), numOutputs = op.getOutputs().size();
  for (auto [position, argument] : llvm::enumerate(scanBody.getArguments())) {
    Value value;
    if (position < numInputs)
      value = buildSliceAt(op.getInputs()[position], index, dim,
                           argument.getType(), rewriter, location);
    else
      value = body->getArgument(
          static_cast<unsigned>(1 + numOutputs + position - numInputs));
    mapping.map(argument, value);
  }
  for (Operation &inner : scanBody.without_terminator())
    rewriter.clone(inner, mapping);
  SmallVector<Value> next = {rewriter.create<stablehlo::AddOp>(
      location, counter.getType(), counter,
      buildScalar(1, i64, rewriter, location))};
  for (auto [position, returned] :
       llvm::enumerate(scanBody.getTerminator()->getOperands())) {
    Value value = mapping.lookupOrDefault(returned);
    if (position < numOutputs)
      value =
          buildUpdateAt(body->getArgument(static_cast<unsigned>(1 + position)),
                        value, index, dim, rewriter, location);
    next.push_back(value);
  }
  rewriter.create<stablehlo::ReturnOp>(location, next);
  rewriter.replaceOp(op, loop.getResults().drop_front());
  return success();
}
} // namespace

void alula::input::buildDescending(Region &region, ArrayRef<Type> elements,
                                   OpBuilder &builder, Location location) {
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&region);
  for (Type element : elements)
    for (int side = 0; side < 2; ++side)
      block->addArgument(RankedTensorType::get({}, element), location);
  auto kind = stablehlo::ComparisonType::TOTALORDER;
  if (auto integer = dyn_cast<IntegerType>(elements.front()))
    kind = integer.isUnsigned() || integer.getWidth() == 1
               ? stablehlo::ComparisonType::UNSIGNED
               : stablehlo::ComparisonType::SIGNED;
  Value isGreater = builder.create<stablehlo::CompareOp>(
      location, RankedTensorType::get({}, builder.getI1Type()),
      block->getArgument(0), block->getArgument(1),
      stablehlo::ComparisonDirection::GT,
      stablehlo::ComparisonTypeAttr::get(builder.getContext(), kind));
  builder.create<stablehlo::ReturnOp>(location, isGreater);
}

Outcome alula::input::convertChloCompound(Operation *op, IRRewriter &rewriter) {
  if (auto topK = dyn_cast<chlo::TopKOp>(op))
    return convertTopK(topK, rewriter);
  if (auto dot = dyn_cast<chlo::RaggedDotOp>(op))
    return convertRaggedDot(dot, rewriter);
  if (auto scan = dyn_cast<chlo::ScanOp>(op))
    return convertScan(scan, rewriter);
  return std::nullopt;
}

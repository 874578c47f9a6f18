// Lowers matrix products.

#include "compiler/dispatch/lowering.h"

#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace alula::dispatch;

namespace {
/// One operand's index expressions: batch loops, its free loops, the
/// contracted loops.
AffineMap operandMap(OpBuilder &builder, int64_t rank,
                     ArrayRef<int64_t> batching, ArrayRef<int64_t> contracting,
                     unsigned numLoops, unsigned firstFree,
                     unsigned firstContracted) {
  SmallVector<AffineExpr> indices(rank);
  for (auto [loop, dim] : llvm::enumerate(batching))
    indices[dim] = builder.getAffineDimExpr(static_cast<unsigned>(loop));
  for (auto [loop, dim] : llvm::enumerate(contracting))
    indices[dim] =
        builder.getAffineDimExpr(firstContracted + static_cast<unsigned>(loop));
  for (AffineExpr &index : indices)
    if (!index)
      index = builder.getAffineDimExpr(firstFree++);
  return AffineMap::get(numLoops, 0, indices, builder.getContext());
}

/// `value` as the type that products are summed in.
Value widen(OpBuilder &builder, Location location, Value value, Type to,
            bool isUnsigned) {
  if (value.getType() == to)
    return value;
  if (isa<FloatType>(to))
    return builder.create<arith::ExtFOp>(location, to, value);
  if (isUnsigned)
    return builder.create<arith::ExtUIOp>(location, to, value);
  return builder.create<arith::ExtSIOp>(location, to, value);
}
} // namespace

LogicalResult alula::dispatch::lowerDotGeneral(Operation *op,
                                               Lowering &lowering) {
  auto dot = cast<stablehlo::DotGeneralOp>(op);
  OpBuilder &builder = lowering.builder;
  auto numbers = dot.getDotDimensionNumbers();
  auto lhsType = cast<RankedTensorType>(dot.getLhs().getType());
  auto rhsType = cast<RankedTensorType>(dot.getRhs().getType());
  auto resultType = cast<RankedTensorType>(dot.getType());
  Type element = cast<RankedTensorType>(lowerType(resultType)).getElementType();
  if (element.isInteger(1))
    return declineOp(op, "for elements of type i1");
  // Sums of half-precision products are kept in single precision.
  Type sumType = isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32
                     ? builder.getF32Type()
                     : element;
  for (Type operand : {lhsType.getElementType(), rhsType.getElementType()})
    if (isa<FloatType>(operand) != isa<FloatType>(sumType) ||
        operand.getIntOrFloatBitWidth() > sumType.getIntOrFloatBitWidth())
      return declineOp(op, "for products of " + debugString(operand) +
                               " summed in " + debugString(sumType));

  // Loops: batch, rows, contracted, columns. With the columns innermost, each
  // step reads and adds neighbours.
  auto numContracted =
      static_cast<unsigned>(numbers.getLhsContractingDimensions().size());
  auto numBatch =
      static_cast<unsigned>(numbers.getLhsBatchingDimensions().size());
  auto numRows =
      static_cast<unsigned>(lhsType.getRank()) - numBatch - numContracted;
  auto numLoops = static_cast<unsigned>(resultType.getRank()) + numContracted;
  unsigned firstContracted = numBatch + numRows;
  unsigned firstColumn = firstContracted + numContracted;
  SmallVector<AffineExpr> resultIndices;
  for (unsigned loop = 0; loop < numLoops; ++loop)
    if (loop < firstContracted || loop >= firstColumn)
      resultIndices.push_back(builder.getAffineDimExpr(loop));
  AffineMap maps[] = {
      operandMap(builder, lhsType.getRank(), numbers.getLhsBatchingDimensions(),
                 numbers.getLhsContractingDimensions(), numLoops, numBatch,
                 firstContracted),
      operandMap(builder, rhsType.getRank(), numbers.getRhsBatchingDimensions(),
                 numbers.getRhsContractingDimensions(), numLoops, firstColumn,
                 firstContracted),
      AffineMap::get(numLoops, 0, resultIndices, op->getContext())};
  SmallVector<utils::IteratorType> loops(numLoops,
                                         utils::IteratorType::parallel);
  std::fill(loops.begin() + firstContracted, loops.begin() + firstColumn,
            utils::IteratorType::reduction);

  Location location = op->getLoc();
  auto sumTensor = RankedTensorType::get(resultType.getShape(), sumType);
  Value zero = builder.create<arith::ConstantOp>(location,
                                                 builder.getZeroAttr(sumType));
  Value empty = lowering.createEmpty(location, sumTensor);
  Value init =
      builder.create<linalg::FillOp>(location, zero, empty).getResult(0);
  bool lhsUnsigned = lhsType.getElementType().isUnsignedInteger();
  bool rhsUnsigned = rhsType.getElementType().isUnsignedInteger();
  auto generic = builder.create<linalg::GenericOp>(
      location, TypeRange(sumTensor),
      ValueRange{lowering.get(dot.getLhs()), lowering.get(dot.getRhs())},
      ValueRange(init), maps, loops,
      [&](OpBuilder &inner, Location where, ValueRange arguments) {
        Value lhs = widen(inner, where, arguments[0], sumType, lhsUnsigned);
        Value rhs = widen(inner, where, arguments[1], sumType, rhsUnsigned);
        Value sum;
        if (isa<FloatType>(sumType)) {
          Value product = inner.create<arith::MulFOp>(where, lhs, rhs);
          sum = inner.create<arith::AddFOp>(where, arguments[2], product);
        } else {
          Value product = inner.create<arith::MulIOp>(where, lhs, rhs);
          sum = inner.create<arith::AddIOp>(where, arguments[2], product);
        }
        inner.create<linalg::YieldOp>(where, sum);
      });
  Value result = generic.getResult(0);
  if (sumType != element)
    result = lowering.createMap(
        location, resultType, result,
        builder.getMultiDimIdentityMap(resultType.getRank()),
        [&](OpBuilder &inner, ValueRange arguments) -> Value {
          return inner.create<arith::TruncFOp>(location, element, arguments[0]);
        });
  lowering.set(dot.getResult(), result);
  return success();
}

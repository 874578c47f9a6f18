// Lowers reductions.

#include "compiler/dispatch/lowering.h"

#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace alula::dispatch;

// reduce(%x…, init %i…) → generic over all dimensions, with accumulators that
// begin as the initial values.
LogicalResult alula::dispatch::lowerReduce(Operation *op, Lowering &lowering) {
  auto reduce = cast<stablehlo::ReduceOp>(op);
  OpBuilder &builder = lowering.builder;
  auto inputType = cast<RankedTensorType>(reduce.getInputs()[0].getType());
  auto rank = static_cast<unsigned>(inputType.getRank());

  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  for (int64_t dim : reduce.getDimensions())
    loops[dim] = utils::IteratorType::reduction;
  SmallVector<AffineExpr> kept;
  for (unsigned dim = 0; dim < rank; ++dim)
    if (loops[dim] == utils::IteratorType::parallel)
      kept.push_back(builder.getAffineDimExpr(dim));
  AffineMap resultMap = AffineMap::get(rank, 0, kept, op->getContext());

  SmallVector<Value> inputs, accumulators;
  SmallVector<AffineMap> maps;
  for (Value input : reduce.getInputs()) {
    inputs.push_back(lowering.get(input));
    maps.push_back(builder.getMultiDimIdentityMap(rank));
  }
  for (auto [init, result] :
       llvm::zip_equal(reduce.getInitValues(), reduce.getResults())) {
    Value scalar = builder.create<tensor::ExtractOp>(op->getLoc(),
                                                     lowering.get(init));
    Value empty = lowering.createEmpty(op->getLoc(), result.getType());
    if (empty.getType() != lowerType(result.getType()) ||
        scalar.getType() != getElementTypeOrSelf(empty.getType()))
      return declineOp(op, "for accumulators of another type");
    accumulators.push_back(
        builder.create<linalg::FillOp>(op->getLoc(), scalar, empty)
            .getResult(0));
    maps.push_back(resultMap);
  }

  bool emitted = true;
  auto generic = builder.create<linalg::GenericOp>(
      op->getLoc(), TypeRange(ValueRange(accumulators)), inputs, accumulators,
      maps, loops,
      [&](OpBuilder &inner, Location location, ValueRange arguments) {
        // The body takes accumulators first, generic passes them last.
        SmallVector<Value> ordered(arguments.drop_front(inputs.size()));
        llvm::append_range(ordered, arguments.take_front(inputs.size()));
        auto results = lowerScalarBody(inner, reduce.getBody().front(), ordered);
        emitted &= succeeded(results);
        inner.create<linalg::YieldOp>(
            location, succeeded(results)
                          ? ValueRange(*results)
                          : arguments.drop_front(inputs.size()));
      });
  for (auto [source, lowered] :
       llvm::zip_equal(reduce.getResults(), generic.getResults()))
    lowering.set(source, lowered);
  return success(emitted);
}

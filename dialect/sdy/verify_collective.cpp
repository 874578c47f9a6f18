// Rules of the collectives: the sharding of the operand, changed as the op
// says, must be the sharding of the result.

#include "dialect/sdy/ops.h"
#include "dialect/sdy/verify_sharding.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::sdy;

namespace {

/// What may be missing or differ before the collective.
enum class Needs { SameMesh, AnyMesh, NoSharding };

/// Both shardings of a collective as spans of axes.
struct Collective {
  MeshAttr mesh;
  llvm::SmallVector<AxisSpans> before, after; ///< For each dimension.
  AxisSpans replicatedBefore, unreducedBefore, replicatedAfter, unreducedAfter;
  ReductionOp reductionBefore = ReductionOp::SUM;
  ReductionOp reductionAfter = ReductionOp::SUM;
  MeshAttr meshBefore;
};

} // namespace

/// Fills `result` after the rules that all collectives share.
static LogicalResult readShardings(Operation *op, TensorShardingAttr after,
                                   Needs needs, Collective &result) {
  Value operand = op->getOperand(0);
  TensorShardingAttr before = findSharding(operand);
  if (!before && needs != Needs::NoSharding)
    return op->emitOpError() << "operand must have a sharding";
  if (failed(verifySharding(after, op->getResult(0).getType(), op,
                            [&] { return op->emitOpError() << "result: "; })))
    return failure();
  // The operand's own place may not have been looked at yet.
  if (before && failed(verifySharding(before, operand.getType(), op, [&] {
        return op->emitOpError() << "operand: ";
      })))
    return failure();
  result.mesh = after.lookupMesh(op);
  result.meshBefore = before ? before.lookupMesh(op) : result.mesh;
  if (needs != Needs::AnyMesh && result.meshBefore != result.mesh)
    return op->emitOpError()
           << "operand and result must be of one mesh: " << result.meshBefore
           << " and " << result.mesh;
  if (before && before.getRank() != after.getRank())
    return op->emitOpError() << "shardings of operand and result must have one "
                                "rank: "
                             << before.getRank() << " and " << after.getRank();

  for (DimensionShardingAttr dim : after.getDimShardings())
    result.after.push_back(getSpans(dim.getAxes(), result.mesh));
  result.replicatedAfter = getSpans(after.getReplicatedAxes(), result.mesh);
  result.unreducedAfter = getSpans(after.getUnreducedAxes(), result.mesh);
  result.reductionAfter = after.getReductionOp();
  if (!before) {
    result.before.resize(after.getRank());
    return success();
  }
  for (DimensionShardingAttr dim : before.getDimShardings())
    result.before.push_back(getSpans(dim.getAxes(), result.meshBefore));
  result.replicatedBefore =
      getSpans(before.getReplicatedAxes(), result.meshBefore);
  result.unreducedBefore =
      getSpans(before.getUnreducedAxes(), result.meshBefore);
  result.reductionBefore = before.getReductionOp();
  return success();
}

static LogicalResult expectDimension(Operation *op, size_t dim,
                                     ArrayRef<AxisSpan> expected,
                                     ArrayRef<AxisSpan> actual) {
  if (expected == actual)
    return success();
  return op->emitOpError() << "result must be split along "
                           << toString(expected) << " in dimension " << dim
                           << ": " << toString(actual);
}

/// Applies `change` to the axes of each dimension and compares.
static LogicalResult verifyPerDimension(
    Operation *op, Collective &shardings, ArrayRef<AxisRefListAttr> axesPerDim,
    llvm::function_ref<LogicalResult(size_t, AxisSpans &, ArrayRef<AxisSpan>)>
        change) {
  if (axesPerDim.size() != shardings.after.size())
    return op->emitOpError()
           << "there must be an axis list for each "
              "dimension: "
           << axesPerDim.size() << " for " << shardings.after.size();
  AxisSpans seen;
  for (auto [dim, axes] : llvm::enumerate(axesPerDim)) {
    if (failed(verifyAxes(axes.getValue(), shardings.mesh, seen,
                          [&] { return op->emitOpError(); })))
      return failure();
    AxisSpans expected = shardings.before[dim];
    if (failed(
            change(dim, expected, getSpans(axes.getValue(), shardings.mesh))) ||
        failed(expectDimension(op, dim, expected, shardings.after[dim])))
      return failure();
  }
  return success();
}

/// Takes `axes` from the minor end of a dimension.
static LogicalResult gather(Operation *op, size_t dim, AxisSpans &spans,
                            ArrayRef<AxisSpan> axes) {
  for (const AxisSpan &axis : llvm::reverse(axes))
    if (!removeSuffix(spans, axis))
      return op->emitOpError()
             << "operand is not split last along " << toString(axis)
             << " in dimension " << dim << ": " << toString(spans);
  return success();
}

static LogicalResult slice(AxisSpans &spans, ArrayRef<AxisSpan> axes) {
  for (const AxisSpan &axis : axes)
    append(spans, axis);
  return success();
}

static bool overlapsAny(const AxisSpan &span, ArrayRef<AxisSpan> others) {
  return llvm::any_of(
      others, [&](const AxisSpan &other) { return other.overlaps(span); });
}

/// A reduction may only use up unreduced axes, with its own kind of
/// combining.
static LogicalResult verifyReduction(Operation *op,
                                     std::optional<ReductionOp> given,
                                     const Collective &shardings) {
  ReductionOp reduction = given.value_or(ReductionOp::SUM);
  for (const AxisSpan &axis : shardings.unreducedAfter)
    if (!overlapsAny(axis, shardings.unreducedBefore))
      return op->emitOpError()
             << "result must not be unreduced along axes that the operand is "
                "not: "
             << toString(axis);
  bool removes =
      llvm::any_of(shardings.unreducedBefore, [&](const AxisSpan &axis) {
        return !llvm::is_contained(shardings.unreducedAfter, axis);
      });
  if (removes && reduction != shardings.reductionBefore)
    return op->emitOpError() << "reduction must be that of the operand: "
                             << stringifyReductionOp(reduction) << " and "
                             << stringifyReductionOp(shardings.reductionBefore);
  return success();
}

/// The axes that were unreduced and `added` ones must be so afterwards.
static LogicalResult verifyUnreduced(Operation *op, AxisSpans added,
                                     const Collective &shardings) {
  if (shardings.reductionAfter != ReductionOp::SUM)
    return op->emitOpError() << "result must be unreduced by sum: "
                             << stringifyReductionOp(shardings.reductionAfter);
  llvm::append_range(added, shardings.unreducedBefore);
  sortAndMerge(added);
  AxisSpans actual = shardings.unreducedAfter;
  if (added != actual)
    return op->emitOpError() << "result must be unreduced along "
                             << toString(added) << ": " << toString(actual);
  return success();
}

LogicalResult AllGatherOp::verifySymbolUses(SymbolTableCollection &) {
  Collective shardings;
  if (failed(
          readShardings(*this, getOutSharding(), Needs::SameMesh, shardings)))
    return failure();
  return verifyPerDimension(
      *this, shardings, getGatheringAxes(),
      [&](size_t dim, AxisSpans &spans, ArrayRef<AxisSpan> axes) {
        return gather(*this, dim, spans, axes);
      });
}

LogicalResult AllSliceOp::verifySymbolUses(SymbolTableCollection &) {
  Collective shardings;
  if (failed(
          readShardings(*this, getOutSharding(), Needs::NoSharding, shardings)))
    return failure();
  return verifyPerDimension(
      *this, shardings, getSlicingAxes(),
      [](size_t, AxisSpans &spans, ArrayRef<AxisSpan> axes) {
        return slice(spans, axes);
      });
}

LogicalResult ReduceScatterOp::verifySymbolUses(SymbolTableCollection &) {
  Collective shardings;
  if (failed(readShardings(*this, getOutSharding(), Needs::NoSharding,
                           shardings)) ||
      failed(verifyReduction(*this, getReductionOp(), shardings)))
    return failure();
  return verifyPerDimension(
      *this, shardings, getReduceScatterAxes(),
      [](size_t, AxisSpans &spans, ArrayRef<AxisSpan> axes) {
        return slice(spans, axes);
      });
}

LogicalResult ShardedToUnreducedOp::verifySymbolUses(SymbolTableCollection &) {
  Collective shardings;
  if (failed(
          readShardings(*this, getOutSharding(), Needs::SameMesh, shardings)))
    return failure();
  AxisSpans moved;
  auto move = [&](size_t dim, AxisSpans &spans, ArrayRef<AxisSpan> axes) {
    llvm::append_range(moved, axes);
    return gather(*this, dim, spans, axes);
  };
  if (failed(verifyPerDimension(*this, shardings, getAxes(), move)))
    return failure();
  return verifyUnreduced(*this, std::move(moved), shardings);
}

LogicalResult
ReplicatedToUnreducedOp::verifySymbolUses(SymbolTableCollection &) {
  Collective shardings;
  AxisSpans axes;
  if (failed(
          readShardings(*this, getOutSharding(), Needs::SameMesh, shardings)))
    return failure();
  if (getAxes().empty())
    return emitOpError() << "there must be an axis";
  if (failed(verifySortedAxes(getAxes(), shardings.mesh, axes, "moved",
                              [&] { return emitOpError(); })))
    return failure();
  for (auto [dim, before] : llvm::enumerate(shardings.before)) {
    if (failed(expectDimension(*this, dim, before, shardings.after[dim])))
      return failure();
    for (const AxisSpan &axis : axes)
      if (overlapsAny(axis, before))
        return emitOpError()
               << "axis must be replicated in the operand: " << toString(axis);
  }
  for (const AxisSpan &axis : axes)
    if (overlapsAny(axis, shardings.unreducedBefore))
      return emitOpError() << "axis must be replicated in the operand: "
                           << toString(axis);
  return verifyUnreduced(*this, std::move(axes), shardings);
}

LogicalResult AllReduceOp::verifySymbolUses(SymbolTableCollection &) {
  Collective shardings;
  AxisSpans axes;
  if (failed(readShardings(*this, getOutSharding(), Needs::NoSharding,
                           shardings)) ||
      failed(verifySortedAxes(getReductionAxes(), shardings.mesh, axes,
                              "reduction", [&] { return emitOpError(); })))
    return failure();
  for (auto [dim, before] : llvm::enumerate(shardings.before))
    if (failed(expectDimension(*this, dim, before, shardings.after[dim])))
      return failure();
  for (const AxisSpan &axis : axes) {
    bool isSplit = overlapsAny(axis, shardings.replicatedBefore);
    for (const AxisSpans &before : shardings.before)
      isSplit |= overlapsAny(axis, before);
    if (isSplit)
      return emitOpError() << "reduction axis must not split the operand or "
                              "be replicated: "
                           << toString(axis);
    if (overlapsAny(axis, shardings.unreducedAfter))
      return emitOpError() << "result must not be unreduced along a reduction "
                              "axis: "
                           << toString(axis);
  }
  return verifyReduction(*this, getReductionOp(), shardings);
}

LogicalResult AllToAllOp::verifySymbolUses(SymbolTableCollection &) {
  Collective shardings;
  if (failed(
          readShardings(*this, getOutSharding(), Needs::SameMesh, shardings)))
    return failure();
  if (getParams().empty())
    return emitOpError() << "there must be a parameter";
  int64_t rank = int64_t(shardings.after.size()), last = -1;
  llvm::SmallBitVector seenDims(rank);
  AxisSpans seen;
  SmallVector<AxisSpans> expected = shardings.before;
  for (AllToAllParamAttr param : getParams()) {
    if (failed(verifyAxes(param.getAxes(), shardings.mesh, seen,
                          [&] { return emitOpError(); })))
      return failure();
    for (int64_t dim : {param.getSrcDim(), param.getTgtDim()}) {
      if (dim < 0 || dim >= rank)
        return emitOpError()
               << "dimension must be 0 to " << rank - 1 << ": " << dim;
      if (seenDims.test(unsigned(dim)))
        return emitOpError() << "dimension is used twice: " << dim;
      seenDims.set(unsigned(dim));
    }
    if (param.getSrcDim() < last)
      return emitOpError() << "source dimensions must rise: "
                           << param.getSrcDim() << " after " << last;
    last = param.getSrcDim();
    AxisSpans axes = getSpans(param.getAxes(), shardings.mesh);
    if (failed(gather(*this, size_t(param.getSrcDim()),
                      expected[param.getSrcDim()], axes)) ||
        failed(slice(expected[param.getTgtDim()], axes)))
      return failure();
  }
  for (auto [dim, spans] : llvm::enumerate(expected))
    if (failed(expectDimension(*this, dim, spans, shardings.after[dim])))
      return failure();
  return success();
}

LogicalResult CollectivePermuteOp::verifySymbolUses(SymbolTableCollection &) {
  Collective shardings;
  if (failed(readShardings(*this, getOutSharding(), Needs::AnyMesh, shardings)))
    return failure();
  if (shardings.mesh.getAxes() != shardings.meshBefore.getAxes())
    return emitOpError() << "meshes must have the same axes: "
                         << shardings.meshBefore << " and " << shardings.mesh;
  TensorShardingAttr before = findSharding(getTensor());
  if (before.getMeshOrRef() != getOutSharding().getMeshOrRef() &&
      shardings.mesh == shardings.meshBefore)
    return emitOpError() << "meshes of two names must differ in the order of "
                            "devices: "
                         << before.getMeshOrRef() << " and "
                         << getOutSharding().getMeshOrRef();
  auto count = [](ArrayRef<AxisSpan> spans) {
    int64_t product = 1;
    for (const AxisSpan &span : spans)
      product *= span.end / span.begin;
    return product;
  };
  for (auto [dim, entry] :
       llvm::enumerate(llvm::zip_equal(shardings.before, shardings.after))) {
    int64_t before = count(std::get<0>(entry)),
            after = count(std::get<1>(entry));
    if (before != after)
      return emitOpError() << "dimension " << dim
                           << " must stay in as many pieces: " << before
                           << " and " << after;
  }
  return success();
}

#include "dialect/sdy/verify_sharding.h"
#include "dialect/sdy/ops.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::sdy;

/// `"a":(2)4` is a part of an axis of `size`.
static LogicalResult verifyPart(AxisRefAttr axis, SubAxisInfoAttr part,
                                int64_t size, ErrorReporter report) {
  if (part.getPreSize() < 1)
    return report() << "pre-size of a sub-axis must be at least 1: "
                    << axis.toString();
  if (part.getSize() <= 1)
    return report() << "size of a sub-axis must be greater than 1: "
                    << axis.toString();
  if (part.getPreSize() > size || part.getSize() > size ||
      size % part.getPreSize() != 0 ||
      (size / part.getPreSize()) % part.getSize() != 0)
    return report() << "sub-axis must divide its axis of size " << size << ": "
                    << axis.toString();
  if (part.getSize() == size)
    return report() << "sub-axis is its whole axis of size " << size << ": "
                    << axis.toString();
  return success();
}

LogicalResult mlir::sdy::verifyAxes(ArrayRef<AxisRefAttr> axes, MeshAttr mesh,
                                    AxisSpans &seen, ErrorReporter report) {
  std::optional<AxisSpan> last;
  for (AxisRefAttr axis : axes) {
    MeshAxisAttr full = mesh.findAxis(axis.getName());
    if (!full)
      return report() << "mesh has no axis \"" << axis.getName() << "\"";
    if (SubAxisInfoAttr part = axis.getSubAxisInfo())
      if (failed(verifyPart(axis, part, full.getSize(), report)))
        return failure();
    AxisSpan span = AxisSpan::get(axis, mesh);
    for (const AxisSpan &other : seen)
      if (span == other)
        return report() << "axis is used twice: " << axis.toString();
      else if (span.overlaps(other))
        return report() << "axes overlap: "
                        << other.toAttr(mesh.getContext()).toString() << " and "
                        << axis.toString();
    if (last && last->continuesWith(span))
      return report() << "sub-axes next to each other must be written as one: "
                      << last->toAttr(mesh.getContext()).toString() << ", "
                      << axis.toString();
    seen.push_back(span);
    last = span;
  }
  return success();
}

LogicalResult mlir::sdy::verifySortedAxes(ArrayRef<AxisRefAttr> axes,
                                          MeshAttr mesh, AxisSpans &seen,
                                          StringRef kind,
                                          ErrorReporter report) {
  if (failed(verifyAxes(axes, mesh, seen, report)))
    return failure();
  AxisSpans spans = getSpans(axes, mesh);
  if (!llvm::is_sorted(spans))
    return report() << kind << " axes must be in the order of the mesh: "
                    << toString(spans);
  return success();
}

static bool hasAnything(TensorShardingAttr sharding) {
  return sharding.getRank() != 0 || !sharding.getReplicatedAxes().empty() ||
         !sharding.getUnreducedAxes().empty();
}

/// No axis may belong to a manual computation around `op`.
static LogicalResult verifyNotManual(TensorShardingAttr sharding, Operation *op,
                                     ErrorReporter report) {
  for (auto parent = op->getParentOfType<ManualComputationOp>(); parent;
       parent = parent->getParentOfType<ManualComputationOp>()) {
    StringRef manual;
    sharding.forEachAxis([&](AxisRefAttr axis) {
      for (StringAttr name : parent.getManualAxes())
        if (name.getValue() == axis.getName())
          manual = name.getValue();
    });
    if (!manual.empty()) {
      InFlightDiagnostic error = report();
      error << "axis belongs to the manual computation around it: \"" << manual
            << "\"";
      error.attachNote(parent.getLoc()) << "the manual computation";
      return error;
    }
  }
  return success();
}

LogicalResult mlir::sdy::verifySharding(TensorShardingAttr sharding, Type type,
                                        Operation *op, ErrorReporter report) {
  MeshAttr mesh = sharding.lookupMesh(op);
  if (!mesh)
    return report() << "module has no mesh " << sharding.getMeshOrRef();
  if (mesh.isMaximal()) {
    if (hasAnything(sharding))
      return report() << "sharding on a mesh of one device must have no "
                         "dimensions and no axes: "
                      << sharding;
    return success();
  }

  if (auto tuple = dyn_cast_or_null<TupleType>(type)) {
    if (tuple.size() != 1)
      return report() << "only a tuple of one value can have a sharding: "
                      << type;
    type = tuple.getType(0);
  }
  auto shaped = dyn_cast_or_null<ShapedType>(type);
  if (!shaped) {
    if (!hasAnything(sharding))
      return success();
    InFlightDiagnostic error = report();
    error << "sharding of what is no tensor must have no dimensions and no "
             "axes: "
          << sharding;
    if (type)
      error << " for " << type;
    return error;
  }
  if (!shaped.hasRank())
    return report() << "only a ranked tensor can have a sharding: " << type;
  if (sharding.getRank() != shaped.getRank())
    return report() << "sharding must have the rank of the tensor: "
                    << sharding.getRank() << " and " << shaped.getRank();

  AxisSpans seen;
  for (auto [index, dim] : llvm::enumerate(sharding.getDimShardings())) {
    if (dim.getPriority() && *dim.getPriority() < 0)
      return report() << "priority must not be negative: " << *dim.getPriority()
                      << " of dimension " << index;
    if (dim.getPriority() && dim.getIsClosed() && dim.getAxes().empty())
      return report() << "a closed dimension without axes has no use for a "
                         "priority: dimension "
                      << index;
    if (failed(verifyAxes(dim.getAxes(), mesh, seen, report)))
      return failure();
  }
  if (failed(verifySortedAxes(sharding.getReplicatedAxes(), mesh, seen,
                              "replicated", report)) ||
      failed(verifySortedAxes(sharding.getUnreducedAxes(), mesh, seen,
                              "unreduced", report)))
    return failure();
  return verifyNotManual(sharding, op, report);
}

LogicalResult mlir::sdy::verifyShardings(TensorShardingPerValueAttr shardings,
                                         TypeRange types, Operation *op,
                                         StringRef kind) {
  ArrayRef<TensorShardingAttr> list = shardings.getShardings();
  // An op without results may still be placed on a device.
  if (types.empty() && list.size() == 1)
    return verifySharding(list.front(), Type(), op,
                          [&] { return op->emitOpError(); });
  if (list.size() != types.size())
    return op->emitOpError() << "there must be a sharding for each " << kind
                             << ": " << list.size() << " for " << types.size();
  for (auto [index, entry] : llvm::enumerate(llvm::zip_equal(list, types))) {
    size_t number = index;
    auto report = [&] {
      return op->emitOpError() << kind << " " << number << ": ";
    };
    if (failed(
            verifySharding(std::get<0>(entry), std::get<1>(entry), op, report)))
      return failure();
  }
  return success();
}

/// The entry for value `index`, or null.
static TensorShardingAttr getEntry(TensorShardingPerValueAttr shardings,
                                   unsigned index) {
  if (!shardings || index >= shardings.getShardings().size())
    return {};
  return shardings.getShardings()[index];
}

/// What is left inside a manual computation: its own axes are gone.
static TensorShardingAttr withoutAxes(TensorShardingAttr sharding,
                                      ArrayRef<StringAttr> manual) {
  if (!sharding)
    return {};
  auto isFree = [&](AxisRefAttr axis) {
    return llvm::none_of(manual, [&](StringAttr name) {
      return name.getValue() == axis.getName();
    });
  };
  auto keep = [&](ArrayRef<AxisRefAttr> axes) {
    return llvm::to_vector(llvm::make_filter_range(axes, isFree));
  };
  MLIRContext *context = sharding.getContext();
  SmallVector<DimensionShardingAttr> dims;
  for (DimensionShardingAttr dim : sharding.getDimShardings())
    dims.push_back(DimensionShardingAttr::get(
        context, keep(dim.getAxes()), dim.getIsClosed(), dim.getPriority()));
  return TensorShardingAttr::get(context, sharding.getMeshOrRef(), dims,
                                 keep(sharding.getReplicatedAxes()),
                                 keep(sharding.getUnreducedAxes()),
                                 sharding.getReductionOp());
}

TensorShardingAttr mlir::sdy::findSharding(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    unsigned index = argument.getArgNumber();
    if (!parent || !argument.getOwner()->isEntryBlock())
      return {};
    if (auto manual = dyn_cast<ManualComputationOp>(parent))
      return withoutAxes(getEntry(manual.getInShardings(), index),
                         manual.getManualAxes());
    if (auto named = dyn_cast<NamedComputationOp>(parent))
      return getEntry(named.getInShardingsAttr(), index);
    if (auto function = dyn_cast<FunctionOpInterface>(parent))
      return dyn_cast_or_null<TensorShardingAttr>(
          function.getArgAttr(index, shardingAttrName));
    return {};
  }
  auto result = cast<OpResult>(value);
  Operation *op = result.getOwner();
  unsigned index = result.getResultNumber();
  return llvm::TypeSwitch<Operation *, TensorShardingAttr>(op)
      .Case<ShardingConstraintOp, ReshardOp>(
          [](auto op) { return op.getSharding(); })
      .Case<DataFlowEdgeOp>([](auto op) { return op.getShardingAttr(); })
      .Case<AllGatherOp, AllSliceOp, AllToAllOp, CollectivePermuteOp,
            AllReduceOp, ReduceScatterOp, ShardedToUnreducedOp,
            ReplicatedToUnreducedOp>(
          [](auto op) { return op.getOutSharding(); })
      .Case<ManualComputationOp>(
          [&](auto op) { return getEntry(op.getOutShardings(), index); })
      .Case<NamedComputationOp>(
          [&](auto op) { return getEntry(op.getOutShardingsAttr(), index); })
      .Default([&](Operation *op) {
        return getEntry(
            op->getAttrOfType<TensorShardingPerValueAttr>(shardingAttrName),
            index);
      });
}

// Rules of the ops that refer to meshes, but for the collectives.

#include "dialect/sdy/ops.h"
#include "dialect/sdy/verify_sharding.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace mlir::sdy;

/// The sharding of `value`; a barrier has that of its input.
static TensorShardingAttr findShardingThroughBarriers(Value value) {
  while (auto barrier = value.getDefiningOp<PropagationBarrierOp>())
    value = barrier.getInput();
  return findSharding(value);
}

/// What stays unreduced keeps its reduction, and what becomes unreduced is a
/// sum: other parts would need a neutral element on the other devices.
static LogicalResult verifyReductionKept(Operation *op,
                                         TensorShardingAttr after) {
  TensorShardingAttr before = findShardingThroughBarriers(op->getOperand(0));
  if (!before || after.getUnreducedAxes().empty())
    return success();
  MeshAttr mesh = after.lookupMesh(op);
  auto isKnown = [&](AxisRefAttr axis) {
    return bool(mesh.findAxis(axis.getName()));
  };
  // Two meshes can't be compared axis by axis.
  if (before.lookupMesh(op) != mesh ||
      !llvm::all_of(before.getUnreducedAxes(), isKnown))
    return success();
  AxisSpans old = getSpans(before.getUnreducedAxes(), mesh);
  for (const AxisSpan &axis : getSpans(after.getUnreducedAxes(), mesh)) {
    bool isKept = llvm::any_of(
        old, [&](const AxisSpan &other) { return other.overlaps(axis); });
    if (isKept && before.getReductionOp() == after.getReductionOp())
      continue;
    if (isKept)
      return op->emitOpError()
             << "axis must keep its reduction: " << toString(axis) << " from "
             << stringifyReductionOp(before.getReductionOp()) << " to "
             << stringifyReductionOp(after.getReductionOp());
    if (after.getReductionOp() != ReductionOp::SUM)
      return op->emitOpError()
             << "axis can become unreduced by sum only: " << toString(axis)
             << " by " << stringifyReductionOp(after.getReductionOp());
  }
  return success();
}

LogicalResult ShardingConstraintOp::verifySymbolUses(SymbolTableCollection &) {
  if (failed(verifySharding(getSharding(), getType(), *this,
                            [&] { return emitOpError(); })))
    return failure();
  return verifyReductionKept(*this, getSharding());
}

LogicalResult ReshardOp::verifySymbolUses(SymbolTableCollection &) {
  if (failed(verifySharding(getSharding(), getType(), *this,
                            [&] { return emitOpError(); })))
    return failure();
  return verifyReductionKept(*this, getSharding());
}

LogicalResult DataFlowEdgeOp::verifySymbolUses(SymbolTableCollection &) {
  if (!cast<ShapedType>(getType()).hasStaticShape())
    return emitOpError() << "shape must be static: " << getType();
  if (!getInput().hasOneUse())
    return emitOpError() << "input must have no other use";
  Operation *definition = getInput().getDefiningOp();
  if (definition && isa_and_nonnull<SdyDialect>(definition->getDialect()) &&
      !isa<ManualComputationOp, NamedComputationOp>(definition)) {
    InFlightDiagnostic error = emitOpError()
                               << "input must not come from an annotation: "
                               << definition->getName();
    error.attachNote(definition->getLoc()) << "the annotation";
    return error;
  }
  if (TensorShardingAttr sharding = getShardingAttr())
    return verifySharding(sharding, getType(), *this,
                          [&] { return emitOpError(); });
  return success();
}

LogicalResult NamedComputationOp::verifySymbolUses(SymbolTableCollection &) {
  Block &block = getBody().front();
  if (TypeRange(getOperands()) != TypeRange(block.getArgumentTypes()))
    return emitOpError() << "arguments of the body must have the types of the "
                            "operands: "
                         << block.getArgumentTypes() << " and "
                         << getOperandTypes();
  Operation *terminator = block.getTerminator();
  if (TypeRange(terminator->getOperandTypes()) != getResultTypes())
    return emitOpError() << "body must return the types of the results: "
                         << terminator->getOperandTypes() << " and "
                         << getResultTypes();
  if (auto shardings = getInShardingsAttr())
    if (failed(verifyShardings(shardings, getOperandTypes(), *this, "operand")))
      return failure();
  if (auto shardings = getOutShardingsAttr())
    return verifyShardings(shardings, getResultTypes(), *this, "result");
  return success();
}

namespace {

/// Checks the inside of a manual computation against its outside.
class ManualComputationVerifier {
public:
  explicit ManualComputationVerifier(ManualComputationOp op) : op(op) {}

  LogicalResult verify() {
    Block &block = op.getBody().front();
    if (failed(verifyOwnAxes()) ||
        failed(verifySide("operand", op.getOperandTypes(),
                          block.getArgumentTypes(), op.getInShardings())) ||
        failed(verifySide("result", op.getResultTypes(),
                          block.getTerminator()->getOperandTypes(),
                          op.getOutShardings())))
      return failure();
    return verifyMesh();
  }

private:
  bool isManual(AxisRefAttr axis) {
    return llvm::any_of(op.getManualAxes(), [&](StringAttr name) {
      return name.getValue() == axis.getName();
    });
  }

  /// No axis is manual twice, here or in a computation around this one.
  LogicalResult verifyOwnAxes() {
    llvm::SmallPtrSet<const void *, 4> seen;
    for (StringAttr name : op.getManualAxes())
      if (!seen.insert(name.getAsOpaquePointer()).second)
        return op.emitOpError() << "manual axis is named twice: " << name;
    for (auto parent = op->getParentOfType<ManualComputationOp>(); parent;
         parent = parent->getParentOfType<ManualComputationOp>())
      for (StringAttr name : parent.getManualAxes())
        if (llvm::is_contained(op.getManualAxes(), name)) {
          InFlightDiagnostic error =
              op.emitOpError()
              << "manual axis belongs to the manual computation around it: "
              << name;
          error.attachNote(parent.getLoc()) << "the manual computation";
          return error;
        }
    return success();
  }

  LogicalResult verifySide(StringRef kind, TypeRange outside, TypeRange inside,
                           TensorShardingPerValueAttr shardings) {
    if (outside.empty() && inside.empty() && shardings.getShardings().empty())
      return success();
    if (failed(verifyShardings(shardings, outside, op, kind)))
      return failure();
    if (outside.size() != inside.size())
      return op.emitOpError()
             << "body must have as many " << kind
             << "s as the op: " << inside.size() << " and " << outside.size();
    for (auto [index, entry] : llvm::enumerate(
             llvm::zip_first(shardings.getShardings(), outside, inside)))
      if (failed(verifyValue(kind, index, std::get<1>(entry),
                             std::get<2>(entry), std::get<0>(entry))))
        return failure();
    return success();
  }

  LogicalResult verifyValue(StringRef kind, size_t index, Type outside,
                            Type inside, TensorShardingAttr sharding) {
    auto global = dyn_cast<ShapedType>(outside);
    MeshAttr mesh = sharding.lookupMesh(op);
    if (!global || mesh.isMaximal())
      return success();
    SmallVector<int64_t> shape;
    for (auto [dim, entry] : llvm::enumerate(
             llvm::zip_equal(sharding.getDimShardings(), global.getShape()))) {
      ArrayRef<AxisRefAttr> axes = std::get<0>(entry).getAxes();
      int64_t size = std::get<1>(entry), pieces = 1;
      AxisRefAttr free;
      for (AxisRefAttr axis : axes) {
        if (!isManual(axis)) {
          free = axis;
          continue;
        }
        if (free)
          return op.emitOpError()
                 << kind << " " << index
                 << ": manual axes must come before the others in dimension "
                 << dim << ": " << axis.toString() << " after "
                 << free.toString();
        pieces *= axis.getSize(mesh);
      }
      if (ShapedType::isDynamic(size)) {
        shape.push_back(size);
        continue;
      }
      if (size % pieces != 0)
        return op.emitOpError()
               << kind << " " << index << ": dimension " << dim
               << " must be divisible by its manual axes: " << size << " by "
               << pieces;
      shape.push_back(size / pieces);
    }
    auto local = dyn_cast<ShapedType>(inside);
    if (!local || !local.hasRank() || local.getShape() != ArrayRef(shape) ||
        local.getElementType() != global.getElementType())
      return op.emitOpError()
             << kind << " " << index << ": type inside must be "
             << global.clone(shape) << ": " << inside;
    return success();
  }

  /// All shardings are of one mesh, or of one that is not chosen yet, and the
  /// manual axes are in it.
  LogicalResult verifyMesh() {
    if (op.getManualAxes().empty())
      return success();
    SmallVector<TensorShardingAttr> shardings(
        op.getInShardings().getShardings());
    llvm::append_range(shardings, op.getOutShardings().getShardings());
    MeshAttr common;
    for (TensorShardingAttr sharding : shardings) {
      MeshAttr mesh = sharding.lookupMesh(op);
      if (mesh.isEmpty() || mesh == common)
        continue;
      if (common && common.getAxes() != mesh.getAxes())
        return op.emitOpError() << "shardings must be of one mesh: " << common
                                << " and " << mesh;
      common = mesh;
    }
    if (!common)
      return success();
    for (StringAttr name : op.getManualAxes())
      if (!common.findAxis(name.getValue()))
        return op.emitOpError() << "mesh has no axis " << name;
    return success();
  }

  ManualComputationOp op;
};

} // namespace

LogicalResult ManualComputationOp::verifySymbolUses(SymbolTableCollection &) {
  return ManualComputationVerifier(*this).verify();
}

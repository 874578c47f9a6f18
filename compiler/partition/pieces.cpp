#include "compiler/partition/pieces.h"

#include "dialect/sdy/ops.h"
#include "dialect/stablehlo/ops.h"

using namespace mlir;
using namespace alula::partition;

/// The whole array that pieces make.
Value Pieces::gather(Value piece, const Placement &placement) {
  auto type = dyn_cast<RankedTensorType>(piece.getType());
  if (!type || placement.isWhole())
    return piece;
  Value whole = piece;
  if (!placement.unreduced.empty())
    whole = addUp(whole, placement);
  for (auto [dim, axes] : llvm::enumerate(placement.dims)) {
    if (axes.empty())
      continue;
    auto current = cast<RankedTensorType>(whole.getType());
    SmallVector<int64_t> shape(current.getShape());
    shape[dim] *= placement.countShards(axes);
    auto gathered = rewriter.create<stablehlo::AllGatherOp>(
        piece.getLoc(), TypeRange{current.clone(shape)}, ValueRange{whole},
        rewriter.getI64IntegerAttr(static_cast<int64_t>(dim)),
        makeGroups(placement.getGroups(axes)),
        stablehlo::ChannelHandleAttr::get(rewriter.getContext(), 1, 1),
        rewriter.getUnitAttr());
    whole = gathered.getResults().front();
  }
  return whole;
}

/// The sum of the parts.
Value Pieces::addUp(Value part, const Placement &placement) {
  Type type = part.getType();
  OperationState state(part.getLoc(),
                       stablehlo::AllReduceOp::getOperationName());
  state.addOperands(part);
  state.addTypes(type);
  state.addAttribute("replica_groups",
                     makeGroups(placement.getGroups(placement.unreduced)));
  state.addAttribute("channel_handle", stablehlo::ChannelHandleAttr::get(
                                           rewriter.getContext(), 1, 1));
  state.addAttribute("use_global_device_ids", rewriter.getUnitAttr());
  auto scalar = RankedTensorType::get({}, getElementTypeOrSelf(type));
  state.addRegion();
  OpBuilder::InsertionGuard guard(rewriter);
  Operation *op = rewriter.create(state);
  Block *block = rewriter.createBlock(&op->getRegion(0), {}, {scalar, scalar},
                                      {part.getLoc(), part.getLoc()});
  Value sum = rewriter.create<stablehlo::AddOp>(
      part.getLoc(), block->getArgument(0), block->getArgument(1));
  rewriter.create<stablehlo::ReturnOp>(part.getLoc(), sum);
  return op->getResult(0);
}

DenseIntElementsAttr Pieces::makeGroups(ArrayRef<SmallVector<int64_t>> groups) {
  SmallVector<int64_t> flat;
  for (auto &group : groups)
    llvm::append_range(flat, group);
  auto width = static_cast<int64_t>(groups.front().size());
  auto type = RankedTensorType::get(
      {static_cast<int64_t>(groups.size()), width}, rewriter.getI64Type());
  return DenseIntElementsAttr::get(type, flat);
}

/// This device's piece of a whole array.
FailureOr<Value> Pieces::localize(Operation *op, Value whole,
                                  const Placement &placement) {
  auto type = dyn_cast<RankedTensorType>(whole.getType());
  if (!type || placement.isWhole())
    return whole;
  RankedTensorType local = placement.getLocalType(type);
  if (!local)
    return op->emitOpError()
           << "an array of type " << type << " can't be divided as "
           << placement.printForXla();
  Location location = op->getLoc();
  Value id = rewriter.create<stablehlo::PartitionIdOp>(
      location, RankedTensorType::get(
                    {}, rewriter.getIntegerType(32, /*isSigned=*/false)));
  Value piece = whole;
  if (local != type) {
    SmallVector<Value> starts;
    for (auto [dim, axes] : llvm::enumerate(placement.dims))
      starts.push_back(makeStart(location, id, placement, dim,
                                 local.getDimSize(static_cast<unsigned>(dim))));
    piece = rewriter.create<stablehlo::DynamicSliceOp>(
        location, local, whole, starts, local.getShape());
  }
  return placement.unreduced.empty() ? piece : keepOnce(piece, id, placement);
}

/// The array on one of the devices whose parts are added up, else zeros.
Value Pieces::keepOnce(Value piece, Value id, const Placement &placement) {
  Location location = piece.getLoc();
  auto type = cast<RankedTensorType>(piece.getType());
  SmallVector<bool> keeps(static_cast<size_t>(devices));
  for (int64_t at = 0; at < devices; ++at)
    keeps[static_cast<size_t>(getDevice(placement.mesh, at))] =
        placement.getShard(placement.unreduced, at) == 0;
  Type flag = rewriter.getI1Type();
  Value table = rewriter.create<stablehlo::ConstantOp>(
      location, DenseElementsAttr::get(RankedTensorType::get({devices}, flag),
                                       llvm::ArrayRef<bool>(keeps)));
  Value one = rewriter.create<stablehlo::DynamicSliceOp>(
      location, RankedTensorType::get({1}, flag), table, ValueRange{id},
      ArrayRef<int64_t>{1});
  Value keep = rewriter.create<stablehlo::ReshapeOp>(
      location, RankedTensorType::get({}, flag), one);
  Value zeros = rewriter.create<stablehlo::SubtractOp>(location, piece, piece);
  return rewriter.create<stablehlo::SelectOp>(location, type, keep, piece,
                                              zeros);
}

/// Where the piece begins along a dimension, looked up by the device.
Value Pieces::makeStart(Location location, Value id, const Placement &placement,
                        size_t dim, int64_t size) {
  Type number = rewriter.getI32Type();
  auto scalar = RankedTensorType::get({}, number);
  if (placement.dims[dim].empty())
    return rewriter.create<stablehlo::ConstantOp>(
        location, DenseElementsAttr::get(scalar, int32_t(0)));
  std::vector<int32_t> starts(static_cast<size_t>(devices));
  for (int64_t at = 0; at < devices; ++at)
    starts[static_cast<size_t>(getDevice(placement.mesh, at))] =
        static_cast<int32_t>(placement.getShard(placement.dims[dim], at) *
                             size);
  Value table = rewriter.create<stablehlo::ConstantOp>(
      location, DenseElementsAttr::get(RankedTensorType::get({devices}, number),
                                       llvm::ArrayRef(starts)));
  Value start = rewriter.create<stablehlo::DynamicSliceOp>(
      location, RankedTensorType::get({1}, number), table, ValueRange{id},
      ArrayRef<int64_t>{1});
  return rewriter.create<stablehlo::ReshapeOp>(location, scalar, start);
}

// Arithmetic that broadcasts: generated code and inference of select.

#include "dialect/chlo/ops.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::chlo;

#define GET_OP_CLASSES
#include "dialect/chlo/ops_broadcast.cpp.inc"

LogicalResult BroadcastSelectOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, ValueRange operands,
    DictionaryAttr, OpaqueProperties, RegionRange,
    SmallVectorImpl<Type> &inferred) {
  SmallVector<Type, 1> branches;
  if (failed(OpTrait::detail::inferBroadcast(
          location, getOperationName(), operands.drop_front(), std::nullopt,
          OpTrait::detail::BroadcastElement::Operand, branches)))
    return failure();
  auto branch = cast<RankedTensorType>(branches.front());
  auto pred = dyn_cast<RankedTensorType>(operands.front().getType());
  auto shape = pred ? broadcastShapes(pred.getShape(), branch.getShape())
                    : std::nullopt;
  if (shape) {
    inferred.push_back(RankedTensorType::get(*shape, branch.getElementType()));
    return success();
  }
  if (location)
    return mlir::emitError(*location)
           << "'" << getOperationName() << "': shapes can't be broadcast: pred "
           << operands.front().getType() << " and " << branch;
  return failure();
}

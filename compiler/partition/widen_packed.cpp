// Elements of 2 and 4 bits travel with a byte each: blocks of them need not
// begin where a byte does.
//   all_gather(%x : 3xi4)  →  convert(all_gather(convert(%x) : 3xi8)) to i4
// A reduction converts inside, so that its numbers wrap around as they did.

#include "compiler/partition/passes.h"
#include "dialect/dispatch/element_type.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/IR/Builders.h"

namespace alula::partition {
#define GEN_PASS_DEF_WIDENPACKED
#include "compiler/partition/passes.h.inc"
} // namespace alula::partition

using namespace mlir;

namespace {
/// The type of a byte that holds every number of a packed type; null for
/// others.
Type getWide(Type element) {
  auto dtype = alula::dispatch::getDtype(element);
  if (!dtype || alula_dtype_get_packing(*dtype) == 1)
    return {};
  if (auto integer = dyn_cast<IntegerType>(element))
    return IntegerType::get(element.getContext(), 8, integer.getSignedness());
  return Float16Type::get(element.getContext());
}

Type getWideTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  Type wide = tensor ? getWide(tensor.getElementType()) : Type();
  return wide ? tensor.clone(wide) : type;
}

bool isCollective(Operation *op) {
  return isa<stablehlo::AllGatherOp, stablehlo::AllReduceOp,
             stablehlo::ReduceScatterOp, stablehlo::AllToAllOp,
             stablehlo::CollectiveBroadcastOp, stablehlo::CollectiveReduceOp,
             stablehlo::CrossReplicaSumOp, stablehlo::CollectivePermuteOp>(op);
}

Value convert(OpBuilder &builder, Location location, Value value, Type type) {
  return value.getType() == type
             ? value
             : builder.create<stablehlo::ConvertOp>(location, type, value);
}

/// Arguments and what is returned are wide, the computation is not.
void widenRegion(Region &region) {
  Block &body = region.front();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  for (BlockArgument argument : body.getArguments()) {
    Type narrow = argument.getType(), wide = getWideTensor(narrow);
    if (narrow == wide)
      continue;
    argument.setType(wide);
    Value inside = convert(builder, argument.getLoc(), argument, narrow);
    argument.replaceAllUsesExcept(inside, inside.getDefiningOp());
  }
  Operation *end = body.getTerminator();
  builder.setInsertionPoint(end);
  for (OpOperand &operand : end->getOpOperands())
    operand.set(convert(builder, end->getLoc(), operand.get(),
                        getWideTensor(operand.get().getType())));
}

void widen(Operation *op) {
  OpBuilder builder(op);
  for (OpOperand &operand : op->getOpOperands())
    operand.set(convert(builder, op->getLoc(), operand.get(),
                        getWideTensor(operand.get().getType())));
  for (Region &region : op->getRegions())
    if (!region.empty())
      widenRegion(region);
  builder.setInsertionPointAfter(op);
  for (Value result : op->getResults()) {
    Type narrow = result.getType(), wide = getWideTensor(narrow);
    if (narrow == wide)
      continue;
    result.setType(wide);
    Value inside = convert(builder, op->getLoc(), result, narrow);
    result.replaceAllUsesExcept(inside, inside.getDefiningOp());
  }
}

struct WidenPacked
    : public alula::partition::impl::WidenPackedBase<WidenPacked> {
  void runOnOperation() override {
    SmallVector<Operation *> collectives;
    getOperation().walk([&](Operation *op) {
      if (isCollective(op) &&
          llvm::any_of(op->getOperandTypes(),
                       [](Type type) { return getWideTensor(type) != type; }))
        collectives.push_back(op);
    });
    for (Operation *op : collectives)
      widen(op);
  }
};
} // namespace

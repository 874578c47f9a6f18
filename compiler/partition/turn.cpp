#include "compiler/partition/turn.h"

#include "dialect/stablehlo/ops.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace alula::partition;

static constexpr llvm::StringLiteral targetName = "alula.partition.turn",
                                     dimName = "alula.dim",
                                     firstName = "alula.first";

/// A slice that is all of its operand but for the end or the beginning of one
/// dimension.
static stablehlo::SliceOp getPart(Value value, size_t dim) {
  auto slice = value.getDefiningOp<stablehlo::SliceOp>();
  RankedTensorType type = slice ? getStaticType(slice.getOperand()) : nullptr;
  if (!type)
    return {};
  for (auto [at, size] : llvm::enumerate(type.getShape()))
    if (slice.getStrides()[at] != 1 ||
        (at != dim && (slice.getStartIndices()[at] != 0 ||
                       slice.getLimitIndices()[at] != size)))
      return {};
  return slice;
}

void alula::partition::joinTurns(Operation *root) {
  SmallVector<stablehlo::ConcatenateOp> found;
  root->walk([&](stablehlo::ConcatenateOp op) { found.push_back(op); });
  IRRewriter rewriter(root->getContext());
  for (stablehlo::ConcatenateOp op : found) {
    if (op.getInputs().size() != 2 || !getStaticType(op.getResult()))
      continue;
    auto dim = static_cast<size_t>(op.getDimension());
    stablehlo::SliceOp end = getPart(op.getInputs()[0], dim),
                       begin = getPart(op.getInputs()[1], dim);
    if (!end || !begin || end.getOperand() != begin.getOperand())
      continue;
    int64_t size = getStaticType(end.getOperand()).getShape()[dim],
            first = end.getStartIndices()[dim];
    if (end.getLimitIndices()[dim] != size ||
        begin.getStartIndices()[dim] != 0 ||
        begin.getLimitIndices()[dim] != first)
      continue;
    rewriter.setInsertionPoint(op);
    OperationState state(op.getLoc(),
                         stablehlo::CustomCallOp::getOperationName());
    state.addOperands(end.getOperand());
    state.addTypes(op.getType());
    state.addAttribute("call_target_name", rewriter.getStringAttr(targetName));
    Operation *call = rewriter.create(state);
    call->setAttr(dimName,
                  rewriter.getI64IntegerAttr(static_cast<int64_t>(dim)));
    call->setAttr(firstName, rewriter.getI64IntegerAttr(first));
    rewriter.replaceOp(op, call->getResults());
    for (Operation *slice : {end.getOperation(), begin.getOperation()})
      if (slice->use_empty())
        rewriter.eraseOp(slice);
  }
}

std::optional<Turn> alula::partition::getTurn(Operation *op) {
  auto call = dyn_cast<stablehlo::CustomCallOp>(op);
  if (!call || call.getCallTargetName() != targetName)
    return std::nullopt;
  return Turn{call->getAttrOfType<IntegerAttr>(dimName).getInt(),
              call->getAttrOfType<IntegerAttr>(firstName).getInt()};
}

Rule alula::partition::getTurnRule(Operation *op, const Turn &turn) {
  Rule rule;
  rule.mayPad = true;
  rule.linearOperands = 1;
  TensorFactors tensor;
  auto shape = getStaticType(op->getResult(0)).getShape();
  for (int64_t size : shape)
    tensor.push_back({rule.add(size)});
  auto dim = static_cast<size_t>(turn.dim);
  Window window{tensor[dim][0], 0, dim, shape[dim]};
  window.begin = turn.first;
  window.wraps = true;
  rule.windows = {window};
  rule.operands = {tensor};
  rule.results = {tensor};
  return rule;
}

Value alula::partition::buildTurn(OpBuilder &builder, Value value,
                                  const Turn &turn) {
  auto type = cast<RankedTensorType>(value.getType());
  auto slice = [&](int64_t begin, int64_t end) -> Value {
    SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape()),
        strides(type.getRank(), 1);
    starts[static_cast<size_t>(turn.dim)] = begin;
    limits[static_cast<size_t>(turn.dim)] = end;
    return builder.create<stablehlo::SliceOp>(value.getLoc(), value, starts,
                                              limits, strides);
  };
  int64_t size = type.getShape()[static_cast<size_t>(turn.dim)];
  Value end = slice(turn.first, size), begin = slice(0, turn.first);
  return builder.create<stablehlo::ConcatenateOp>(
      value.getLoc(), ValueRange{end, begin}, static_cast<uint64_t>(turn.dim));
}

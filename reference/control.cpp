// Control flow, calls, tuples and tokens.
#include "reference/op_table.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace alula::reference {
namespace {

LogicalResult evalIf(OpCall &call) {
  bool taken = call.tensor(0).getInteger(0) != 0;
  return call.evaluator.runRegion(call.op, call.op->getRegion(taken ? 0 : 1),
                                  {}, &call.scope, call.results);
}

/// An index outside the branches takes the last one.
LogicalResult evalCase(OpCall &call) {
  int64_t count = call.op->getNumRegions();
  if (count == 0)
    return call.error() << "needs at least one branch";
  int64_t index = call.tensor(0).getInteger(0);
  if (index < 0 || index >= count)
    index = count - 1;
  return call.evaluator.runRegion(call.op, call.op->getRegion(unsigned(index)),
                                  {}, &call.scope, call.results);
}

LogicalResult evalWhile(OpCall &call) {
  std::vector<Value> state(call.operands.begin(), call.operands.end());
  std::vector<Value> answer, next;
  while (true) {
    if (failed(call.charge(1)))
      return failure();
    if (failed(call.evaluator.runRegion(call.op, call.op->getRegion(0), state,
                                        &call.scope, answer)))
      return failure();
    if (answer.size() != 1 || !answer[0].isTensor() ||
        answer[0].getTensor().getSize() != 1)
      return call.error() << "the condition must give one i1";
    if (answer[0].getTensor().getInteger(0) == 0)
      break;
    if (failed(call.evaluator.runRegion(call.op, call.op->getRegion(1), state,
                                        &call.scope, next)))
      return failure();
    if (next.size() != state.size())
      return call.error() << "the body must give " << state.size()
                          << " values, it gives " << next.size();
    state.swap(next);
  }
  call.results = std::move(state);
  return success();
}

LogicalResult evalIdentity(OpCall &call) {
  call.results.assign(call.operands.begin(), call.operands.end());
  return success();
}

LogicalResult evalTuple(OpCall &call) {
  return call.give(Value::tuple({call.operands.begin(), call.operands.end()}));
}

LogicalResult evalGetTupleElement(OpCall &call) {
  int64_t index = call.getInt("index");
  if (!call.operands[0].isTuple())
    return call.error() << "the operand must be a tuple";
  const std::vector<Value> &elements = call.operands[0].getElements();
  if (index < 0 || index >= int64_t(elements.size()))
    return call.error() << "index must be below " << elements.size()
                        << ", it is " << index;
  return call.give(elements[size_t(index)]);
}

LogicalResult evalToken(OpCall &call) { return call.give(Value::token()); }

LogicalResult evalAsyncStart(OpCall &call) {
  // Nobody can see when it happens, so it happens at once.
  std::vector<Value> results;
  if (failed(call.evaluator.runRegion(call.op, call.op->getRegion(0),
                                      call.operands, nullptr, results)))
    return failure();
  return call.give(Value::tuple(std::move(results)));
}

LogicalResult evalAsyncDone(OpCall &call) {
  if (!call.operands[0].isTuple())
    return call.error() << "the operand must be a future";
  call.results = call.operands[0].getElements();
  return success();
}

LogicalResult evalCall(OpCall &call) {
  auto symbol = call.op->getAttrOfType<FlatSymbolRefAttr>("callee");
  Operation *callee =
      symbol ? call.evaluator.findFunction(call.op, symbol.getValue())
             : nullptr;
  if (!callee)
    return failure();
  return call.evaluator.callFunction(call.op, callee, call.operands,
                                     call.results);
}

LogicalResult evalComposite(OpCall &call) {
  auto symbol = call.op->getAttrOfType<FlatSymbolRefAttr>("decomposition");
  if (!symbol)
    return call.error() << "decomposition must name a function";
  Operation *callee =
      call.evaluator.findFunction(call.op, symbol.getValue());
  if (!callee)
    return failure();
  return call.evaluator.callFunction(call.op, callee, call.operands,
                                     call.results);
}

/// Ops that only older programs have and that input legalization rewrites.
LogicalResult evalDeprecated(OpCall &call) {
  return call.error() << "is deprecated; legalize the program first";
}

} // namespace

void addControlOps(OpTable &table) {
  table.add("stablehlo.if", evalIf);
  table.add("stablehlo.case", evalCase);
  table.add("stablehlo.while", evalWhile);
  table.add("stablehlo.optimization_barrier", evalIdentity);
  table.add("stablehlo.tuple", evalTuple);
  table.add("stablehlo.get_tuple_element", evalGetTupleElement);
  table.add("stablehlo.after_all", evalToken);
  table.add("stablehlo.create_token", evalToken);
  table.add("stablehlo.async_start", evalAsyncStart, Quantized::Stored,
            /*pure=*/false);
  table.add("stablehlo.async_done", evalAsyncDone, Quantized::Stored,
            /*pure=*/false);
  table.add("stablehlo.composite", evalComposite, Quantized::Stored,
            /*pure=*/false);
  table.add("func.call", evalCall, Quantized::Stored, /*pure=*/false);
  table.add("stablehlo.einsum", evalDeprecated);
  table.add("stablehlo.unary_einsum", evalDeprecated);
}

} // namespace alula::reference

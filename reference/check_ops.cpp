// The check ops, and the custom calls of the same meaning.
#include "reference/check_ops.h"

#include "reference/compare_tensors.h"
#include "reference/op_table.h"
#include "reference/probe.h"

using namespace mlir;

namespace alula::reference {
namespace {

LogicalResult conclude(OpCall &call, const Difference &difference) {
  if (!difference)
    return success();
  return call.error() << "check failed: " << *difference;
}

LogicalResult needTensors(OpCall &call, size_t count) {
  if (call.operands.size() != count)
    return call.error() << "needs " << count << " operands, got "
                        << call.operands.size();
  for (const Value &operand : call.operands)
    if (!operand.isTensor())
      return call.error() << "operands must be tensors";
  return success();
}

/// The constant of an op, with the element type of what it is compared to.
FailureOr<Tensor> getExpected(OpCall &call) {
  auto value = call.op->getAttrOfType<ElementsAttr>("value");
  if (!value || call.operands.empty() || !call.operands[0].isTensor())
    return call.error() << "needs a tensor and a constant";
  return call.evaluator.getConstant(call.op, value,
                                    call.tensor(0).getElementType());
}

/// The custom call has no tolerance and is laxer than the op.
double getTolerance(OpCall &call) {
  if (call.op->getName().getDialectNamespace() == "stablehlo")
    return 1e-3;
  auto attribute = call.op->getAttrOfType<FloatAttr>("tolerance");
  return attribute ? attribute.getValueAsDouble() : 1e-4;
}

uint64_t getUlps(OpCall &call, llvm::StringRef name, uint64_t missing) {
  auto attribute = call.op->getAttrOfType<IntegerAttr>(name);
  return attribute ? attribute.getValue().getZExtValue() : missing;
}

LogicalResult evalExpectEqConst(OpCall &call) {
  FailureOr<Tensor> expected = getExpected(call);
  if (failed(expected))
    return failure();
  return conclude(call, findUnequal(call.tensor(0), *expected));
}

LogicalResult evalExpectAlmostEqConst(OpCall &call) {
  FailureOr<Tensor> expected = getExpected(call);
  if (failed(expected))
    return failure();
  return conclude(call, findFar(call.tensor(0), *expected,
                                getTolerance(call)));
}

LogicalResult evalExpectSerializedEq(OpCall &call) {
  auto id = call.op->getAttrOfType<StringAttr>("probe_id");
  if (!id || failed(needTensors(call, 1)))
    return failure();
  uint64_t iteration = getUlps(call, "iteration", 0);
  const auto &seen = call.evaluator.program.probes->seen;
  auto it = seen.find(id.getValue().str());
  if (it == seen.end() || iteration >= it->second.size())
    return call.error() << "check failed: the probe " << id
                        << " has no iteration " << iteration;
  return conclude(call, findUnequal(it->second[iteration], call.tensor(0)));
}

} // namespace

LogicalResult evalExpectEq(OpCall &call) {
  if (failed(needTensors(call, 2)))
    return failure();
  return conclude(call, findUnequal(call.tensor(0), call.tensor(1)));
}

LogicalResult evalExpectAlmostEq(OpCall &call) {
  if (failed(needTensors(call, 2)))
    return failure();
  return conclude(call, findFar(call.tensor(0), call.tensor(1),
                                getTolerance(call)));
}

LogicalResult evalExpectClose(OpCall &call) {
  if (failed(needTensors(call, 2)))
    return failure();
  return conclude(call, findNotClose(call.tensor(0), call.tensor(1),
                                     getUlps(call, "min_ulp_difference", 0),
                                     getUlps(call, "max_ulp_difference", 3)));
}

void addCheckOps(OpTable &table) {
  auto add = [&](llvm::StringRef name, Handler handler) {
    table.add(("check." + name).str(), handler, Quantized::Stored,
              /*pure=*/false);
  };
  add("expect_eq", evalExpectEq);
  add("expect_eq_const", evalExpectEqConst);
  add("expect_almost_eq", evalExpectAlmostEq);
  add("expect_almost_eq_const", evalExpectAlmostEqConst);
  add("expect_close", evalExpectClose);
  add("expect_serialized_eq", evalExpectSerializedEq);
}

} // namespace alula::reference

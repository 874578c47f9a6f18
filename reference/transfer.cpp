// infeed, outfeed, send and recv.
#include "reference/op_table.h"
#include "reference/process_group.h"

#include "dialect/stablehlo/ops.h"

using namespace mlir;

namespace alula::reference {
namespace {

LogicalResult evalInfeed(OpCall &call) {
  std::deque<Operation *> &queue = call.evaluator.process->grid.infeed;
  if (queue.empty())
    return call.error() << "the infeed has no more data";
  Operation *source = queue.front();
  queue.pop_front();
  if (failed(call.evaluator.callFunction(call.op, source, {}, call.results)))
    return failure();
  call.results.push_back(Value::token());
  return success();
}

/// What is fed out leaves the program.
LogicalResult evalOutfeed(OpCall &call) { return call.give(Value::token()); }

/// Any process may take what a host transfer brings.
constexpr int64_t anyone = -1;

bool isBetweenDevices(OpCall &call) {
  auto pairs =
      call.op->getAttrOfType<DenseIntElementsAttr>("source_target_pairs");
  return !call.getFlag("is_host_transfer") && pairs &&
         pairs.getNumElements() != 0;
}

int64_t getChannel(OpCall &call) {
  auto handle =
      call.op->getAttrOfType<stablehlo::ChannelHandleAttr>("channel_handle");
  return handle ? handle.getHandle() : 0;
}

/// Pairs count partitions where there are several of them.
FailureOr<std::vector<ProcessGroup>> getPairs(OpCall &call) {
  bool partitioned = call.evaluator.process->grid.partitions > 1;
  return getProcessPairs(call, partitioned ? GroupStrategy::CrossPartition
                                           : GroupStrategy::CrossReplica);
}

int64_t flatten(const Process &process, ProcessId id) {
  return int64_t(id.replica) * process.grid.partitions + id.partition;
}

LogicalResult evalSend(OpCall &call) {
  Process &process = *call.evaluator.process;
  std::vector<Value> payload(call.operands.begin(), call.operands.end() - 1);
  if (!isBetweenDevices(call)) {
    process.send(getChannel(call), anyone, std::move(payload));
    return call.give(Value::token());
  }
  FailureOr<std::vector<ProcessGroup>> pairs = getPairs(call);
  if (failed(pairs))
    return failure();
  for (const ProcessGroup &pair : *pairs)
    if (pair[0] == process.id)
      process.send(getChannel(call), flatten(process, pair[1]), payload);
  return call.give(Value::token());
}

LogicalResult evalRecv(OpCall &call) {
  Process &process = *call.evaluator.process;
  int64_t receiver = anyone;
  if (isBetweenDevices(call)) {
    FailureOr<std::vector<ProcessGroup>> pairs = getPairs(call);
    if (failed(pairs))
      return failure();
    receiver = flatten(process, process.id);
    bool isTarget = llvm::any_of(
        *pairs, [&](auto &pair) { return pair[1] == process.id; });
    if (!isTarget)
      return call.error() << "no process sends to this one";
  }
  FailureOr<std::vector<Value>> payload =
      process.receive(call.op, getChannel(call), receiver);
  if (failed(payload))
    return failure();
  call.results = std::move(*payload);
  call.results.push_back(Value::token());
  return success();
}

} // namespace

void addTransferOps(OpTable &table) {
  table.add("stablehlo.infeed", evalInfeed, Quantized::Stored, false);
  table.add("stablehlo.outfeed", evalOutfeed, Quantized::Stored, false);
  table.add("stablehlo.send", evalSend, Quantized::Stored, false);
  table.add("stablehlo.recv", evalRecv, Quantized::Stored, false);
}

} // namespace alula::reference

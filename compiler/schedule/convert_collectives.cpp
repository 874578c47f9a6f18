// Collectives as commands.

#include "compiler/schedule/command_converter.h"

using namespace mlir;
using namespace alula::dispatch;
using namespace alula::schedule;

void CommandConverter::startCollective(CollectiveStartOp start) {
  auto type = cast<RankedTensorType>(start.getOperand().getType());
  Value result = start.getStarted();
  allocate(plan.getMemoryNumber(result), result);
  int64_t count = type.getNumElements() /
                  countGivenBlocks(start.getKind(), start.getGroups());
  handles[result] = builder.create<StartCollectiveOp>(
      location, builder.getIndexType(), start.getKind(), start.getReduction(),
      start.getGroups(), start.getParticipants(), start.getChannel(),
      getSlot(start.getOperand()), getSlot(result),
      static_cast<uint64_t>(count), type.getElementType());
}

void CommandConverter::awaitCollective(CollectiveDoneOp done) {
  builder.create<AwaitCollectiveOp>(location, handles.at(done.getStarted()));
}

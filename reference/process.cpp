#include "reference/process.h"

#include <thread>

using namespace mlir;

namespace alula::reference {

void Grid::pass(size_t from) {
  size_t count = waiting.size();
  bool anyWaits = false;
  for (size_t k = 1; k <= count; ++k) {
    size_t next = (from + k) % count;
    Waiting &process = waiting[next];
    if (process.state == State::Done)
      continue;
    anyWaits |= process.state == State::Waiting;
    if (process.state == State::Ready || stuck || failed ||
        process.isReady()) {
      process.state = State::Ready;
      turn = next;
      changed.notify_all();
      return;
    }
  }
  if (!anyWaits)
    return;
  stuck = true;
  pass(from);
}

bool Grid::run(llvm::function_ref<bool(Process &)> body) {
  std::vector<std::thread> threads;
  for (size_t index = 0; index < waiting.size(); ++index)
    threads.emplace_back([this, index, body] {
      Process process(*this, {uint32_t(index / partitions),
                              uint32_t(index % partitions)});
      {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [&] { return turn == index; });
      }
      // The baton, not the lock, keeps the others out while this one runs.
      bool fine = body(process);
      std::unique_lock<std::mutex> lock(mutex);
      failed |= !fine;
      waiting[index].state = State::Done;
      pass(index);
    });
  for (std::thread &thread : threads)
    thread.join();
  return !failed;
}

LogicalResult Process::wait(Operation *op, std::function<bool()> isReady) {
  if (isReady())
    return success();
  size_t index = size_t(id.replica) * grid.partitions + id.partition;
  std::unique_lock<std::mutex> lock(grid.mutex);
  grid.waiting[index] = {Grid::State::Waiting, isReady};
  grid.pass(index);
  grid.changed.wait(lock, [&] { return grid.turn == index &&
                                       grid.waiting[index].state ==
                                           Grid::State::Ready; });
  if (isReady())
    return success();
  // Another process failed and has said why, or all of them wait.
  if (!grid.failed && !grid.reported) {
    grid.reported = true;
    reportAt(op) << "deadlock: replica " << id.replica << ", partition "
                 << id.partition
                 << " waits here and no process can go on";
  }
  return failure();
}

FailureOr<Contributions> Process::meet(Operation *op, int64_t channel,
                                       const ProcessGroup &group,
                                       llvm::ArrayRef<Value> values) {
  auto key = std::make_pair(channel, group);
  std::shared_ptr<Grid::Meeting> &slot = grid.meetings[key];
  if (!slot)
    slot = std::make_shared<Grid::Meeting>();
  std::shared_ptr<Grid::Meeting> meeting = slot;
  meeting->contributions[id] = values.vec();
  if (meeting->contributions.size() == group.size()) {
    meeting->complete = true;
    grid.meetings.erase(key);
  }
  if (failed(wait(op, [meeting] { return meeting->complete; })))
    return failure();
  return meeting->contributions;
}

void Process::send(int64_t channel, int64_t receiver,
                   std::vector<Value> values) {
  grid.channels[{channel, receiver}].push_back(std::move(values));
}

FailureOr<std::vector<Value>> Process::receive(Operation *op, int64_t channel,
                                               int64_t receiver) {
  std::deque<std::vector<Value>> &queue = grid.channels[{channel, receiver}];
  if (failed(wait(op, [&queue] { return !queue.empty(); })))
    return failure();
  std::vector<Value> values = std::move(queue.front());
  queue.pop_front();
  return values;
}

} // namespace alula::reference

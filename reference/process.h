// The simulated grid of replicas by partitions: who may run, who waits, and
// what travels between them.
#pragma once

#include "reference/evaluator.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>

namespace alula::reference {

struct ProcessId {
  uint32_t replica = 0, partition = 0;
  auto operator<=>(const ProcessId &) const = default;
};
using ProcessGroup = std::vector<ProcessId>;

/// Values that each member of a group brought to a collective.
using Contributions = std::map<ProcessId, std::vector<Value>>;

/// Processes are threads that pass a baton: exactly one runs at a time, so
/// nothing inside the reference needs a lock, and the order is always the same.
/// When nobody can go on, every waiting process ends with an error.
class Grid {
public:
  Grid(uint32_t replicas, uint32_t partitions)
      : replicas(replicas), partitions(partitions),
        waiting(size_t(replicas) * partitions) {}

  const uint32_t replicas, partitions;
  /// Functions whose results the next infeeds give.
  std::deque<mlir::Operation *> infeed;

  /// Runs `body` once for each process and waits for all of them. False if one
  /// failed.
  bool run(llvm::function_ref<bool(Process &)> body);

private:
  friend class Process;
  struct Meeting {
    Contributions contributions;
    bool complete = false;
  };
  enum class State : uint8_t { Ready, Waiting, Done };
  struct Waiting {
    State state = State::Ready;
    std::function<bool()> isReady;
  };
  /// Gives the baton to the next process that can run; called with the lock
  /// held. Sets `stuck` if there is none but some wait.
  void pass(size_t from);

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Waiting> waiting;
  size_t turn = 0;
  bool stuck = false, failed = false, reported = false;
  std::map<std::pair<int64_t, ProcessGroup>, std::shared_ptr<Meeting>>
      meetings;
  std::map<std::pair<int64_t, int64_t>, std::deque<std::vector<Value>>>
      channels;
};

/// One member of the grid, as the ops see it.
class Process {
public:
  Process(Grid &grid, ProcessId id) : grid(grid), id(id) {}
  Grid &grid;
  const ProcessId id;

  /// Brings values to the group's meeting on a channel and waits for the
  /// others.
  mlir::FailureOr<Contributions> meet(mlir::Operation *op, int64_t channel,
                                      const ProcessGroup &group,
                                      llvm::ArrayRef<Value> values);
  void send(int64_t channel, int64_t receiver, std::vector<Value> values);
  mlir::FailureOr<std::vector<Value>> receive(mlir::Operation *op,
                                              int64_t channel,
                                              int64_t receiver);

private:
  /// Lets others run until `isReady`; fails if that can't happen any more.
  mlir::LogicalResult wait(mlir::Operation *op, std::function<bool()> isReady);
};

} // namespace alula::reference

#pragma once

#include "pjrt/border.h"
#include "pjrt/reference.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace alula::pjrt {

/// A future without a value, with the error it ended in. A PJRT_Event is one
/// reference to it. Thread-safe.
class Event : public Counted {
public:
  /// Once; wakes blocked threads and calls the callbacks.
  void finish(std::unique_ptr<Error> error = nullptr);
  /// The same, unless it is complete: then false.
  bool tryFinish(std::unique_ptr<Error> error);
  bool isDone() const { return done.load(std::memory_order_acquire); }
  /// Blocks; the error lives as long as the event, null if there is none.
  const Error *wait();
  /// The error of a complete event.
  const Error *getError() const { return error.get(); }
  /// Called at once if the event is complete, else by the completing thread.
  void onReady(std::function<void(const Error *error)> callback);

private:
  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<bool> done{false};
  std::unique_ptr<Error> error;
  std::vector<std::function<void(const Error *error)>> callbacks;
};

/// A copy for a caller to own; null stays null.
inline void *copyError(const Error *error) {
  return error ? new Error(*error) : nullptr;
}

/// A complete event; all share one.
Ref<Event> getReadyEvent();

} // namespace alula::pjrt

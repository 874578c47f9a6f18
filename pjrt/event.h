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

/// Something that will have happened, with the error it ended in. A PJRT_Event
/// is one use of it. Any thread may call anything.
class Event : public Counted {
public:
  /// Once; wakes whoever waits and calls the callbacks.
  void finish(std::unique_ptr<Error> error = nullptr);
  /// The same, unless it has happened: then false.
  bool tryFinish(std::unique_ptr<Error> error);
  bool isDone() const { return done.load(std::memory_order_acquire); }
  /// Waits; the error lives as long as the event, null if there is none.
  const Error *wait();
  /// Of an event that is done.
  const Error *getError() const { return error.get(); }
  /// Called at once if the event is done, else by whoever finishes it.
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

/// An event that has happened; all share one.
Ref<Event> getReadyEvent();

} // namespace alula::pjrt

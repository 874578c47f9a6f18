#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>

namespace alula::pjrt::ffi {

/// Threads for tasks of handlers: as many as the machine runs at once, started
/// with the first task. They stay as long as the process.
class Threads {
public:
  static Threads &get();
  int64_t getCount() const { return count; }
  void schedule(void (*task)(void *), void *data);

private:
  Threads();
  void work();

  struct Task {
    void (*function)(void *);
    void *data;
  };
  const int64_t count;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Task> tasks;
  /// Whose threads were started: a fork has none.
  int64_t process = 0;
};

} // namespace alula::pjrt::ffi

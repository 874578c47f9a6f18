#include "pjrt/ffi/threads.h"

#include <algorithm>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace alula::pjrt::ffi;

Threads::Threads()
    : count(std::max<int64_t>(std::thread::hardware_concurrency(), 1)) {}

Threads &Threads::get() {
  static auto *const threads = new Threads;
  return *threads;
}

void Threads::schedule(void (*task)(void *), void *data) {
  std::lock_guard lock(mutex);
  tasks.push_back({task, data});
  if (process != getpid()) {
    process = getpid();
    // Nobody ends them.
    auto *started = new std::vector<std::thread>;
    for (int64_t i = 0; i < count; ++i)
      started->emplace_back([this] { work(); });
  }
  changed.notify_one();
}

void Threads::work() {
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [&] { return !tasks.empty(); });
    Task task = tasks.front();
    tasks.pop_front();
    lock.unlock();
    task.function(task.data);
    lock.lock();
  }
}

#include "pjrt/queue.h"

using namespace alula::pjrt;

namespace {
/// As many calls as XLA:CPU lets be under way.
constexpr size_t maxTasks = 32;

/// The innermost queue whose task the thread is in.
thread_local const Queue *current = nullptr;

struct InTask {
  explicit InTask(const Queue *queue) : outer(current) { current = queue; }
  ~InTask() { current = outer; }
  const Queue *outer;
};
} // namespace

Queue::~Queue() {
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  changed.notify_all();
  if (!thread.joinable())
    return;
  // The last use of a client may end in a task of its own.
  if (thread.get_id() == std::this_thread::get_id())
    thread.detach();
  else
    thread.join();
}

bool Queue::isInTask() const { return current == this; }

void Queue::push(std::function<void()> task) {
  {
    std::lock_guard lock(mutex);
    tasks.push_back(std::move(task));
    if (!thread.joinable())
      thread = std::thread([this] { work(); });
  }
  changed.notify_all();
}

void Queue::waitForRoom() {
  if (current)
    return;
  std::unique_lock lock(mutex);
  hasRoom.wait(lock, [this] { return tasks.size() < maxTasks; });
}

bool Queue::tryRun(const std::function<void()> &task) {
  {
    std::lock_guard lock(mutex);
    if (busy || !tasks.empty())
      return false;
    busy = true;
  }
  {
    InTask scope(this);
    task();
  }
  bool more;
  {
    std::lock_guard lock(mutex);
    busy = false;
    more = !tasks.empty() || stopping;
  }
  if (more)
    changed.notify_all();
  return true;
}

void Queue::work() {
  InTask scope(this);
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock,
                 [this] { return !busy && (!tasks.empty() || stopping); });
    if (tasks.empty())
      return;
    std::function<void()> task = std::move(tasks.front());
    tasks.pop_front();
    busy = true;
    lock.unlock();
    hasRoom.notify_all();
    task();
    // What it holds goes before the next one, and not under the lock.
    task = nullptr;
    lock.lock();
    busy = false;
  }
}

#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace alula::pjrt {

/// A device's tasks, executed in order on a thread of its own.
class Queue {
public:
  Queue() = default;
  Queue(const Queue &) = delete;
  Queue &operator=(const Queue &) = delete;
  /// Drains the queue, then joins the thread.
  ~Queue();

  void push(std::function<void()> task);
  /// Waits while many tasks are before the next one: a caller that is far ahead
  /// keeps memory that nothing uses yet. Within any queue's task, which others
  /// may wait for, it returns at once. The caller must hold nothing that tasks
  /// need.
  void waitForRoom();
  /// Runs a task on the calling thread if the queue is empty, in order with
  /// later tasks; else false.
  bool tryRun(const std::function<void()> &task);
  /// Whether the calling thread is in one of this queue's tasks. What such a
  /// task submits must run inline: to wait for it would be a deadlock.
  bool isInTask() const;

private:
  void work();

  std::mutex mutex;
  std::condition_variable changed, hasRoom;
  std::deque<std::function<void()>> tasks;
  /// A task runs, here or on a caller's thread.
  bool busy = false;
  bool stopping = false;
  std::thread thread;
};

} // namespace alula::pjrt

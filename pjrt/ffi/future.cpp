#include "pjrt/ffi/future.h"

using namespace alula::pjrt;
using namespace alula::pjrt::ffi;

void Future::finish(Error *failed) {
  std::unique_lock lock(mutex);
  error.reset(failed);
  isDone = true;
  changed.notify_all();
  drop(std::move(lock));
}

std::unique_ptr<Error> Future::wait() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return isDone; });
  std::unique_ptr<Error> result = std::move(error);
  drop(std::move(lock));
  return result;
}

void Future::drop(std::unique_lock<std::mutex> lock) {
  bool isLast = --users == 0;
  lock.unlock();
  if (isLast)
    delete this;
}

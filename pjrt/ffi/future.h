#pragma once

#include "pjrt/border.h"

#include <condition_variable>
#include <memory>
#include <mutex>

namespace alula::pjrt::ffi {

/// What a handler that goes on after its return is awaited by. Two hold it, who
/// waits and who finishes; the last one destroys it.
class Future {
public:
  /// Takes the error over.
  void finish(Error *error);
  /// Null, or how it ended.
  std::unique_ptr<Error> wait();

private:
  void drop(std::unique_lock<std::mutex> lock);

  std::mutex mutex;
  std::condition_variable changed;
  int users = 2;
  bool isDone = false;
  std::unique_ptr<Error> error;
};

} // namespace alula::pjrt::ffi

#pragma once

#include <cstdint>
#include <memory>

namespace alula::pjrt {

/// Ctrl-C ends what a Python program has asked for: from SIGINT on, flags that
/// the compiler and the runtime look at are set. While something is watched,
/// SIGINT's handler notes it and goes on with the one that was there, so
/// KeyboardInterrupt is raised as ever. Nothing is done without Python, where
/// SIGINT is ignored, or where Python's handler is not
/// `signal.default_int_handler`, which raises; nor for what Python's threads
/// but the main one ask for, as far as one can see: jaxlib compiles on threads
/// of its own, whoever waits for them.
class Watched {
public:
  /// Not watched.
  Watched() = default;
  /// From now on, until it is destroyed.
  static Watched begin();

  explicit operator bool() const { return bool(use); }
  /// Not 0 a while after the signal, so that what is nearly done, like a step
  /// that others go on from, may end; null if it is not watched.
  const int *getPatientFlag() const { return use ? use->flag : nullptr; }

private:
  struct Use {
    const int *flag;
    ~Use();
  };
  std::unique_ptr<Use> use;
};

/// A compilation. Ctrl-C cancels it, and so does the end of the process: jaxlib
/// compiles on threads of its own, and destroys what an executable is made of
/// before it waits for them.
class UnderWay {
public:
  UnderWay();
  ~UnderWay();
  UnderWay(const UnderWay &) = delete;
  UnderWay &operator=(const UnderWay &) = delete;

  /// Not 0 once it has to end.
  const int *getFlag() const { return &flag; }
  bool isCancelled() const { return __atomic_load_n(&flag, __ATOMIC_RELAXED); }

  /// Cancels all that are under way, waits until they have ended, and cancels
  /// those that begin later: jaxlib may have them in a queue.
  static void endAll();
  /// There is a new client: what begins from now on may end as ever.
  static void beginAgain();
  /// Cancels those that the latest of so many signals met.
  static void cancelAfter(uint32_t signals);

private:
  void cancel() { __atomic_store_n(&flag, 1, __ATOMIC_RELAXED); }

  const Watched watched;
  const uint32_t signalsBefore;
  int flag = 0;
};

} // namespace alula::pjrt

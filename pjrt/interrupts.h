#pragma once

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

  /// Not 0 soon after the signal; null if it is not watched.
  const int *getFlag() const { return use ? use->now : nullptr; }
  /// The same a while later: what is nearly done, like a step that others go on
  /// from, may end.
  const int *getPatientFlag() const { return use ? use->later : nullptr; }

private:
  struct Use {
    const int *now, *later;
    ~Use();
  };
  std::unique_ptr<Use> use;
};

} // namespace alula::pjrt

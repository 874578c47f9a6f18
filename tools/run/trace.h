// The times of a run: a file that Perfetto and chrome://tracing read, and a
// table for the terminal.

#pragma once

#include "alula/runtime.h"

#include <string>
#include <vector>

namespace alula::run {

class Trace {
public:
  /// `executable` may tell of its kernels (alula-compile --debug=1); it
  /// outlives this.
  explicit Trace(const alula_executable *executable);

  /// The callback for alula_call_options; `user` is a Trace.
  static void record(void *user, const alula_trace_event *event);

  /// All events until endCall are of this call.
  void beginCall();
  void endCall();

  /// Calls, commands in the order of their queue, and what each thread did of
  /// them, as JSON. `process` and `function` are names.
  std::string print(const std::string &process,
                    const std::string &function) const;

  /// What took how long, longest first.
  std::string summarize() const;

private:
  struct Span {
    uint64_t begin, end;
  };
  struct Command {
    std::string name;
    Span span;
    uint32_t grid[3];
    uint64_t bytes;
    std::vector<alula_trace_thread> threads;
    /// Of a kernel that a library may compute.
    std::string computedBy;
    bool isBeside;
  };
  /// What the artifact says of a kernel; numbers below 0 are not known.
  struct Kernel {
    std::string name;
    double flops = -1, transcendentals = -1, bytes = -1;
    std::string operations, sourceName, source;
  };

  const Kernel *findKernel(const std::string &name) const;
  std::string printCommand(const Command &command) const;
  std::string printSpan(const Span &span, unsigned track) const;

  std::vector<Kernel> kernels;
  std::vector<Span> calls;
  std::vector<Command> commands;
};

} // namespace alula::run

#pragma once

#include "alula/runtime.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

// What a client's profiler is told: every kernel that ran, by name.

namespace alula::pjrt {

struct Device;
struct Program;

/// One call of a program on one device. It tells the profilers that are on
/// when it ends.
class ProfiledCall {
public:
  /// Sets the options if a profiler is on; else nothing.
  ProfiledCall(const std::shared_ptr<Program> &program, const Device &device,
               alula_call_options &options);
  ~ProfiledCall();

private:
  struct Record;
  std::unique_ptr<Record> record;
};

/// From `start` to `stop` it collects calls; any number of them may be on.
class Profiler {
public:
  Profiler();
  ~Profiler();
  void start();
  void stop();
  /// What it collected, as an XSpace message: a plane for each device, with a
  /// line of programs and one of kernels.
  const std::string &print();

private:
  friend class ProfiledCall;
  struct Calls;
  std::unique_ptr<Calls> calls;
  std::string text;
};

} // namespace alula::pjrt

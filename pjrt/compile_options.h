#pragma once

#include "pjrt/border.h"

#include <vector>

namespace alula::pjrt {

/// What a CompileOptionsProto of XLA's says that matters to us.
struct CompileOptions {
  int64_t deviceOrdinal = -1;
  int64_t replicas = 1, partitions = 1;
  /// Ids of the devices: partitions of replica 0, of replica 1, …; empty if
  /// the client leaves it to us.
  std::vector<int64_t> deviceIds;
  /// `alula_targets`: machines to compile for.
  std::vector<std::string> targets;
  /// `alula_accuracy`: what may be less exact, as alula/compiler.h names it.
  std::vector<std::string> accuracy;
  /// `alula_dump_to`: a folder for each stage of the program.
  std::string dumpTo;

  int64_t countDevices() const { return replicas * partitions; }
};

/// Reads the message; empty means the defaults. Unknown options of the
/// compiler are errors.
void *readCompileOptions(std::string_view bytes, CompileOptions &options);

/// xla.DeviceAssignmentProto.
std::string writeDeviceAssignment(const std::vector<int64_t> &deviceIds,
                                  int64_t replicas, int64_t partitions);

} // namespace alula::pjrt

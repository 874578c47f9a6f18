// One artifact from the programs for several kinds of machine.

#pragma once

#include "artifact/diagnostic.h"

#include <cstdint>
#include <string>
#include <vector>

namespace alula::artifact {

/// A program and what it was compiled for.
struct ProgramSpec {
  /// For people, and unique: "cpu:aarch64:cores=2".
  std::string name;
  uint32_t cores = 1;
  /// The largest cache of a single core.
  uint64_t cacheBytes = 0;
  /// An artifact of one program.
  std::string file;
};

/// The programs in their order, best first; constants that several have are in
/// it once. Empty after a failure.
std::string bundlePrograms(const std::vector<ProgramSpec> &programs,
                           Diagnostic &diagnostic);

} // namespace alula::artifact

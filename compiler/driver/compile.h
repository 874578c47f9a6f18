#pragma once

#include "compiler/driver/options.h"
#include "compiler/driver/output_file.h"

namespace alula::driver {

struct CompileOutput {
  /// The artifact, if the last room is Emit.
  std::string artifact;
  /// The content of `externalFile`; empty if no constant is large enough.
  std::string external;
  /// What is written instead of an artifact.
  std::vector<OutputFile> files;
};

/// Runs the rooms up to `options.until` over `module`, in place.
mlir::LogicalResult compile(mlir::ModuleOp module,
                            const CompileOptions &options,
                            CompileOutput &output);

} // namespace alula::driver

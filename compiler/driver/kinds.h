#pragma once

#include "compiler/driver/options.h"
#include "dialect/dispatch/machine.h"

namespace alula::driver {

/// Targets that share a host program.
struct Kind {
  /// "cpu:aarch64:cores=2", the first of them.
  std::string name;
  /// "cpu", "cuda": as `#dispatch.machine` says.
  std::string kind;
  std::vector<std::string> targets;
  dispatch::MachineFacts facts;
};

/// In the order of their first targets. Those of plugins go along with the
/// first kind.
mlir::FailureOr<std::vector<Kind>> findKinds(mlir::ModuleOp module,
                                             const CompileOptions &options);

/// "cpu:x86-64-v3, cpu:aarch64:cores=2".
std::string listNames(llvm::ArrayRef<Kind> kinds);

/// A folder for the kind in each that is given.
Dumps makeDumps(const Dumps &dumps, llvm::StringRef kind);

} // namespace alula::driver

#pragma once

#include "compiler/objects/code_plan.h"

#include "mlir/IR/BuiltinOps.h"

namespace alula::objects {

struct PrepareOptions {
  /// What code will be made for, best first.
  std::vector<TargetKey> targets;
  IsBuiltin isBuiltin;
  /// The program is compiled for more by itself, whose objects are none of ours.
  bool hasOtherTargets = false;
  /// The version of CUDA that will load PTX; empty: not known.
  std::string cudaDriver;
};

/// Checks the objects of all executables for all targets, and that each
/// executable has code for each. Bodies that no target needs are dropped.
mlir::LogicalResult prepareObjects(mlir::ModuleOp program,
                                   const PrepareOptions &options);

} // namespace alula::objects

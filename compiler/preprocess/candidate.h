#pragma once

#include "compiler/preprocess/contract.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <string>

namespace alula::preprocess {

/// An executable on its way.
struct Candidate {
  dispatch::ExecutableOp original;
  Contract contract;
  mlir::OwningOpRef<mlir::ModuleOp> envelope;
  /// By the name of their entry.
  std::map<std::string, llvm::SmallVector<dispatch::LaunchOp>> launches;
  bool isChanged = false;
};

struct Failure {
  Candidate *candidate;
  Problem problem;
  std::string said, folder;
};

} // namespace alula::preprocess

#pragma once

#include "compiler/preprocess/contract.h"
#include "compiler/preprocess/problem.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>

namespace alula::preprocess {

/// An executable on its way.
struct Candidate {
  dispatch::ExecutableOp original;
  Contract contract;
  mlir::OwningOpRef<mlir::ModuleOp> envelope;
  bool isChanged = false;
  /// An offer was taken: no other is asked for.
  bool isTaken = false;
};

struct Failure {
  Candidate *candidate;
  Problem problem;
  std::string said, folder;
};

} // namespace alula::preprocess

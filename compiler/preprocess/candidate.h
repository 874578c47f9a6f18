#pragma once

#include "compiler/preprocess/contract.h"
#include "compiler/preprocess/problem.h"
#include "dialect/dispatch/library_call.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>
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
  /// What a library is to compute instead; the envelope stays as it was.
  std::optional<dispatch::LibraryCall> call;
};

struct Failure {
  Candidate *candidate;
  Problem problem;
  std::string said, folder;
};

} // namespace alula::preprocess

#pragma once

#include "compiler/preprocess/candidate.h"

#include <optional>

namespace alula::preprocess {

/// Two programs that launch one kernel as the program does, before and after
/// tools have had it; "main" has the kernel's tensors. Nothing if no launch has
/// only sizes and numbers that are known.
struct Comparison {
  mlir::OwningOpRef<mlir::ModuleOp> before, after;
};
std::optional<Comparison> makeComparison(const Candidate &candidate);

/// The same of a kernel as it was and as a library computes it, which must.
std::optional<Comparison> makeComparison(const Candidate &candidate,
                                         const dispatch::LibraryCall &call);

} // namespace alula::preprocess

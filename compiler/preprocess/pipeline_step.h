#pragma once

#include "compiler/preprocess/candidate.h"
#include "compiler/preprocess/plan.h"

#include <functional>
#include <vector>

namespace alula::preprocess {

/// Takes every candidate through passes, and returns what went wrong. Without
/// keep-going that is the first one that fails, in the order of candidates,
/// however many ran at once.
std::vector<Failure> runPipelineStep(const Plan &plan, const Step &step,
                                     unsigned number,
                                     llvm::MutableArrayRef<Candidate> candidates,
                                     const std::function<bool()> &isCancelled);

} // namespace alula::preprocess

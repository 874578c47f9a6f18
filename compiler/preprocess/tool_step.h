#pragma once

#include "compiler/preprocess/candidate.h"
#include "compiler/preprocess/plan.h"

#include <functional>
#include <vector>

namespace alula::preprocess {

/// Takes every candidate through one tool, several at a time, and returns what
/// went wrong. Without keep-going the first failure ends the others.
std::vector<Failure> runToolStep(const Plan &plan, const Step &step,
                                 unsigned number,
                                 llvm::MutableArrayRef<Candidate> candidates,
                                 const std::function<bool()> &isCancelled);

} // namespace alula::preprocess

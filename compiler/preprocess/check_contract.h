#pragma once

#include "compiler/preprocess/contract.h"
#include "compiler/preprocess/problem.h"

namespace alula::preprocess {

/// Name, and entries without their functions. Holds before `executable` has
/// been verified.
Contract readShell(dispatch::ExecutableOp executable);
/// All of it but launches and limits.
Contract readContract(dispatch::ExecutableOp executable);

std::optional<Problem> compareShells(const Contract &before,
                                     const Contract &after);
/// `executable` is what `after` was read from, and has been verified.
std::optional<Problem> compareBodies(const Contract &before,
                                     const Contract &after,
                                     dispatch::ExecutableOp executable);

/// Puts back what is ours: the location, visibility, and attributes of ours.
void restoreOwn(dispatch::ExecutableOp before, dispatch::ExecutableOp after);

} // namespace alula::preprocess

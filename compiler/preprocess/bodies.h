// What the function of an entry may have become.

#pragma once

#include "compiler/preprocess/contract.h"
#include "compiler/preprocess/problem.h"

namespace alula::preprocess {

/// Form and types of an entry's function.
void readBody(dispatch::ExecutableOp executable, Contract::Entry &entry);

/// Whether the function takes what the host gives: the same tensors, or one of
/// the forms that they are lowered to.
std::optional<Problem> checkBody(dispatch::EntryOp entry,
                                 const Contract::Entry &is,
                                 const Contract::Entry &was);

/// Functions that are called and have no body must be of the kernel library.
std::optional<Problem> checkCalls(dispatch::ExecutableOp executable);

} // namespace alula::preprocess

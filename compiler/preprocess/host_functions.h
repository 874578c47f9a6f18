// What a tool may have the host compute for each launch: the grid, and more
// constants. It says so by functions of integers beside the kernel.

#pragma once

#include "compiler/preprocess/contract.h"
#include "compiler/preprocess/problem.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace alula::preprocess {

/// Whether the functions that the entry names are ones that the host can run:
/// one block of integer arithmetic on the constants of a launch.
std::optional<Problem> checkHostFunctions(dispatch::EntryOp entry,
                                          const Contract::Entry &was);

/// Whether the grid fits the machines and the body, also that of each launch
/// whose constants are known.
std::optional<Problem> checkGrid(dispatch::EntryOp entry,
                                 const Contract::Entry &is,
                                 const Contract::Entry &was,
                                 const GridLimits &limits);
/// The same of what MLIR's verifier has not seen yet.
std::optional<Problem> checkSizes(dispatch::ExecutableOp executable,
                                  const Contract &before);

/// How many constants the host adds to those of a launch.
size_t countAddedConstants(dispatch::EntryOp entry);

/// Whether somebody else has chosen the grid.
bool hasOwnGrid(dispatch::EntryOp entry, const Contract::Entry &was);

/// Takes the functions out of the executable and inlines them where it is
/// launched.
void inlineHostFunctions(
    dispatch::ExecutableOp executable,
    llvm::function_ref<llvm::ArrayRef<dispatch::LaunchOp>(llvm::StringRef)>
        getLaunches);

/// What is known of the constants of a launch.
Contract::Numbers readConstants(dispatch::LaunchOp launch);

} // namespace alula::preprocess

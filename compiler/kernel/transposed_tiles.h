#pragma once

#include "dialect/dispatch/machine.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace alula::kernel {

/// Makes a loop over elements one over tiles, each of a workgroup, if some of
/// what it loads lies across: the threads then copy that to the workgroup's
/// memory as it lies, and read it there. False if the loop stays as it is.
/// `isPrivate` says which memory has a thread for itself.
bool shareTransposes(mlir::scf::ParallelOp loop,
                     const dispatch::MachineFacts &machine,
                     llvm::function_ref<bool(mlir::Value memory)> isPrivate);

} // namespace alula::kernel

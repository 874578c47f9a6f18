#pragma once

#include "compiler/dispatch/kernel_groups.h"

#include "mlir/IR/Value.h"

namespace alula::dispatch {

class HostSizes;

/// For each output of a group the input in whose memory it may be computed, or
/// -1: every element that the kernel reads of that input is still there when it
/// is read.
llvm::SmallVector<int64_t> chooseInPlace(const KernelGroup &group,
                                         llvm::ArrayRef<mlir::Value> inputs,
                                         llvm::ArrayRef<mlir::Value> outputs,
                                         HostSizes &sizes);

} // namespace alula::dispatch

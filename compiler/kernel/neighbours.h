#pragma once

#include "dialect/dispatch/machine.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

// Loops over elements that lie one behind the other: several of them are read
// and written at once.

namespace alula::kernel {

/// Sizes of a loop from 0 by steps of 1; nothing if one is not known.
llvm::SmallVector<int64_t> getConstantSizes(mlir::scf::ParallelOp loop);

/// Whether an op, and all in it, may be done for several elements in turns by
/// one thread: `isPrivate` says which memory has a thread for itself.
bool mayInterleave(mlir::Operation *op,
                   llvm::function_ref<bool(mlir::Value memory)> isPrivate);

/// Dimensions of a loop that only say together where an element is become one:
/// rows of any length are then one long row. The loop may be another one after
/// it.
mlir::scf::ParallelOp joinDimensions(mlir::scf::ParallelOp loop);

/// Neighbours along the last dimension that one thread is to have: as many as
/// fill a vector of the machine, if there is work for all threads then. One
/// thread must be able to do them at the same time: `isPrivate` says which
/// memory has a thread for itself.
int64_t countTogether(mlir::scf::ParallelOp loop,
                      const dispatch::MachineFacts &machine,
                      llvm::function_ref<bool(mlir::Value memory)> isPrivate);
void setTogether(mlir::scf::ParallelOp loop, int64_t count);
int64_t getTogether(mlir::scf::ParallelOp loop);

/// Copies the body of a loop to where the builder is, for `count` neighbours of
/// its last dimension, op by op: what they load and store stands together.
void copyTogether(mlir::OpBuilder &builder, mlir::scf::ParallelOp loop,
                  const mlir::IRMapping &mapping, int64_t count);

} // namespace alula::kernel

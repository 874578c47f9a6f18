#pragma once

#include "compiler/standalone/program.h"
#include "dialect/dispatch/ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace alula::standalone {

/// The arena of one function: its slots, and what kernels and callees need while
/// they run.
struct Arena {
  uint64_t bytes = 0, lowerBound = 0;
  std::vector<Piece> pieces;
  /// Where a slot, the scratch of a kernel or the arena of a callee begins.
  llvm::DenseMap<mlir::Operation *, uint64_t> places;
};

/// `getNeed` says how many bytes a `run` or a `call` needs for itself.
Arena planArena(mlir::func::FuncOp function, uint64_t alignment,
                llvm::function_ref<uint64_t(mlir::Operation *)> getNeed);

/// What lives at the step where most does, for people.
std::string describePeak(const Function &function);

} // namespace alula::standalone

#pragma once

#include "compiler/kernel/plan/attention.h"
#include "compiler/kernel/plan/epilogue.h"
#include "compiler/kernel/plan/row_nests.h"
#include "dialect/plan/plan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

// The plan of a kernel: what stands on its ops, written, checked and read.

namespace alula::kernel {

/// Null for an op that has no stage.
plan::StageAttr getStage(mlir::Operation *op);

/// Whether it is said how the kernel is computed.
bool isPlanned(mlir::func::FuncOp kernel);

/// False where everything is a scalar, as in the body of a reduction: there is
/// nothing to decide.
bool needsPlan(mlir::Block &block);
/// False for constants and what is no tensor.
bool needsStage(mlir::Operation *op);

/// What stage an op is if it has one of its own.
plan::Kind getOwnKind(mlir::Operation *op);
/// What that goes over: `ShapedType::kDynamic` for sizes that only the call
/// knows.
llvm::SmallVector<int64_t> getSpace(mlir::Operation *op);

/// Writes a plan for each op and for the grid. Ops of a block may change
/// places.
void planKernel(mlir::func::FuncOp kernel,
                std::optional<int64_t> pinnedWorkgroups = {});

/// What the grids of kernels on the machine of `op` follow, if nobody says
/// more.
plan::GridAttr getUsualGrid(mlir::Operation *op);

/// Says why a plan is not possible.
mlir::LogicalResult verifyPlan(mlir::func::FuncOp kernel);

/// What the stages of a block say together.
struct BlockPlan {
  /// Ops without memory: who reads an element of them computes it.
  llvm::DenseSet<mlir::Operation *> inlined;
  Epilogues epilogues;
  RowNests nests;
  Attentions attentions;
};
BlockPlan readPlan(mlir::Block &block);

} // namespace alula::kernel

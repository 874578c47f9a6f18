#pragma once

#include "dialect/plan/plan.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"

// In which order the elements of a tensor are written to memory. Where an
// operand is read across its rows, as by a transpose, writing in tiles keeps
// the cache lines of both; a plain transpose is a copy that the kernel library
// makes.

namespace alula::kernel {

struct FillOrder {
  plan::Way way = plan::Way::Elements;
  /// One size for each dimension; none if elements are written one by one in
  /// row-major order. Of `Elements`: those that are unrolled.
  llvm::SmallVector<int64_t> tile;
};

/// What is known of where tensors are.
struct FillQuestion {
  llvm::function_ref<bool(mlir::Value)> isInlined, isInMemory;
  /// Whether the tensor is the only one that its loops write.
  bool isAlone = true;
};

/// The dimension of a transpose's result along which its operand has neighbours
/// in memory.
size_t getCrossedDim(mlir::stablehlo::TransposeOp transpose);

/// Transposes of memory among the inlined ops that elements of `tensor` are
/// made of: those that are crossed as the first one is, and that can be copied.
/// None if that one is not crossed.
llvm::SmallVector<mlir::stablehlo::TransposeOp>
findCrossed(mlir::Value tensor, const FillQuestion &question);

/// What the stage of the tensor's op says; the usual order where it says
/// nothing.
FillOrder getFillOrder(mlir::Value tensor, const FillQuestion &question);

/// The fastest for an op that is a map, or inlined and returned by its block,
/// if `inlined` ops of the block have no memory.
FillOrder planFillOrder(mlir::Operation *op,
                        const llvm::DenseSet<mlir::Operation *> &inlined);

/// Why the order that the op's stage says is not possible; empty if it is.
std::string findFillProblem(mlir::Operation *op,
                            const llvm::DenseSet<mlir::Operation *> &inlined);

} // namespace alula::kernel

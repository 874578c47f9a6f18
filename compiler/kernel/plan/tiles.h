#pragma once

#include "dialect/stablehlo/ops.h"

#include "llvm/ADT/DenseSet.h"

// Into what pieces a stage is cut: enough for the cores of a machine, each
// small enough to stay near. What the numbers of a tile mean is said by
// `#plan.stage`.

namespace alula::kernel {

struct TileQuestion {
  /// Ops without memory.
  const llvm::DenseSet<mlir::Operation *> &inlined;
  /// The op, or the last of its epilogue.
  mlir::Operation *last;
};

/// Of a product that works in blocks.
llvm::SmallVector<int64_t> chooseTile(mlir::stablehlo::DotGeneralOp dot,
                                      const TileQuestion &question);
llvm::SmallVector<int64_t>
chooseTile(mlir::stablehlo::ConvolutionOp convolution,
           const TileQuestion &question);
/// Of a reduction of columns.
llvm::SmallVector<int64_t> chooseTile(mlir::stablehlo::ReduceOp reduce,
                                      const TileQuestion &question);

/// The width of the panels that the right side of a product lies in; 0 if it
/// lies otherwise. Tiles begin where panels do.
int64_t getPanelWidth(mlir::stablehlo::DotGeneralOp dot,
                      const llvm::DenseSet<mlir::Operation *> &inlined);
/// The same of a convolution's kernel.
int64_t getPanelWidth(mlir::stablehlo::ConvolutionOp convolution,
                      const llvm::DenseSet<mlir::Operation *> &inlined);

/// The product of sizes; nothing if one is not known.
std::optional<int64_t> multiply(llvm::ArrayRef<int64_t> sizes);

} // namespace alula::kernel

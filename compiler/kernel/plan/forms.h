#pragma once

#include "dialect/stablehlo/ops.h"

// Which way to compute an op its types allow.

namespace alula::kernel {

/// Ops that compute their result block by block, by calls of the library or as
/// columns. Elementwise ops that follow them need not wait for the whole
/// result.
bool worksInBlocks(mlir::Operation *op);

/// Whether neighbours in memory belong to different results.
bool reducesColumns(mlir::stablehlo::ReduceOp reduce);

/// A convolution whose window is larger than its output, in the layout of the
/// gradients of weights: a product whose depth is the window.
bool isWindowProduct(mlir::stablehlo::ConvolutionOp convolution);

/// Whether what lies side by side in the kernel belongs to different outputs.
bool liesByOutputs(mlir::stablehlo::ConvDimensionNumbersAttr numbers,
                   mlir::RankedTensorType kernel);

/// Whether neighbours of the last dimension that is kept can be reduced side by
/// side, so many together: each state has a lane.
bool mayReduceRowsTogether(mlir::stablehlo::ReduceOp reduce, int64_t rows);

/// Whether a row is long enough, and its reduction such, that its parts may be
/// reduced side by side.
bool mayReduceInParts(mlir::stablehlo::ReduceOp reduce, int64_t parts);

/// The dimensions of one side that are neither batch nor contracted.
llvm::SmallVector<int64_t> collectFreeDims(mlir::stablehlo::DotGeneralOp dot,
                                           bool isLhs);

/// Whether neighbours in a batch lie between the columns of a matrix, which is
/// the right side of a product, or the left one. Rows of the product are then
/// computed some columns of each matrix after the other.
bool hasBatchBetweenColumns(mlir::stablehlo::DotGeneralOp dot, bool isLhs);

} // namespace alula::kernel

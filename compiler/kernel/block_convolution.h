#pragma once

#include "dialect/stablehlo/ops.h"

namespace alula::kernel {
class Lowering;

/// Whether its sizes allow it and are worth it.
bool worksInBlocks(mlir::stablehlo::ConvolutionOp convolution);
void emitBlockConvolution(mlir::stablehlo::ConvolutionOp convolution,
                          Lowering &lowering);

/// The same for windows that are larger than the output, in the layout of the
/// gradients of weights.
bool isWindowProduct(mlir::stablehlo::ConvolutionOp convolution,
                     Lowering &lowering);
void emitWindowProduct(mlir::stablehlo::ConvolutionOp convolution,
                       Lowering &lowering);

} // namespace alula::kernel

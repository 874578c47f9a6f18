#pragma once

#include "dialect/stablehlo/ops.h"

namespace alula::kernel {
class Lowering;

/// Whether its sizes allow it and are worth it.
bool worksInBlocks(mlir::stablehlo::ConvolutionOp convolution);
void emitBlockConvolution(mlir::stablehlo::ConvolutionOp convolution,
                          Lowering &lowering);

} // namespace alula::kernel

#pragma once

#include "dialect/stablehlo/ops.h"

namespace alula::kernel {
class Lowering;
} // namespace alula::kernel

namespace alula::cpu {

/// By the tile of its plan.
void emitBlockConvolution(mlir::stablehlo::ConvolutionOp convolution,
                          kernel::Lowering &lowering);

/// The same for windows that are larger than the output, in the layout of the
/// gradients of weights.
void emitWindowProduct(mlir::stablehlo::ConvolutionOp convolution,
                       kernel::Lowering &lowering);

} // namespace alula::cpu

#pragma once

#include "dialect/stablehlo/ops.h"

#include "mlir/IR/PatternMatch.h"

namespace alula::input {

/// custom_call @stablehlo.dynamic_reduce_window → dynamic_pad and
/// reduce_window, or a loop over the places in a window whose size is not
/// known; false if the call is not as it should be.
bool lowerDynamicReduceWindow(mlir::stablehlo::CustomCallOp call,
                              mlir::IRRewriter &rewriter);

} // namespace alula::input

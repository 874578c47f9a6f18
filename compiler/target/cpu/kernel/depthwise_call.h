#pragma once

#include "compiler/target/cpu/kernel/convolution.h"

namespace alula::cpu {

/// Whether the library computes a convolution, row by row: each channel has
/// weights of its own, channels lie side by side in memory everywhere, and are
/// of the type of their sums. See library/depthwise.h.
bool isDepthwiseOfLibrary(const Convolution &convolution);
void emitDepthwise(const Convolution &convolution);

} // namespace alula::cpu

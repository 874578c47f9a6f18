#pragma once

#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace alula::kernel {

/// One spatial dimension of a convolution; padding may be negative.
struct WindowNumbers {
  int64_t stride = 1, lhsDilation = 1, rhsDilation = 1, paddingLow = 0,
          kernelSize = 1;
};

/// Every `period`th output, from its phase on, reads the input without the
/// zeros of its dilation, with the same elements of the kernel:
///   out[phase + period * t] =
///       Σ over j < numTaps of in[t * stride + j * tapStep + first] *
///                             kernel[firstTap + j * tapPeriod]
/// Together the phases are the convolution, and nothing is multiplied by a zero
/// that is none of padding.
struct ConvolutionPhases {
  explicit ConvolutionPhases(const WindowNumbers &window);

  /// What one phase reads. Without taps its outputs are zero.
  struct Phase {
    int64_t firstTap = 0, numTaps = 0, first = 0;
  };

  int64_t period = 1, stride = 1, tapStep = 1, tapPeriod = 1;
  llvm::SmallVector<Phase, 2> phases;
  /// Where the first output of any phase begins to read, how many inputs all of
  /// them together reach, and the most taps of one.
  int64_t begin = 0, reach = 1, mostTaps = 0;

  /// Inputs that so many neighbouring outputs of each phase need.
  int64_t getExtent(int64_t outputs) const {
    return (outputs - 1) * stride + reach;
  }
  /// Outputs of the first phase, which has most, of so many in all.
  int64_t countOutputs(int64_t outputs) const {
    return (outputs + period - 1) / period;
  }
};

} // namespace alula::kernel

#include "compiler/kernel/plan/convolution_phases.h"

#include <algorithm>
#include <limits>
#include <numeric>

using namespace alula::kernel;

// Output o and tap k meet input (o * stride + k * rhsDilation - padding) /
// lhsDilation, where that is a whole number. With o = phase + period * t the
// remainder does not depend on t; the taps without one are a period apart.
ConvolutionPhases::ConvolutionPhases(const WindowNumbers &window) {
  int64_t dilation = window.lhsDilation;
  int64_t ofStride = std::gcd(dilation, window.stride);
  int64_t ofTaps = std::gcd(dilation, window.rhsDilation);
  period = dilation / ofStride;
  stride = window.stride / ofStride;
  tapPeriod = dilation / ofTaps;
  tapStep = window.rhsDilation / ofTaps;
  int64_t end = std::numeric_limits<int64_t>::min();
  begin = std::numeric_limits<int64_t>::max();
  for (int64_t i = 0; i < period; ++i) {
    Phase phase;
    int64_t limit = std::min(tapPeriod, window.kernelSize);
    for (int64_t tap = 0; tap < limit; ++tap) {
      int64_t position =
          i * window.stride + tap * window.rhsDilation - window.paddingLow;
      if (position % dilation != 0)
        continue;
      phase.firstTap = tap;
      phase.numTaps = (window.kernelSize - tap + tapPeriod - 1) / tapPeriod;
      phase.first = position / dilation;
      begin = std::min(begin, phase.first);
      end = std::max(end, phase.first + (phase.numTaps - 1) * tapStep + 1);
      mostTaps = std::max(mostTaps, phase.numTaps);
      break;
    }
    phases.push_back(phase);
  }
  if (mostTaps == 0)
    begin = 0, end = 1;
  for (Phase &phase : phases)
    if (phase.numTaps == 0)
      phase.first = begin;
  reach = end - begin;
}

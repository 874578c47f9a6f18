// Depthwise convolutions, some outputs and vectors of channels at a time, whose
// sums stay in registers. depthwise_lanes.inc is included for each size of
// vectors.
#include "compiler/kernel/library/depthwise.h"
#include "compiler/kernel/library/code_forms.h"
#include "compiler/kernel/library/machine_facts.h"

#pragma STDC FP_CONTRACT ON

/* Elements of a window in one dimension that meet an input. */
typedef struct {
  int64_t first, count;
} span;

/* Element `i` would meet `first` + i * `step`. */
INLINE span meet(int64_t first, int64_t step, int64_t size, int64_t limit) {
  if (first >= 0 && first + (size - 1) * step < limit)
    return (span){0, size};
  int64_t begin = first < 0 ? (step - 1 - first) / step : 0;
  int64_t end = first < limit ? (limit - first + step - 1) / step : 0;
  end = end < size ? end : size;
  return (span){begin, begin < end ? end - begin : 0};
}

#define T float
#define TYPE f32
#include "compiler/kernel/library/depthwise.inc"
#undef T
#undef TYPE

#define T double
#define TYPE f64
#include "compiler/kernel/library/depthwise.inc"

// Sums of rows, in accumulators that registers hold, and of columns, in
// accumulators that the nearest cache holds. sums.inc is included for each size
// of vectors.
#include "compiler/kernel/library/sums.h"
#include "compiler/kernel/library/code_forms.h"
#include "compiler/kernel/library/machine_facts.h"

#define T float
#define BITS int32_t
#define TYPE f32
#include "compiler/kernel/library/sums.inc"
#undef T
#undef BITS
#undef TYPE

#define T double
#define BITS int64_t
#define TYPE f64
#include "compiler/kernel/library/sums.inc"

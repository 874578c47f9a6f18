// Fourier transforms: passes of radix 2, 3, 4, 5, 8 and primes, Bluestein's
// convolution for lengths with large primes, long lines as matrices.
#include "compiler/kernel/library/fft.h"
#include "compiler/kernel/library/machine_facts.h"
#include "compiler/kernel/library/matrix.h"
#include "compiler/kernel/library/thread_forms.h"

#define BODY "compiler/kernel/library/fft_passes.inc"
#include "compiler/kernel/library/for_each_element.inc"
#undef BODY
#define BODY "compiler/kernel/library/fft_lanes.inc"
#include "compiler/kernel/library/for_each_element.inc"
#undef BODY
#define BODY "compiler/kernel/library/fft_blocks.inc"
#include "compiler/kernel/library/for_each_element.inc"
#undef BODY
#define BODY "compiler/kernel/library/fft_split.inc"
#include "compiler/kernel/library/for_each_element.inc"
#undef BODY
#define BODY "compiler/kernel/library/fft.inc"
#include "compiler/kernel/library/for_each_element.inc"

/* Functions that kernels call, compiled to LLVM bitcode and linked into each
 * kernel's module. Parameters are only pointers, int32_t, int64_t, float and
 * double, so that every target passes them alike. Nothing here has state,
 * allocates, or calls anything outside the library. */
#pragma once

#include "compiler/kernel/library/attention.h"
#include "compiler/kernel/library/complex_math.h"
#include "compiler/kernel/library/depthwise.h"
#include "compiler/kernel/library/linear_algebra.h"
#include "compiler/kernel/library/product.h"
#include "compiler/kernel/library/real_math.h"
#include "compiler/kernel/library/small_floats.h"
#include "compiler/kernel/library/sort.h"
#include "compiler/kernel/library/sums.h"
#include "compiler/kernel/library/transpose.h"

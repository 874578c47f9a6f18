/* Functions that kernels call, compiled to LLVM bitcode and linked into each
 * kernel's module. Parameters are only pointers, int32_t, int64_t, float and
 * double, so that every target passes them alike. Nothing here has state,
 * allocates, or calls anything outside the library. */
#pragma once

#include "compiler/target/cpu/library/complex_math.h"
#include "compiler/target/cpu/library/linear_algebra.h"
#include "compiler/target/cpu/library/real_math.h"
#include "compiler/target/cpu/library/small_floats.h"

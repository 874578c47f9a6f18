// What the files of linear algebra share: scalars and vectors of each element
// type as inline functions, and the products and reflectors of matrix.c.
//
// Complex numbers are C's, multiplied and divided by the plain formulas; where
// the range matters, `quotient` and `magnitude` are used.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// What `cancel` of linear_algebra.h says. The flag changes at any time.
static inline int32_t alula_is_cancelled(const int32_t *cancel) {
  return cancel && *(const volatile int32_t *)cancel != 0;
}

#pragma STDC CX_LIMITED_RANGE ON
#pragma STDC FP_CONTRACT ON

#define BODY "compiler/kernel/library/matrix_inline.inc"
#include "compiler/kernel/library/for_each_element.inc"
#undef BODY

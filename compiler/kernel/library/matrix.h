// What the files of linear algebra share: scalars and vectors of each element
// type as inline functions, and the products and reflectors of matrix.c.
//
// Complex numbers are C's, multiplied and divided by the plain formulas; where
// the range matters, `quotient` and `magnitude` are used.
#pragma once

#include <stddef.h>
#include <stdint.h>

#pragma STDC CX_LIMITED_RANGE ON
#pragma STDC FP_CONTRACT ON

#define BODY "compiler/kernel/library/matrix_inline.inc"
#include "compiler/kernel/library/for_each_element.inc"
#undef BODY

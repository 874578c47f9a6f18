// Singular values and vectors.
#include "compiler/kernel/library/linear_algebra.h"
#include "compiler/kernel/library/matrix.h"

#define BODY "compiler/kernel/library/bidiagonal.inc"
#include "compiler/kernel/library/for_each_element.inc"
#undef BODY
#include "compiler/kernel/library/divide_secular.inc"
static int32_t
alula_diagonalize_bidiagonal_f64(double *d, double *e, int64_t n, double *left,
                                 int64_t left_length, double *right,
                                 int64_t right_length, const int32_t *cancel);
#define BODY "compiler/kernel/library/divide_rows.inc"
#include "compiler/kernel/library/for_each_element.inc"
#undef BODY
#define BODY "compiler/kernel/library/divide_bidiagonal.inc"
#include "compiler/kernel/library/for_each_element.inc"
#undef BODY
#include "compiler/kernel/library/bidiagonal_values.inc"
#define BODY "compiler/kernel/library/svd.inc"
#include "compiler/kernel/library/for_each_element.inc"

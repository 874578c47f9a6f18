// Hermitian matrices: reduction to tridiagonal form, eigenvalues and vectors.
#include "compiler/kernel/library/linear_algebra.h"
#include "compiler/kernel/library/matrix.h"

#define BODY "compiler/kernel/library/tridiagonal.inc"
#include "compiler/kernel/library/for_each_element.inc"
#undef BODY
static int32_t alula_diagonalize_f64(double *d, double *e, int64_t n,
                                     double *rows, int64_t length,
                                     double *cosines, double *sines,
                                     const int32_t *cancel);
#define BODY "compiler/kernel/library/tridiagonal_ql.inc"
#include "compiler/kernel/library/for_each_element.inc"
#undef BODY
#include "compiler/kernel/library/divide_secular.inc"
#define BODY "compiler/kernel/library/divide_rows.inc"
#include "compiler/kernel/library/for_each_element.inc"
#undef BODY
#define BODY "compiler/kernel/library/divide_symmetric.inc"
#include "compiler/kernel/library/for_each_element.inc"
#undef BODY
#define BODY "compiler/kernel/library/eigen_symmetric.inc"
#include "compiler/kernel/library/for_each_element.inc"

// General square matrices: Hessenberg and Schur form, eigenvalues and vectors.
#include "compiler/kernel/library/linear_algebra.h"
#include "compiler/kernel/library/matrix.h"
#include "compiler/kernel/library/code_forms.h"
#include "compiler/kernel/library/machine_facts.h"
#include "compiler/kernel/library/transpose.h"

// Vectors wider than the machine's only pass between inlined functions.
#pragma clang diagnostic ignored "-Wpsabi"

#define BODY "compiler/kernel/library/hessenberg.inc"
#include "compiler/kernel/library/for_each_element.inc"
#undef BODY
#define BODY "compiler/kernel/library/schur_real.inc"
#include "compiler/kernel/library/for_each_element.inc"
#undef BODY
#define BODY "compiler/kernel/library/schur_complex.inc"
#include "compiler/kernel/library/for_each_element.inc"
#undef BODY
#define BODY "compiler/kernel/library/schur_chains.inc"
#include "compiler/kernel/library/for_each_element.inc"
#undef BODY
#define BODY "compiler/kernel/library/schur_deflate.inc"
#include "compiler/kernel/library/for_each_element.inc"
#undef BODY
#define BODY "compiler/kernel/library/schur_shifts.inc"
#include "compiler/kernel/library/for_each_element.inc"
#undef BODY

static int32_t alula_decompose_schur_f64(const double *a, double *t, double *q,
                                         int64_t n, double epsilon, double tiny,
                                         double *work, const int32_t *cancel);
static int32_t alula_decompose_schur_c128(const double _Complex *a,
                                          double _Complex *t,
                                          double _Complex *q, int64_t n,
                                          double epsilon, double tiny,
                                          double _Complex *work,
                                          const int32_t *cancel);
#define BODY "compiler/kernel/library/schur.inc"
#include "compiler/kernel/library/for_each_element.inc"
#undef BODY
#define BODY "compiler/kernel/library/eigen_general.inc"
#include "compiler/kernel/library/for_each_element.inc"

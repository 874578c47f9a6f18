// General square matrices: Hessenberg and Schur form, eigenvalues and vectors.
#include "compiler/kernel/library/linear_algebra.h"
#include "compiler/kernel/library/matrix.h"

#define BODY "compiler/kernel/library/hessenberg.inc"
#include "compiler/kernel/library/for_each_element.inc"
#undef BODY
#define BODY "compiler/kernel/library/schur_real.inc"
#include "compiler/kernel/library/for_each_element.inc"
#undef BODY
#define BODY "compiler/kernel/library/schur_complex.inc"
#include "compiler/kernel/library/for_each_element.inc"
#undef BODY
#define BODY "compiler/kernel/library/schur.inc"
#include "compiler/kernel/library/for_each_element.inc"
#undef BODY
#define BODY "compiler/kernel/library/eigen_general.inc"
#include "compiler/kernel/library/for_each_element.inc"

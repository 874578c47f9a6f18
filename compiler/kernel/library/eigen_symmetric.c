// Hermitian matrices: reduction to tridiagonal form, eigenvalues and vectors.
#include "compiler/kernel/library/linear_algebra.h"
#include "compiler/kernel/library/matrix.h"

#define BODY "compiler/kernel/library/tridiagonal.inc"
#include "compiler/kernel/library/for_each_element.inc"
#undef BODY
#define BODY "compiler/kernel/library/eigen_symmetric.inc"
#include "compiler/kernel/library/for_each_element.inc"

// Hermitian matrices: reduction to tridiagonal form, eigenvalues and vectors.
#include "compiler/target/cpu/library/linear_algebra.h"
#include "compiler/target/cpu/library/matrix.h"

#define BODY "compiler/target/cpu/library/tridiagonal.inc"
#include "compiler/target/cpu/library/for_each_element.inc"
#undef BODY
#define BODY "compiler/target/cpu/library/eigen_symmetric.inc"
#include "compiler/target/cpu/library/for_each_element.inc"

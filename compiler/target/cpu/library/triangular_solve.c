// Triangular systems, in blocks; tridiagonal systems.
#include "compiler/target/cpu/library/linear_algebra.h"
#include "compiler/target/cpu/library/matrix.h"

#define BODY "compiler/target/cpu/library/triangular_solve.inc"
#include "compiler/target/cpu/library/for_each_element.inc"
#undef BODY
#define BODY "compiler/target/cpu/library/tridiagonal_solve.inc"
#include "compiler/target/cpu/library/for_each_element.inc"

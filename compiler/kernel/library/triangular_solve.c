// Triangular systems, in blocks; tridiagonal systems.
#include "compiler/kernel/library/linear_algebra.h"
#include "compiler/kernel/library/matrix.h"
#include "compiler/kernel/library/matrix_lanes.h"

#define BODY "compiler/kernel/library/triangular_solve.inc"
#include "compiler/kernel/library/for_each_element.inc"
#undef BODY
#define BODY "compiler/kernel/library/tridiagonal_solve.inc"
#include "compiler/kernel/library/for_each_element.inc"

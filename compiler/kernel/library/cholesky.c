// Cholesky factorization in panels of blocks.
#include "compiler/kernel/library/linear_algebra.h"
#include "compiler/kernel/library/matrix.h"
#include "compiler/kernel/library/matrix_lanes.h"

#define BODY "compiler/kernel/library/cholesky.inc"
#include "compiler/kernel/library/for_each_element.inc"

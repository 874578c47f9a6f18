// Cholesky factorization, blocked and right-looking.
#include "compiler/target/cpu/library/linear_algebra.h"
#include "compiler/target/cpu/library/matrix.h"

#define BODY "compiler/target/cpu/library/cholesky.inc"
#include "compiler/target/cpu/library/for_each_element.inc"

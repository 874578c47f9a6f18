// Singular values and vectors.
#include "compiler/target/cpu/library/linear_algebra.h"
#include "compiler/target/cpu/library/matrix.h"

#define BODY "compiler/target/cpu/library/bidiagonal.inc"
#include "compiler/target/cpu/library/for_each_element.inc"
#undef BODY
#define BODY "compiler/target/cpu/library/svd.inc"
#include "compiler/target/cpu/library/for_each_element.inc"

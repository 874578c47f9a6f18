// Products with matrices whose elements are listed.
//
// A strip of c is as wide as two vectors. Its rows stay in registers while
// neighbours in the list are of one row, so that a list in order writes each
// row once; any other order is right too, and the sums are the same.
#include "compiler/kernel/library/sparse.h"
#include "compiler/kernel/library/code_forms.h"

#pragma STDC FP_CONTRACT ON

/* Values that are fetched ahead. */
enum { AHEAD = 16 };

#define T float
#define TYPE f32
#include "compiler/kernel/library/sparse.inc"
#undef TYPE
#undef T

#define T double
#define TYPE f64
#include "compiler/kernel/library/sparse.inc"
#undef TYPE
#undef T

// Products of matrices of reals.
//
// A panel of b, 128 bytes wide, is packed once for all rows of a; tiles of a
// few rows and two vectors keep their sums in registers. What a tile is depends
// on the machine's vectors: product_tile.inc is included for each size.
#include "compiler/kernel/library/code_forms.h"
#include "compiler/kernel/library/product.h"
#include "compiler/kernel/library/machine_facts.h"

#include <stddef.h>

#pragma STDC FP_CONTRACT ON

/* Rows of the panel that lie in one segment of a. */
typedef struct piece {
  int64_t offset, depth;
} piece;
/* At most so many meet in one panel. */
enum { MAX_PIECES = 64 };

#define T float
#define TYPE f32
#define PANEL (ALULA_PANEL_BYTES / 4)
#include "compiler/kernel/library/product.inc"
#undef T
#undef TYPE
#undef PANEL

#define T double
#define TYPE f64
#define PANEL (ALULA_PANEL_BYTES / 8)
#include "compiler/kernel/library/product.inc"

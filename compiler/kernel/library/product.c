// Products of matrices of reals, and of integers whose sums wrap.
//
// A panel of b, 128 bytes wide, is packed once for all rows of a; tiles of a
// few rows and two vectors keep their sums in registers. What a tile is depends
// on the machine's vectors: product_tile.inc is included for each size.
#include "compiler/kernel/library/product.h"
#include "compiler/kernel/library/code_forms.h"
#include "compiler/kernel/library/coming.h"
#include "compiler/kernel/library/machine_facts.h"
#include "compiler/kernel/library/row_walk.h"

#include <stddef.h>

#pragma STDC FP_CONTRACT ON

/* Rows of the panel that lie in one segment of a, and where b has them: how far
 * from the first one. */
typedef struct piece {
  int64_t offset, depth, b_offset;
} piece;
/* At most so many meet in one panel. */
enum { MAX_PIECES = 64 };

/* Rows of b that a panel holds, of `total`: they begin anywhere and end with a
 * segment or the panel. */
typedef struct part {
  int64_t total, limit;
  int64_t first, rows;
  piece pieces[MAX_PIECES];
  int64_t count;
} part;

/* Parts of one size up to `most`, for each has its price. */
INLINE void start_parts(part *now, int64_t total, int64_t most) {
  int64_t parts = (total + most - 1) / most;
  now->total = total;
  now->limit = parts ? (total + parts - 1) / parts : 1;
  now->first = now->rows = 0;
}

INLINE void take_part(part *now, const int64_t *segment_offsets, int64_t depth,
                      int64_t a_column, const int64_t *b_offsets,
                      int64_t b_row) {
  now->first += now->rows;
  now->rows = now->count = 0;
  AS_WRITTEN
  while (now->first + now->rows < now->total && now->rows < now->limit &&
         now->count < MAX_PIECES) {
    int64_t segment = (now->first + now->rows) / depth;
    int64_t inside = now->first + now->rows - segment * depth;
    int64_t left = depth - inside, room = now->limit - now->rows;
    piece *next = &now->pieces[now->count++];
    next->offset =
        (segment_offsets ? segment_offsets[segment] : 0) + inside * a_column;
    next->depth = left < room ? left : room;
    next->b_offset = b_offsets ? b_offsets[segment] + inside * b_row
                               : (now->first + now->rows) * b_row;
    now->rows += next->depth;
  }
}

/* What a tile fetches from rows that lie apart: it goes on by `step`, and by
 * `next` too after each WALKED_ROWS. */
typedef struct walk_ahead {
  const char *at;
  int64_t step, next;
} walk_ahead;
enum { WALKED_ROWS = 16 };

#define T float
#define ELEMENT_BYTES 4
#define BITS int32_t
#define TYPE f32
#define PANEL (ALULA_PANEL_BYTES / 4)
#include "compiler/kernel/library/product.inc"

#define T double
#define ELEMENT_BYTES 8
#define BITS int64_t
#define TYPE f64
#define PANEL (ALULA_PANEL_BYTES / 8)
#include "compiler/kernel/library/product.inc"

#define T uint32_t
#define ELEMENT_BYTES 4
#define BITS int32_t
#define TYPE i32
#define PANEL (ALULA_PANEL_BYTES / 4)
#include "compiler/kernel/library/product.inc"

#define T uint64_t
#define ELEMENT_BYTES 8
#define BITS int64_t
#define TYPE i64
#define PANEL (ALULA_PANEL_BYTES / 8)
#include "compiler/kernel/library/product.inc"

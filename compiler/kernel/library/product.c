// Products of matrices of reals, and of integers whose sums wrap.
//
// A panel of b, 128 bytes wide, is packed once for all rows of a; tiles of a
// few rows and two vectors keep their sums in registers. What a tile is depends
// on the machine's vectors: product_tile.inc is included for each size.
#include "compiler/kernel/library/product.h"
#include "compiler/kernel/library/code_forms.h"
#include "compiler/kernel/library/machine_facts.h"

#include <stddef.h>

#pragma STDC FP_CONTRACT ON

/* Rows of the panel that lie in one segment of a, and where b has them: how far
 * from the first one. */
typedef struct piece {
  int64_t offset, depth, b_offset;
} piece;
/* At most so many meet in one panel. */
enum { MAX_PIECES = 64 };
/* How much a tile's step fetches of what comes next: a panel in four tiles. */
enum { FETCHED_BY_STEP = ALULA_PANEL_BYTES / 4 };

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

/* Rows of c and of a, group by group. */
typedef struct row_walk {
  /* The rows not yet taken, and the number of the next one in its group. */
  int64_t left, row, m;
  /* Where it is, and how far it is to its neighbour and to the next group. */
  int64_t c, c_row, c_next, a, a_row, a_next;
} row_walk;

INLINE row_walk start_rows(int64_t c_group, int64_t c_row, int64_t a_group,
                           int64_t a_row, int64_t groups, int64_t m) {
  return (row_walk){.left = groups * m,
                    .m = m,
                    .c_row = c_row,
                    .c_next = c_group - (m - 1) * c_row,
                    .a_row = a_row,
                    .a_next = a_group - (m - 1) * a_row};
}

/* The next `wanted` rows or those that are left; for the others up to `most`
 * stands the last one. */
INLINE int64_t take_rows(row_walk *walk, int64_t wanted, int64_t most,
                         int64_t *to, int64_t *from) {
  int64_t count = walk->left < wanted ? walk->left : wanted;
  walk->left -= count;
  UNROLLED
  for (int64_t r = 0; r < most; ++r) {
    int isLast = walk->row == walk->m - 1, isThere = r < count;
    to[r] = isThere ? walk->c : to[r ? r - 1 : 0];
    from[r] = isThere ? walk->a : from[r ? r - 1 : 0];
    walk->c += isThere ? isLast ? walk->c_next : walk->c_row : 0;
    walk->a += isThere ? isLast ? walk->a_next : walk->a_row : 0;
    walk->row = isThere ? isLast ? 0 : walk->row + 1 : walk->row;
  }
  return count;
}

/* Of one group. */
INLINE void skip_rows(row_walk *walk, int64_t count) {
  int isEnd = walk->row + count == walk->m;
  walk->left -= count;
  walk->row = isEnd ? 0 : walk->row + count;
  walk->c += (count - 1) * walk->c_row + (isEnd ? walk->c_next : walk->c_row);
  walk->a += (count - 1) * walk->a_row + (isEnd ? walk->a_next : walk->a_row);
}

/* Memory that is needed next, of which each tile fetches a part. */
typedef struct coming {
  const char *at;
  int64_t bytes;
} coming;

/* What a tile of so many steps fetches: once all of it has come, what is `here`
 * already. */
INLINE const char *take_coming(coming *next, const void *here, int64_t steps) {
  const char *at = next->bytes > 0 ? next->at : here;
  next->at += steps * FETCHED_BY_STEP;
  next->bytes -= steps * FETCHED_BY_STEP;
  return at;
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

/* The rows of a product, of all groups one after the other. */
#pragma once

#include "compiler/kernel/library/code_forms.h"

#include <stdint.h>

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

/* Goes on by so many rows of one group. */
INLINE void skip_rows(row_walk *walk, int64_t count) {
  int isEnd = walk->row + count == walk->m;
  walk->left -= count;
  walk->row = isEnd ? 0 : walk->row + count;
  walk->c += (count - 1) * walk->c_row + (isEnd ? walk->c_next : walk->c_row);
  walk->a += (count - 1) * walk->a_row + (isEnd ? walk->a_next : walk->a_row);
}

/* The next `wanted` rows or those that are left; for the others up to `most`
 * stands the last one. */
INLINE int64_t take_rows(row_walk *walk, int64_t wanted, int64_t most,
                         int64_t *to, int64_t *from) {
  int64_t count = walk->left < wanted ? walk->left : wanted;
  // Of one group: nothing waits for the row before it.
  if (walk->row + count <= walk->m) {
    UNROLLED
    for (int64_t r = 0; r < most; ++r) {
      int64_t row = r < count ? r : count - 1;
      to[r] = walk->c + row * walk->c_row;
      from[r] = walk->a + row * walk->a_row;
    }
    skip_rows(walk, count);
    return count;
  }
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

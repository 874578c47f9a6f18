// Products with matrices whose elements are listed.
//
// A list in order of rows, as almost all are, is cut into parts of as many
// places and rows: `sparse_order` finds whether it is, a part of the list each.
// Sums of a row stay in registers until it is written, once. A list in another
// order is gone over for each strip of columns or, where there are few, each
// part of it adds to a copy of the result.
#include "compiler/kernel/library/sparse.h"
#include "compiler/kernel/library/code_forms.h"

#pragma STDC FP_CONTRACT ON

typedef uint32_t words __attribute__((vector_size(64)));
typedef uint32_t loose_words
    __attribute__((vector_size(64), aligned(4), may_alias));
typedef uint32_t eight_words __attribute__((vector_size(32)));
typedef uint32_t loose_eight_words
    __attribute__((vector_size(32), aligned(4), may_alias));

/// Rows are the even words from theirs on, columns too.
#define EVEN {~0u, 0, ~0u, 0, ~0u, 0, ~0u, 0, ~0u, 0, ~0u, 0, ~0u, 0, ~0u, 0}

/// Rows and columns of values: pairs, or columns and where each row starts.
typedef struct sparse_list {
  const int32_t *rows, *columns;
  /// Words from one to the next: 1 << shift.
  int shift;
  int64_t count;
  const int32_t *starts;
} sparse_list;

typedef struct sparse_border {
  int64_t row, place;
} sparse_border;

INLINE sparse_list listOfPairs(const int32_t *indices, int64_t count,
                               int32_t transposed) {
  return (sparse_list){indices + (transposed ? 1 : 0),
                       indices + (transposed ? 0 : 1), 1, count, 0};
}

INLINE sparse_list listOfRows(const int32_t *starts, const int32_t *columns,
                              int64_t count) {
  return (sparse_list){0, columns, 0, count, starts};
}

INLINE int64_t getPlace(int32_t index, int64_t size) {
  return index < 0 ? index + size : index;
}
INLINE int64_t getColumn(const sparse_list *list, int64_t i, int64_t k) {
  return getPlace(list->columns[i << list->shift], k);
}
INLINE int64_t getRow(const sparse_list *list, int64_t i, int64_t m) {
  return getPlace(list->rows[2 * i], m);
}
/// Of a list in order, whose rows that are none of the matrix come last.
INLINE uint64_t getKey(const sparse_list *list, int64_t i, int64_t m) {
  return (uint64_t)getRow(list, i, m);
}

INLINE int64_t getStart(const sparse_list *list, int64_t row) {
  int64_t start = list->starts[row];
  return start < 0 ? 0 : start > list->count ? list->count : start;
}

/// One past the last place of a row, of which `from` is the first; lists are in
/// order here.
INLINE int64_t endOfRow(const sparse_list *list, int64_t row, int64_t from,
                        int64_t m) {
  if (list->starts) {
    int64_t end = getStart(list, row + 1);
    return end < from ? from : end;
  }
  // Steps that double while they stay in the row, then shorter ones.
  if (from >= list->count || getRow(list, from, m) != row)
    return from;
  int64_t last = from, step = 8;
  AS_WRITTEN
  while (last + step < list->count && getRow(list, last + step, m) == row) {
    last += step;
    step *= 2;
  }
  AS_WRITTEN
  for (; step; step /= 2)
    if (last + step < list->count && getRow(list, last + step, m) == row)
      last += step;
  return last + 1;
}

/// Whether eight columns, from place i on, are some of k without being wrapped.
INLINE int32_t areEightPlain(const sparse_list *list, int64_t i, int64_t k) {
  if (list->shift) {
    if (i + 9 >= list->count)
      return 0;
    const words isColumn = EVEN;
    words eight = *(const loose_words *)(list->columns + 2 * i);
    return !__builtin_reduce_or((words)((eight & isColumn) >= (uint32_t)k));
  }
  eight_words eight = *(const loose_eight_words *)(list->columns + i);
  return !__builtin_reduce_or((eight_words)(eight >= (uint32_t)k));
}

/// The first place whose row is `row` or a later one.
INLINE int64_t findRow(const sparse_list *list, uint64_t row, int64_t m) {
  int64_t low = 0, high = list->count;
  AS_WRITTEN
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (getKey(list, middle, m) < row)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// Where a part begins: what comes before has its share of rows and places.
NOINLINE sparse_border findBorder(const sparse_list *list, int64_t m,
                                  int64_t part, int64_t parts) {
  sparse_border border = {0, 0};
  if (list->starts) {
    int64_t low = 0, high = m, wanted = (m + getStart(list, m)) / parts * part;
    AS_WRITTEN
    while (low < high) {
      int64_t middle = low + (high - low) / 2;
      if (getStart(list, middle) + middle < wanted)
        low = middle + 1;
      else
        high = middle;
    }
    border.row = part == parts ? m : low;
    border.place = getStart(list, border.row);
    return border;
  }
  int64_t used = findRow(list, (uint64_t)m, m);
  uint64_t wanted = (uint64_t)((m + used) / parts * part);
  int64_t low = 0, high = used;
  AS_WRITTEN
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (getKey(list, middle, m) + (uint64_t)middle < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  // Row r comes after r rows and the places before it.
  int64_t row = (int64_t)wanted - low,
          next = low ? getRow(list, low - 1, m) : -1;
  if (low < used && getRow(list, low, m) == next)
    row = next;
  else if (row <= next)
    row = next + 1;
  border.row = part == parts || row > m ? m : row;
  border.place = findRow(list, (uint64_t)border.row, m);
  return border;
}

/// Whether places from to end + 1 are in order.
NOINLINE int32_t isInOrder(const sparse_list *list, int64_t from, int64_t end,
                           int64_t m) {
  int64_t i = from;
  if (m <= INT32_MAX) {
    // Eight rows at once, and what lies between them.
    const words isRow = EVEN;
    const uint32_t size = (uint32_t)m;
    const words zero = {0};
    AS_WRITTEN
    while (i + 64 < end && i + 64 + 10 < list->count) {
      words wrong = zero;
      int64_t stop = i + 64;
      AS_WRITTEN
      for (; i < stop; i += 8) {
        words a = *(const loose_words *)(list->rows + 2 * i);
        words b = *(const loose_words *)(list->rows + 2 * i + 2);
        a += (words)(a > (uint32_t)INT32_MAX) & size;
        b += (words)(b > (uint32_t)INT32_MAX) & size;
        wrong |= (words)(a > b);
      }
      if (__builtin_reduce_or(wrong & isRow))
        return 0;
    }
  }
  AS_WRITTEN
  for (; i < end && i + 1 < list->count; ++i)
    if (getKey(list, i, m) > getKey(list, i + 1, m))
      return 0;
  return 1;
}

void alula_sparse_order(int32_t *order, int64_t m, const int32_t *indices,
                        int64_t count, int32_t transposed, int64_t matrix,
                        int64_t part, int64_t parts) {
  sparse_list list =
      listOfPairs(indices + matrix * count * 2, count, transposed);
  order[matrix * parts + part] =
      isInOrder(&list, count * part / parts, count * (part + 1) / parts, m);
}

INLINE int32_t isOrdered(const int32_t *order, int64_t matrix, int64_t parts) {
  int32_t all = order != 0;
  if (order)
    order += matrix * parts;
  AS_WRITTEN
  for (int64_t p = 0; p < parts && all; ++p)
    all &= order[p];
  return all;
}

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

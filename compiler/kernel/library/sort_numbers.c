// Between rows of numbers in memory and the items that sort.c sorts.
#include "compiler/kernel/library/code_forms.h"
#include "compiler/kernel/library/sort.h"
#include "compiler/kernel/library/sort_ways.h"

#include <stddef.h>

/* These loops wait for memory. */
#define SHORT_CODE _Pragma("clang loop interleave_count(1) unroll(disable)")

/* Numbers of a row that are compared before one of them is taken. */
enum { LOOKED_AT = 64 };

int64_t alula_sort_any(const void *numbers, int64_t count) {
  const uint64_t *from = numbers;
  uint64_t some = 0;
  for (int64_t i = 0; i < count; ++i)
    some |= from[i];
  return (int64_t)some;
}

#define BITS 32
#define NUMBER uint32_t
#define INFINITY_BITS UINT32_C(0x7F800000)
#define PAIR uint64_t
#define MAKE_PAIR(key, place) ((uint64_t)(key) << 32 | (uint64_t)(place))
#define PLACE(pair) ((pair) & UINT32_MAX)
#define PAIR_KEY(pair) ((pair) >> 32)
#include "compiler/kernel/library/sort_numbers.inc"

typedef struct pair_64 {
  uint64_t key, place;
} pair_64;
#define BITS 64
#define NUMBER uint64_t
#define INFINITY_BITS UINT64_C(0x7FF0000000000000)
#define PAIR pair_64
#define MAKE_PAIR(key, place) ((pair_64){(key), (uint64_t)(place)})
#define PLACE(pair) ((pair).place)
#define PAIR_KEY(pair) ((pair).key)
#include "compiler/kernel/library/sort_numbers.inc"

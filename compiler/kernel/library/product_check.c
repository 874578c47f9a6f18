/* A program for test_product_aarch64.py: products of random sizes and orders,
 * each array between pages that nobody may touch, judged by sums in double or
 * integers.
 *   product_check f32|f64|bf16|bytes TRIALS SEED DOT MATRICES */
#include "compiler/kernel/library/product.h"
#include "compiler/kernel/library/product_narrow.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

extern int32_t alula_has_int8_dot, alula_has_matrix_products;

typedef enum kind { F32, F64, BF16, I8, UI8, I32 } kind;
static const int64_t sizes[] = {4, 8, 2, 1, 1, 4};

static uint64_t state;
static uint64_t draw(uint64_t below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (state >> 33) % below;
}
static int64_t pick(const int64_t *from, int count) {
  return from[draw((uint64_t)count)];
}
#define PICK(...)                                                              \
  pick((const int64_t[]){__VA_ARGS__},                                         \
       sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

/* Bytes that end, or begin, where memory does. */
typedef struct guarded {
  char *map, *at;
  size_t mapped;
} guarded;
static guarded get(int64_t bytes, int at_end, int64_t alignment) {
  size_t page = 4096, inner = ((size_t)bytes + page) / page * page;
  guarded g;
  g.mapped = inner + 2 * page;
  g.map = mmap(NULL, g.mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (g.map == MAP_FAILED ||
      mprotect(g.map + page, inner, PROT_READ | PROT_WRITE))
    exit(3);
  memset(g.map + page, 0xFF, inner);
  g.at = g.map + page + (at_end ? ((int64_t)inner - bytes) & -alignment : 0);
  return g;
}
static void drop(guarded g) { munmap(g.map, g.mapped); }

static double load(kind k, const char *at) {
  float f;
  double d;
  uint16_t h;
  uint32_t bits;
  switch (k) {
  case F32:
    memcpy(&f, at, 4);
    return (double)f;
  case F64:
    memcpy(&d, at, 8);
    return d;
  case BF16:
    memcpy(&h, at, 2);
    bits = (uint32_t)h << 16;
    memcpy(&f, &bits, 4);
    return (double)f;
  case I8:
    return *(const int8_t *)at;
  case UI8:
    return *(const uint8_t *)at;
  default:
    memcpy(&bits, at, 4);
    return bits;
  }
}
static void fill(kind k, char *at) {
  float f = (float)(int64_t)(draw(1u << 24)) * 0x1p-23f - 1;
  double d = (double)f;
  uint32_t bits;
  uint16_t h;
  switch (k) {
  case F32:
    memcpy(at, &f, 4);
    break;
  case F64:
    memcpy(at, &d, 8);
    break;
  case BF16:
    memcpy(&bits, &f, 4);
    h = (uint16_t)(bits >> 16);
    memcpy(at, &h, 2);
    break;
  case I32:
    bits = (uint32_t)draw(1u << 31);
    memcpy(at, &bits, 4);
    break;
  default:
    *at = draw(5) ? (char)draw(256) : (char)0x80;
  }
}

/* A matrix that lies row by row ('C'), column by column ('F'), or apart ('S').
 */
typedef struct matrix {
  guarded memory;
  int64_t row, column;
} matrix;
static matrix make(kind k, int64_t rows, int64_t columns, char order) {
  matrix x;
  int64_t size = sizes[k];
  x.row = order == 'F' ? 1 : order == 'C' ? columns : 2 * columns + 1;
  x.column = order == 'F' ? rows : order == 'C' ? 1 : 2;
  int64_t last =
      rows && columns ? (rows - 1) * x.row + (columns - 1) * x.column + 1 : 0;
  x.memory = get(last * size, (int)draw(2), size);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      fill(k, x.memory.at + (i * x.row + j * x.column) * size);
  return x;
}

int main(int argc, char **argv) {
  if (argc != 6)
    return 2;
  state = strtoull(argv[3], NULL, 10);
  alula_has_int8_dot = atoi(argv[4]);
  alula_has_matrix_products = atoi(argv[5]);
  for (int64_t trial = 0; trial < atoi(argv[2]); ++trial) {
    kind ka, kb, kc;
    if (!strcmp(argv[1], "f32"))
      ka = kb = kc = F32;
    else if (!strcmp(argv[1], "f64"))
      ka = kb = kc = F64;
    else if (!strcmp(argv[1], "bf16"))
      ka = kb = BF16, kc = F32;
    else
      ka = draw(2) ? I8 : UI8, kb = draw(2) ? I8 : UI8, kc = I32;
    int is_wide = kc == ka;
    int64_t m = PICK(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 17, 40, 257, 300);
    int64_t n = PICK(0, 1, 3, 5, 8, 9, 15, 16, 17, 31, 32, 33, 64, 70, 100);
    int64_t k =
        PICK(0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 31, 37, 130, 257, 600, 1101);
    if (m * n * k > 4000000)
      m = 13;
    int32_t add = (int32_t)draw(2);
    int64_t segments = draw(4) ? 1 : 1 + (int64_t)draw(70);
    int has_segments = segments > 1 || !draw(8);
    int64_t depth =
        has_segments ? 1 + (int64_t)draw(segments > 9 ? 5 : 200) : k;
    int has_b_offsets = has_segments && draw(2);
    int has_panels =
        (!has_segments || (has_b_offsets && is_wide)) && !draw(3);
    int64_t groups = draw(4) ? 1 : 1 + (int64_t)draw(4),
            group_step = 1 + (int64_t)draw(3);
    char order_a = "CCFS"[draw(4)], order_b = "CCFS"[draw(4)];
    k = segments * depth;
    // Rows of groups overlap, and so do segments.
    int64_t a_rows = m + (groups - 1) * group_step;
    int64_t a_columns = has_segments ? depth + 3 * (segments - 1) : k;
    matrix a = make(ka, a_rows, a_columns, order_a);
    matrix b = make(kb, k, n, order_b);
    int64_t c_row = n + (int64_t)draw(4),
            c_last = m * groups ? (groups * m - 1) * c_row + n : 0;
    guarded c = get(c_last * sizes[kc], (int)draw(2), sizes[kc]);
    for (int64_t i = 0; i < groups * m; ++i)
      for (int64_t j = 0; j < n; ++j)
        fill(kc, c.at + (i * c_row + j) * sizes[kc]);
    char *before = malloc((size_t)(c_last * sizes[kc] + 1));
    memcpy(before, c.at, (size_t)(c_last * sizes[kc]));
    int64_t *offsets = malloc((size_t)segments * sizeof *offsets);
    for (int64_t s = 0; s < segments; ++s)
      offsets[s] = 3 * (segments - 1 - s) * a.column;
    // Of b in any order: segment s is where another one would be.
    int64_t *order = malloc((size_t)segments * sizeof *order);
    int64_t *b_offsets = malloc((size_t)segments * sizeof *b_offsets);
    for (int64_t s = 0; s < segments; ++s)
      order[s] = has_b_offsets ? (s * 7 + 3) % segments : s;
    // Of wide elements panels have rows of 128 bytes, of narrow ones 32 columns
    // of groups.
    int64_t group = is_wide      ? 1
                    : ka == BF16 ? 2
                                 : 4,
            width = is_wide ? 128 / sizes[kb] : 32;
    int64_t panel_rows = (k + group - 1) / group,
            panel_count = (n + width - 1) / width;
    int64_t b_panel = has_panels && k ? panel_rows * group * width : 0;
    guarded panels = get(b_panel * panel_count * sizes[kb], 1, 64);
    if (b_panel) {
      memset(panels.at, 0, (size_t)(b_panel * panel_count * sizes[kb]));
      for (int64_t l = 0; l < k; ++l)
        for (int64_t j = 0; j < n; ++j) {
          char *to =
              panels.at +
              sizes[kb] * (j / width * b_panel +
                           (l / group * width + j % width) * group + l % group);
          memcpy(to, b.memory.at + (l * b.row + j * b.column) * sizes[kb],
                 (size_t)sizes[kb]);
          if (ka == kb && kc == I32)
            *to ^= (char)0x80;
        }
    }
    for (int64_t s = 0; s < segments; ++s)
      b_offsets[s] = order[s] * depth * (b_panel ? width : b.row);
    int64_t room = is_wide ? alula_product_scratch_bytes(n * sizes[kb])
                           : alula_product_narrow_scratch_bytes();
    guarded scratch = get(room, 1, 64);
    const void *from_b = b_panel ? panels.at : b.memory.at;
#define CALL(type, ct, t, ...)                                                 \
  alula_product_##type(                                                        \
      (ct *)c.at, m *c_row, c_row, (const t *)a.memory.at, group_step *a.row,  \
      a.row, a.column, has_segments ? offsets : NULL, segments, depth,         \
      (const t *)from_b, b_panel ? 0 : b.row, b_panel ? 0 : b.column, b_panel, \
      has_b_offsets ? b_offsets : NULL, groups, m, n, add, __VA_ARGS__)
    switch (ka) {
    case F32:
      CALL(f32, float, float, scratch.at);
      break;
    case F64:
      CALL(f64, double, double, scratch.at);
      break;
    case BF16:
      CALL(bf16, float, uint16_t, scratch.at);
      break;
    case I8:
      CALL(i8, uint32_t, uint8_t, kb == UI8, scratch.at);
      break;
    default:
      CALL(ui8, uint32_t, uint8_t, kb == UI8, scratch.at);
    }
    double unit = kc == F64 ? 0x1p-53 : 0x1p-24;
    for (int64_t g = 0; g < groups; ++g)
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < c_row; ++j) {
          int64_t at = ((g * m + i) * c_row + j) * sizes[kc];
          if (at >= c_last * sizes[kc])
            break;
          if (j >= n) {
            if (memcmp(c.at + at, before + at, (size_t)sizes[kc]))
              goto wrong;
            continue;
          }
          long double sum = add ? (long double)load(kc, before + at) : 0,
                      all = 0;
          for (int64_t l = 0; l < k; ++l) {
            int64_t place =
                (g * group_step + i) * a.row +
                (has_segments ? offsets[l / depth] + l % depth * a.column
                              : l * a.column);
            long double product =
                (long double)load(ka, a.memory.at + place * sizes[ka]) *
                (long double)load(
                    kb, b.memory.at +
                            ((order[l / depth] * depth + l % depth) * b.row +
                             j * b.column) *
                                sizes[kb]);
            sum += product;
            all += product < 0 ? -product : product;
          }
          if (kc == I32) {
            uint32_t got;
            memcpy(&got, c.at + at, 4);
            if (got != (uint32_t)(int64_t)sum)
              goto wrong;
            continue;
          }
          long double far = (long double)load(kc, c.at + at) - sum;
          // Sums of pairs are rounded to odd: twice as far as the nearest.
          long double limit =
              (long double)unit * (all + 1) * (long double)(2 * k + 4);
          if (!(far <= limit && far >= -limit))
            goto wrong;
          continue;
        wrong:
          printf("trial %ld: types %d %d, m %ld n %ld k %ld, add %d, segments "
                 "%ld of %ld, panels "
                 "%ld, groups %ld, orders %c%c: row %ld column %ld is %g "
                 "instead of %g\n",
                 (long)trial, ka, kb, (long)m, (long)n, (long)k, add,
                 (long)segments, (long)depth, (long)b_panel, (long)groups,
                 order_a, order_b, (long)i, (long)j, load(kc, c.at + at),
                 (double)sum);
          return 1;
        }
    drop(a.memory);
    drop(b.memory);
    drop(c);
    drop(panels);
    drop(scratch);
    free(before);
    free(offsets);
    free(b_offsets);
    free(order);
  }
  return 0;
}

/* Runs what toy.cpp writes: a plugin of the runtime. */
#include "alula/import.h"
#include "alula/kernel_abi.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RANK = 8 };

struct kernel {
  const char *text;
  long inputs, values;
};

struct loaded {
  size_t count;
  struct kernel kernels[];
};

static int32_t load(void *self, const void *image, uint64_t bytes, size_t count,
                    const char *const *names, const uint64_t *entries,
                    void **result) {
  struct loaded *loaded =
      malloc(sizeof *loaded + count * sizeof *loaded->kernels);
  (void)self, (void)names;
  if (!loaded)
    return 1;
  loaded->count = count;
  for (size_t i = 0; i < count; ++i) {
    struct kernel *kernel = &loaded->kernels[i];
    const char *text = (const char *)image + entries[i];
    int used = 0;
    /* Each text ends with a zero. */
    if (entries[i] >= bytes || !memchr(text, 0, bytes - entries[i]) ||
        sscanf(text, "toy %ld %ld%n", &kernel->inputs, &kernel->values,
               &used) != 2) {
      free(loaded);
      return 2;
    }
    kernel->text = text + used;
  }
  *result = loaded;
  return 0;
}

static void unload(void *self, void *loaded) {
  (void)self;
  free(loaded);
}

static float apply(const char *name, float a, float b) {
  switch (name[0]) {
  case 'a':
    return a + b;
  case 's':
    return a - b;
  case 'd':
    return a / b;
  case 'n':
    return -a;
  case 't':
    return tanhf(a);
  case 'm':
    return name[1] == 'u' ? a * b : name[1] == 'a' ? fmaxf(a, b) : fminf(a, b);
  default:
    return NAN;
  }
}

static void dot(float *r, const float *a, const float *b, const long *size) {
  for (long i = 0; i < size[0]; ++i)
    for (long j = 0; j < size[2]; ++j) {
      float sum = 0;
      for (long p = 0; p < size[1]; ++p)
        sum += a[i * size[1] + p] * b[p * size[2] + j];
      r[i * size[2] + j] = sum;
    }
}

static void broadcast(float *r, const float *a, long count, long rank,
                      const long *sizes, const long *strides) {
  for (long i = 0; i < count; ++i) {
    long rest = i, from = 0;
    for (long d = rank - 1; d >= 0; --d) {
      from += rest % sizes[d] * strides[d];
      rest /= sizes[d];
    }
    r[i] = a[from];
  }
}

static long next(const char **text) {
  char *end;
  long number = strtol(*text, &end, 10);
  *text = end;
  return number;
}

/* One line; false if there is no memory. */
static int run(const char **text, const char *name, float **values,
               const struct kernel *kernel,
               const struct alula_kernel_args *args) {
  long v = next(text), numbers[4];
  if (strcmp(name, "result") == 0) {
    long i = next(text), count = next(text);
    memcpy(args->bindings[kernel->inputs + i], values[v],
           (size_t)count * sizeof(float));
    return 1;
  }
  if (strcmp(name, "dot") == 0) {
    for (int i = 0; i < 2; ++i)
      numbers[i] = next(text);
    long size[3];
    for (int i = 0; i < 3; ++i)
      size[i] = next(text);
    values[v] = malloc((size_t)(size[0] * size[2]) * sizeof(float) + 1);
    if (values[v])
      dot(values[v], values[numbers[0]], values[numbers[1]], size);
    return values[v] != NULL;
  }
  int isUnary = strcmp(name, "negate") == 0 || strcmp(name, "tanh") == 0;
  int isBroadcast = strcmp(name, "broadcast") == 0;
  int operands = strcmp(name, "constant") == 0 ? 0
                 : isUnary || isBroadcast      ? 1
                                               : 2;
  for (int i = 0; i < operands; ++i)
    numbers[i] = next(text);
  long count = next(text);
  float *r = values[v] = malloc((size_t)count * sizeof(float) + 1);
  if (!r)
    return 0;
  if (isBroadcast) {
    long rank = next(text), sizes[MAX_RANK], strides[MAX_RANK];
    if (rank > MAX_RANK)
      return 0;
    for (long i = 0; i < rank; ++i)
      sizes[i] = next(text);
    for (long i = 0; i < rank; ++i)
      strides[i] = next(text);
    broadcast(r, values[numbers[0]], count, rank, sizes, strides);
    return 1;
  }
  for (long i = 0; i < count; ++i) {
    char *end;
    if (operands == 0) {
      r[i] = strtof(*text, &end);
      *text = end;
    } else
      r[i] = apply(name, values[numbers[0]][i],
                   operands == 2 ? values[numbers[1]][i] : 0);
  }
  return 1;
}

static int32_t dispatch(void *self, void *loaded, size_t number,
                        const struct alula_kernel_args *args) {
  const struct kernel *kernel = &((struct loaded *)loaded)->kernels[number];
  const char *text = kernel->text;
  float **values = calloc((size_t)kernel->values + 1, sizeof *values);
  char name[16];
  int used = 0, isGood = values != NULL;
  (void)self;
  for (long i = 0; isGood && i < kernel->inputs; ++i)
    values[i] = args->bindings[i];
  while (isGood && sscanf(text, " %15s%n", name, &used) == 1) {
    text += used;
    isGood = run(&text, name, values, kernel, args);
  }
  for (long i = kernel->inputs; values && i < kernel->values; ++i)
    free(values[i]);
  free(values);
  return isGood ? 0 : 1;
}

static const alula_import_loader loader = {sizeof loader, "toy", load, unload,
                                           dispatch};
static const alula_import_plugin plugin = {sizeof plugin,
                                           ALULA_IMPORT_ABI_MAJOR,
                                           ALULA_IMPORT_ABI_MINOR,
                                           "toy",
                                           "1.0",
                                           0,
                                           ALULA_IMPORT_SANITIZER,
                                           NULL,
                                           NULL,
                                           NULL,
                                           &loader};

__attribute__((visibility("default"))) const alula_import_plugin *
alula_import_plugin_query(uint16_t major, uint16_t minor) {
  (void)minor;
  return major == ALULA_IMPORT_ABI_MAJOR ? &plugin : NULL;
}

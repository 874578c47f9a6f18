/* Classifies handwritten digits with a compiled model: no Python, no compiler.
 *
 *   classify MODEL.alula IMAGES.f32 LABELS.i32 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "alula/runtime.h"

enum { BATCH = 32, PIXELS = 64, DIGITS = 10 };

static void check(alula_error *error) {
  if (!error)
    return;
  fprintf(stderr, "classify: %s\n", alula_error_get_message(error));
  exit(1);
}

static void *read_file(const char *path, size_t *bytes) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0) {
    fprintf(stderr, "classify: can't read %s\n", path);
    exit(1);
  }
  *bytes = (size_t)ftell(file);
  rewind(file);
  void *data = malloc(*bytes ? *bytes : 1);
  if (!data || fread(data, 1, *bytes, file) != *bytes) {
    fprintf(stderr, "classify: can't read %s\n", path);
    exit(1);
  }
  fclose(file);
  return data;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: classify MODEL.alula IMAGES.f32 LABELS.i32\n");
    return 1;
  }
  size_t image_bytes, label_bytes;
  float *images = read_file(argv[2], &image_bytes);
  int *labels = read_file(argv[3], &label_bytes);
  size_t batches = label_bytes / sizeof(int) / BATCH;

  alula_instance *instance;
  alula_executable *model;
  check(alula_instance_create(NULL, &instance));
  check(alula_executable_load_file(instance, argv[1], NULL, &model));
  uint32_t function;
  check(alula_executable_find_function(model, "main", &function));

  /* The results are written where they already are: no allocation in the loop.
   */
  static float probabilities[BATCH * DIGITS], best[BATCH];
  const int64_t probability_dims[] = {BATCH, DIGITS}, best_dims[] = {BATCH};
  const int64_t image_dims[] = {BATCH, PIXELS};
  alula_buffer *results[2];
  check(alula_buffer_wrap(instance, ALULA_DTYPE_F32, 2, probability_dims,
                          probabilities, sizeof probabilities, NULL, NULL,
                          &results[0]));
  check(alula_buffer_wrap(instance, ALULA_DTYPE_F32, 1, best_dims, best,
                          sizeof best, NULL, NULL, &results[1]));

  size_t correct = 0;
  double fastest = 1e9;
  for (size_t batch = 0; batch < batches; ++batch) {
    alula_buffer *argument;
    check(alula_buffer_wrap(instance, ALULA_DTYPE_F32, 2, image_dims,
                            images + batch * BATCH * PIXELS,
                            BATCH * PIXELS * sizeof(float), NULL, NULL,
                            &argument));
    double start = now();
    check(alula_call(model, function, NULL, &argument, 1, results, 2));
    double elapsed = now() - start;
    fastest = elapsed < fastest ? elapsed : fastest;
    alula_buffer_release(argument);
    for (size_t i = 0; i < BATCH; ++i) {
      const float *row = probabilities + i * DIGITS;
      int digit = 0;
      while (row[digit] != best[i] && digit < DIGITS - 1)
        ++digit;
      correct += digit == labels[batch * BATCH + i];
    }
  }
  printf("C classifies %.2f%% of %zu images correctly, %.1f us a batch of %d\n",
         100.0 * (double)correct / (double)(batches * BATCH), batches * BATCH,
         1e6 * fastest, BATCH);

  alula_buffer_release(results[0]);
  alula_buffer_release(results[1]);
  alula_executable_destroy(model);
  alula_instance_destroy(instance);
  free(images);
  free(labels);
  return 0;
}

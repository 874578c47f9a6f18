/* Trains the classifier of digits.py without Python: the same steps, the same
 * bits. Compiled with the header that digits.py has written.
 *
 *   digits FOLDER */
#include "digits.h"

#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 32, STEPS = 500, TRAIN = 1440, TEST = 11 * BATCH };

static void check(alula_error *error) {
  if (!error)
    return;
  fprintf(stderr, "digits: %s\n", alula_error_get_message(error));
  exit(1);
}

static void *readFile(const char *folder, const char *name, size_t bytes) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  void *data = malloc(bytes);
  if (!file || !data || fread(data, 1, bytes, file) != bytes) {
    fprintf(stderr, "digits: can't read %s\n", path);
    exit(1);
  }
  fclose(file);
  return data;
}

/* All globals, one after the other. */
static void writeState(const digits *program, const char *folder) {
  char path[4096];
  snprintf(path, sizeof path, "%s/state.bin", folder);
  FILE *file = fopen(path, "wb");
  alula_value_info info;
  info.struct_bytes = sizeof info;
  for (uint32_t i = 0;
       file && alula_executable_get_global(program->executable, i, &info);
       ++i) {
    size_t bytes = sizeof(float);
    for (uint32_t dim = 0; dim < info.rank; ++dim)
      bytes *= (size_t)info.dims[dim];
    void *data = malloc(bytes);
    check(
        alula_global_get(program->executable, program->state, i, data, bytes));
    fwrite(data, 1, bytes, file);
    free(data);
  }
  if (!file || fclose(file)) {
    fprintf(stderr, "digits: can't write %s\n", path);
    exit(1);
  }
}

int main(int argumentCount, char **arguments) {
  if (argumentCount != 2) {
    fprintf(stderr, "usage: digits FOLDER\n");
    return 1;
  }
  const char *folder = arguments[1];
  float *images = readFile(folder, "images.f32", (TRAIN + TEST) * 64 * 4);
  int32_t *labels = readFile(folder, "labels.i32", (TRAIN + TEST) * 4);
  char path[4096];
  snprintf(path, sizeof path, "%s/digits.alula", folder);
  alula_instance *instance;
  digits program = {0};
  check(alula_instance_create(NULL, &instance));
  check(digits_load(instance, path, &program));

  float loss = 0;
  for (int i = 0; i < STEPS; ++i) {
    size_t begin = (size_t)(i % (TRAIN / BATCH) * BATCH);
    check(digits_update(&program, images + begin * 64, labels + begin, &loss));
  }
  int right = 0;
  for (size_t begin = TRAIN; begin < TRAIN + TEST; begin += BATCH) {
    int32_t guess[BATCH];
    check(digits_predict(&program, images + begin * 64, guess));
    for (int i = 0; i < BATCH; ++i)
      right += guess[i] == labels[begin + (size_t)i];
  }
  printf("loss %.6f, %d of %d digits are right\n", loss, right, TEST);
  writeState(&program, folder);
  digits_unload(&program);
  alula_instance_destroy(instance);
  free(images);
  free(labels);
  return 0;
}

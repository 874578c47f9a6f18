/* Loads an artifact and adds two matrices: everything that a C program needs.
 *
 *   alula-compile add.mlir -o add.alula
 *   hello-c add.alula */
#include <stdio.h>
#include <stdlib.h>

#include "alula/runtime.h"

static void check(alula_error *error) {
  if (!error)
    return;
  fprintf(stderr, "hello: %s\n", alula_error_get_message(error));
  exit(1);
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: hello-c FILE.alula\n");
    return 2;
  }
  alula_instance *instance;
  alula_executable *model;
  uint32_t add;
  check(alula_instance_create(NULL, &instance));
  check(alula_executable_load_file(instance, argv[1], NULL, &model));
  check(alula_executable_find_function(model, "add", &add));

  /* Arguments are our own memory; the result is allocated by the call. */
  float x[4] = {1, 2, 3, 4}, y[4] = {10, 20, 30, 40};
  int64_t dims[2] = {2, 2};
  alula_buffer *arguments[2], *result = NULL;
  check(alula_buffer_wrap(instance, ALULA_DTYPE_F32, 2, dims, x, sizeof x, NULL,
                          NULL, &arguments[0]));
  check(alula_buffer_wrap(instance, ALULA_DTYPE_F32, 2, dims, y, sizeof y, NULL,
                          NULL, &arguments[1]));
  check(alula_call(model, add, NULL, arguments, 2, &result, 1));
  const float *sum = alula_buffer_get_data(result);
  printf("%g %g %g %g\n", sum[0], sum[1], sum[2], sum[3]);

  /* From now on the same result is written again: nothing is allocated. */
  x[0] = 100;
  check(alula_call(model, add, NULL, arguments, 2, &result, 1));
  printf("%g %g %g %g\n", sum[0], sum[1], sum[2], sum[3]);

  alula_buffer_release(result);
  alula_buffer_release(arguments[1]);
  alula_buffer_release(arguments[0]);
  alula_executable_destroy(model);
  alula_instance_destroy(instance);
  return 0;
}

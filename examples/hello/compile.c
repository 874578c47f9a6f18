/* Compiles a program in memory and runs it: for those who make programs while
 * they run. Needs Alula::Compiler besides the runtime.
 *
 *   hello-compile */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alula/compiler.h"
#include "alula/runtime.h"

static const char program[] =
    "func.func public @square(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
    "  %y = stablehlo.multiply %x, %x : tensor<4xf32>\n"
    "  return %y : tensor<4xf32>\n"
    "}\n";

static void print(void *user, const alula_compile_diagnostic *diagnostic) {
  (void)user;
  fprintf(stderr, "%s: %s\n", diagnostic->location, diagnostic->message);
}

static void check(alula_error *error) {
  if (!error)
    return;
  fprintf(stderr, "hello: %s\n", alula_error_get_message(error));
  exit(1);
}

int main(void) {
  alula_compile_options options = {.struct_bytes = sizeof options,
                                   .on_diagnostic = print};
  void *artifact;
  size_t bytes;
  if (alula_compile(program, strlen(program), &options, &artifact, &bytes,
                    NULL) != ALULA_STATUS_OK)
    return 1;

  alula_instance *instance;
  alula_executable *model;
  check(alula_instance_create(NULL, &instance));
  check(alula_executable_load_memory(instance, artifact, bytes, NULL, &model));
  alula_compile_free(artifact);

  float x[4] = {1, 2, 3, 4};
  int64_t dims[1] = {4};
  alula_buffer *argument, *result = NULL;
  check(alula_buffer_wrap(instance, ALULA_DTYPE_F32, 1, dims, x, sizeof x, NULL,
                          NULL, &argument));
  check(alula_call(model, 0, NULL, &argument, 1, &result, 1));
  const float *y = alula_buffer_get_data(result);
  printf("%g %g %g %g\n", y[0], y[1], y[2], y[3]);

  alula_buffer_release(result);
  alula_buffer_release(argument);
  alula_executable_destroy(model);
  alula_instance_destroy(instance);
  return 0;
}

/* A function that a compiled program calls. As a library for the tools:
 *
 *   alula-compile scale.mlir --custom-call=scale -o scale.alula
 *   cc -shared -fPIC scale.c -o scale.so
 *   alula-run scale.alula --custom-call=scale=scale.so --input=4xf32=1,2,3,4
 *
 * In a program of your own, register it:
 *
 *   alula_instance_register_custom_call(instance, "scale", scale, NULL); */
#include <stdlib.h>
#include <string.h>

#include "alula/runtime.h"

/* Multiplies by the number in the configuration. */
__attribute__((visibility("default"))) alula_error *
scale(void *user, const alula_custom_call_args *args) {
  char text[32] = "";
  char *end;
  (void)user;
  if (args->operand_count != 1 || args->result_count != 1 ||
      args->operands[0].dtype != ALULA_DTYPE_F32 ||
      args->config_bytes >= sizeof text)
    return alula_error_create(ALULA_STATUS_INVALID_ARGUMENT,
                              "scale takes and gives one tensor of f32");
  memcpy(text, args->config, args->config_bytes);
  float factor = strtof(text, &end);
  if (end == text || *end)
    return alula_error_create(ALULA_STATUS_INVALID_ARGUMENT,
                              "the configuration must be a number");
  const float *from = args->operands[0].data;
  float *to = args->results[0].data;
  for (uint64_t i = 0; i < args->results[0].bytes / sizeof(float); ++i)
    to[i] = from[i] * factor;
  return NULL;
}

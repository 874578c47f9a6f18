/* Decodes with the program of decoder.py, whose key-value cache is a part of
 * its state.
 *
 *   decoder FILE.alula TOKENS */
#include "decoder.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void check(alula_error *error) {
  if (!error)
    return;
  fprintf(stderr, "decoder: %s\n", alula_error_get_message(error));
  exit(1);
}

static double now(void) {
  struct timespec time;
  timespec_get(&time, TIME_UTC);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argumentCount, char **arguments) {
  if (argumentCount != 3) {
    fprintf(stderr, "usage: decoder FILE.alula TOKENS\n");
    return 1;
  }
  alula_instance *instance;
  decoder program = {0};
  check(alula_instance_create(NULL, &instance));
  check(decoder_load(instance, arguments[1], &program));
  int32_t token = 1;
  double begin = 0;
  int count = atoi(arguments[2]);
  for (int i = 0; i < count; ++i) {
    if (i == 4)
      begin = now();
    check(decoder_decode(&program, token, &token));
    printf(i ? " %d" : "%d", token);
  }
  printf("\n");
  if (count > 4)
    fprintf(stderr, "%.3f ms for each token\n",
            (now() - begin) * 1e3 / (count - 4));
  decoder_unload(&program);
  alula_instance_destroy(instance);
  return 0;
}

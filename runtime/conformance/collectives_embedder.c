/* A program on several devices, as an embedder in C runs it: one thread and one
 * instance for each device. */

#include "alula/runtime.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { mostDevices = 8 };

struct device {
  pthread_t thread;
  const void *artifact;
  size_t size;
  alula_collectives *collectives;
  uint32_t number;
  float given[4], gotten[4];
  char message[256];
};

static alula_error *run(struct device *device, alula_instance *instance,
                        alula_executable **executable,
                        alula_buffer *buffers[2]) {
  int64_t size = 4;
  alula_error *error = alula_executable_load_memory(
      instance, device->artifact, device->size, NULL, executable);
  if (!error)
    error =
        alula_buffer_wrap(instance, ALULA_DTYPE_F32, 1, &size, device->given,
                          sizeof device->given, NULL, NULL, &buffers[0]);
  if (!error)
    error =
        alula_buffer_wrap(instance, ALULA_DTYPE_F32, 1, &size, device->gotten,
                          sizeof device->gotten, NULL, NULL, &buffers[1]);
  if (error) {
    alula_collectives_abort(device->collectives,
                            alula_error_get_message(error));
    return error;
  }
  alula_call_options options = {.struct_bytes = sizeof options};
  options.collectives = device->collectives;
  options.participant = device->number;
  return alula_call(*executable, 0, &options, &buffers[0], 1, &buffers[1], 1);
}

static void *runDevice(void *user) {
  struct device *device = user;
  alula_instance_options options = {.struct_bytes = sizeof options};
  options.thread_count = 1;
  alula_instance *instance = NULL;
  alula_executable *executable = NULL;
  alula_buffer *buffers[2] = {NULL, NULL};
  alula_error *error = alula_instance_create(&options, &instance);
  if (!error)
    error = run(device, instance, &executable, buffers);
  if (error)
    snprintf(device->message, sizeof device->message, "%s",
             alula_error_get_message(error));
  alula_error_destroy(error);
  alula_buffer_release(buffers[0]);
  alula_buffer_release(buffers[1]);
  alula_executable_destroy(executable);
  alula_instance_destroy(instance);
  return NULL;
}

/* Device d gives d, d + 1, d + 2, d + 3; the first element that each gets, or
 * the first error. */
int runOverDevices(const void *artifact, size_t size, uint32_t count,
                   float *first, char *message, size_t messageBytes) {
  alula_collectives_options options = {.struct_bytes = sizeof options};
  options.participant_count = count;
  alula_collectives *collectives = NULL;
  if (count > mostDevices ||
      alula_collectives_create(&options, &collectives) != NULL)
    return 0;
  struct device devices[mostDevices];
  memset(devices, 0, sizeof devices);
  for (uint32_t i = 0; i < count; ++i) {
    devices[i].artifact = artifact;
    devices[i].size = size;
    devices[i].collectives = collectives;
    devices[i].number = i;
    for (uint32_t j = 0; j < 4; ++j)
      devices[i].given[j] = (float)(i + j);
    if (pthread_create(&devices[i].thread, NULL, runDevice, &devices[i]) != 0)
      return 0;
  }
  int good = 1;
  for (uint32_t i = 0; i < count; ++i) {
    pthread_join(devices[i].thread, NULL);
    first[i] = devices[i].gotten[0];
    if (devices[i].message[0] && good) {
      snprintf(message, messageBytes, "%s", devices[i].message);
      good = 0;
    }
  }
  alula_collectives_destroy(collectives);
  return good;
}

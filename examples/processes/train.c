/* One artifact on several devices, which are processes or threads of them:
 *
 *   alula-compile examples/processes/step.mlir -o step.alula
 *   mpirun -n 4 train step.alula
 *
 * The program is for four devices. Each process that runs has an equal part of
 * them, a thread for each: four processes one each, two processes two, and
 * without mpirun one process has all four. Where no MPI runs, processes find
 * each other by a folder:
 *
 *   train step.alula --folder DIR --process 0 --processes 2 &
 *   train step.alula --folder DIR --process 1 --processes 2
 */
#include "alula/runtime.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { rowsOfDevice = 16, mostDevices = 64 };

struct settings {
  const char *artifact, *folder, *engine;
  uint32_t process, processes, timeout, steps;
};

struct device {
  pthread_t thread;
  const struct settings *settings;
  alula_collectives *collectives;
  uint32_t number;
  int isFirst;
  float x[rowsOfDevice][3], y[rowsOfDevice], weights[2][3];
  char message[1024];
};

/* Rows of this device: y is 1 x0 + 2 x1 + 3 x2. */
static void makeRows(struct device *device) {
  for (uint32_t i = 0; i < rowsOfDevice; ++i) {
    uint32_t row = device->number * rowsOfDevice + i;
    float *x = device->x[i];
    x[0] = (float)(row % 7) / 7;
    x[1] = (float)(row % 5) / 5;
    x[2] = (float)(row % 3) / 3;
    device->y[i] = x[0] + 2 * x[1] + 3 * x[2];
  }
}

static alula_error *train(struct device *device, alula_instance *instance,
                          alula_executable **executable,
                          alula_buffer *buffers[4]) {
  int64_t dims[2] = {rowsOfDevice, 3};
  alula_error *error = alula_executable_load_file(
      instance, device->settings->artifact, NULL, executable);
  if (!error)
    error = alula_buffer_wrap(instance, ALULA_DTYPE_F32, 2, dims, device->x,
                              sizeof device->x, NULL, NULL, &buffers[0]);
  if (!error)
    error = alula_buffer_wrap(instance, ALULA_DTYPE_F32, 1, dims, device->y,
                              sizeof device->y, NULL, NULL, &buffers[1]);
  for (int i = 0; i < 2 && !error; ++i)
    error = alula_buffer_wrap(instance, ALULA_DTYPE_F32, 1, &dims[1],
                              device->weights[i], sizeof device->weights[i],
                              NULL, NULL, &buffers[2 + i]);
  alula_call_options options = {.struct_bytes = sizeof options};
  options.collectives = device->collectives;
  options.participant = device->number;
  for (uint32_t step = 0; step < device->settings->steps && !error; ++step) {
    /* The results of one step are the arguments of the next. */
    alula_buffer *arguments[3] = {buffers[0], buffers[1],
                                  buffers[2 + step % 2]};
    alula_buffer *results[1] = {buffers[2 + (step + 1) % 2]};
    error = alula_call(*executable, 0, &options, arguments, 3, results, 1);
    if (step == 0 && device->isFirst && !error) {
      printf("pid %d has done a step\n", (int)getpid());
      fflush(stdout);
    }
  }
  return error;
}

static void *runDevice(void *user) {
  struct device *device = user;
  makeRows(device);
  alula_instance_options options = {.struct_bytes = sizeof options};
  options.thread_count = 1;
  alula_instance *instance = NULL;
  alula_executable *executable = NULL;
  alula_buffer *buffers[4] = {NULL};
  alula_error *error = alula_instance_create(&options, &instance);
  if (!error)
    error = train(device, instance, &executable, buffers);
  if (error) {
    snprintf(device->message, sizeof device->message, "%s",
             alula_error_get_message(error));
    /* It may have failed before a call: the others must not wait. */
    alula_collectives_abort(device->collectives, device->message);
  }
  alula_error_destroy(error);
  for (int i = 0; i < 4; ++i)
    alula_buffer_release(buffers[i]);
  alula_executable_destroy(executable);
  alula_instance_destroy(instance);
  return NULL;
}

/* How many devices the program is for. */
static alula_error *countDevices(const char *artifact, uint32_t *count) {
  alula_instance *instance = NULL;
  alula_executable *executable = NULL;
  alula_error *error = alula_instance_create(NULL, &instance);
  if (!error)
    error = alula_executable_load_file(instance, artifact, NULL, &executable);
  *count = alula_executable_get_participant_count(executable);
  alula_executable_destroy(executable);
  alula_instance_destroy(instance);
  return error;
}

static int fail(alula_error *error) {
  fprintf(stderr, "train: %s\n", alula_error_get_message(error));
  alula_error_destroy(error);
  return 1;
}

static int run(const struct settings *settings, alula_processes *processes,
               uint32_t process, uint32_t processCount) {
  static struct device devices[mostDevices];
  uint32_t count;
  alula_error *error = countDevices(settings->artifact, &count);
  if (error)
    return fail(error);
  if (count > mostDevices || count % processCount != 0) {
    fprintf(stderr, "train: %u devices in %u processes\n", count, processCount);
    return 1;
  }
  alula_collectives_options options = {.struct_bytes = sizeof options};
  options.participant_count = count;
  options.timeout_ms = settings->timeout;
  options.processes = processes;
  alula_collectives *collectives;
  error = alula_collectives_create(&options, &collectives);
  if (error)
    return fail(error);
  uint32_t each = count / processCount, begun = 0;
  for (; begun < each; ++begun) {
    devices[begun].settings = settings;
    devices[begun].collectives = collectives;
    devices[begun].number = process * each + begun;
    devices[begun].isFirst = begun == 0;
    if (pthread_create(&devices[begun].thread, NULL, runDevice,
                       &devices[begun]) != 0) {
      alula_collectives_abort(collectives, "a thread cannot be created");
      break;
    }
  }
  int status = begun < each;
  for (uint32_t i = 0; i < begun; ++i)
    pthread_join(devices[i].thread, NULL);
  for (uint32_t i = 0; i < begun && !status; ++i)
    if (devices[i].message[0]) {
      fprintf(stderr, "train: process %u: device %u: %s\n", process,
              devices[i].number, devices[i].message);
      status = 1;
    }
  const float *weights = devices[0].weights[settings->steps % 2];
  if (!status && process == 0)
    printf("weights %.4f %.4f %.4f, exactly %a %a %a\n", (double)weights[0],
           (double)weights[1], (double)weights[2], (double)weights[0],
           (double)weights[1], (double)weights[2]);
  alula_collectives_destroy(collectives);
  return status;
}

static int readArguments(int argc, char **argv, struct settings *settings) {
  for (int i = 1; i < argc; ++i) {
    const char *value = i + 1 < argc ? argv[i + 1] : NULL;
    if (argv[i][0] != '-') {
      settings->artifact = argv[i];
      continue;
    }
    if (!value)
      return 0;
    if (strcmp(argv[i], "--folder") == 0)
      settings->folder = value;
    else if (strcmp(argv[i], "--engine") == 0)
      settings->engine = value;
    else if (strcmp(argv[i], "--process") == 0)
      settings->process = (uint32_t)atoi(value);
    else if (strcmp(argv[i], "--processes") == 0)
      settings->processes = (uint32_t)atoi(value);
    else if (strcmp(argv[i], "--timeout") == 0)
      settings->timeout = (uint32_t)atoi(value);
    else if (strcmp(argv[i], "--steps") == 0)
      settings->steps = (uint32_t)atoi(value);
    else
      return 0;
    ++i;
  }
  return settings->artifact != NULL;
}

int main(int argc, char **argv) {
  struct settings settings = {.timeout = 60000, .steps = 500};
  if (!readArguments(argc, argv, &settings)) {
    fprintf(stderr,
            "usage: train ARTIFACT [--steps N] [--timeout MILLISECONDS]\n"
            "  [--engine NAME] [--folder DIR --process N --processes N]\n");
    return 2;
  }
  int isStartedByMpi = getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMI_SIZE");
  if (!isStartedByMpi && !settings.folder)
    return run(&settings, NULL, 0, 1);
  alula_processes_options options = {.struct_bytes = sizeof options};
  options.engine = settings.engine;
  options.number = settings.process;
  options.count = settings.processes;
  options.timeout_ms = settings.timeout;
  options.directory = settings.folder;
  alula_processes *processes;
  alula_error *error = alula_processes_connect(&options, &processes);
  if (error)
    return fail(error);
  int status = run(&settings, processes, alula_processes_get_number(processes),
                   alula_processes_get_count(processes));
  alula_processes_disconnect(processes);
  return status;
}

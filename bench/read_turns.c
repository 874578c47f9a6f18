/* How fast a function of an artifact goes through its arguments and constants,
 * beside threads that only read the same memory: a call, a reading, a call, and
 * so on. Prints JSON: the bytes that are read, and seconds of each turn.
 *
 *   read_turns ARTIFACT THREADS SECONDS
 *
 * Arguments are random, in buffers as alula_buffer_create makes them; constants
 * lie in the artifact, which is mapped from its file. */
#define _GNU_SOURCE
#include "alula/runtime.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef uint64_t Words __attribute__((vector_size(64), aligned(1)));

enum { MAX_TURNS = 100000, LEAST_READ = 1 << 16 };

typedef struct Piece {
  const char *from;
  size_t bytes;
} Piece;

static Piece *pieces;
static size_t pieceCount;
static int threads;
static pthread_barrier_t barrier;
static int isOver;
/* Of calls and of readings. */
static double times[2][MAX_TURNS];

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void check(alula_error *error) {
  if (!error)
    return;
  fprintf(stderr, "read_turns: %s\n", alula_error_get_message(error));
  exit(1);
}

static void readBytes(const char *from, size_t bytes) {
  Words sums[8];
  memset(sums, 0, sizeof sums);
  const Words *words = (const Words *)from;
  size_t count = bytes / sizeof(Words) / 8 * 8;
  for (size_t i = 0; i < count; i += 8)
#pragma clang loop unroll(full)
    for (int j = 0; j < 8; ++j)
      sums[j] ^= words[i + (size_t)j];
  for (int j = 0; j < 8; ++j)
    __asm__ volatile("" : "+v"(sums[j]));
}

/* One thread's part of each piece. */
static void readPart(size_t thread) {
  for (size_t i = 0; i < pieceCount; ++i) {
    size_t part = pieces[i].bytes / (size_t)threads;
    readBytes(pieces[i].from + thread * part, part);
  }
}

static void *readInTurns(void *thread) {
  for (;;) {
    pthread_barrier_wait(&barrier);
    if (isOver)
      return NULL;
    readPart((size_t)thread);
    pthread_barrier_wait(&barrier);
  }
}

static void addPiece(const void *from, size_t bytes) {
  if (bytes < LEAST_READ)
    return;
  pieces = realloc(pieces, (pieceCount + 1) * sizeof *pieces);
  if (!pieces)
    abort();
  pieces[pieceCount++] = (Piece){from, bytes};
}

static void fill(alula_buffer *buffer) {
  static uint64_t state = 88172645463325253u;
  char *data = alula_buffer_get_data(buffer);
  size_t bytes = alula_buffer_get_bytes(buffer);
  int isFloat = alula_buffer_get_dtype(buffer) == ALULA_DTYPE_F32;
  for (size_t i = 0; i < bytes; i += 4) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    float number = (float)(state >> 40) * 0x1p-30f;
    uint32_t bits = (uint32_t)(state >> 32);
    if (isFloat)
      memcpy(&bits, &number, 4);
    memcpy(data + i, &bits, bytes - i < 4 ? bytes - i : 4);
  }
}

static alula_executable *load(alula_instance *instance, const char *path) {
  int file = open(path, O_RDONLY);
  struct stat facts;
  if (file < 0 || fstat(file, &facts)) {
    perror(path);
    exit(1);
  }
  size_t bytes = (size_t)facts.st_size;
  const char *data = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, file, 0);
  if (data == MAP_FAILED)
    abort();
  alula_load_options options = {.struct_bytes = sizeof options,
                                .flags = ALULA_LOAD_BORROW};
  alula_executable *executable;
  check(alula_executable_load_memory(instance, data, bytes, &options,
                                     &executable));
  addPiece(data, bytes);
  return executable;
}

/* The function's arguments, and room for its results. */
static alula_buffer **createBuffers(alula_instance *instance,
                                    alula_executable *executable) {
  uint32_t count = alula_executable_get_argument_count(executable, 0);
  alula_buffer **buffers =
      calloc(count + alula_executable_get_result_count(executable, 0),
             sizeof *buffers);
  if (!buffers)
    abort();
  for (uint32_t i = 0; i < count; ++i) {
    alula_value_info info = {.struct_bytes = sizeof info};
    alula_executable_get_argument(executable, 0, i, &info);
    check(alula_buffer_create(instance, info.dtype, info.rank, info.dims,
                              &buffers[i]));
    fill(buffers[i]);
    addPiece(alula_buffer_get_data(buffers[i]),
             alula_buffer_get_bytes(buffers[i]));
  }
  return buffers;
}

static int takeTurns(alula_executable *executable, alula_buffer **buffers,
                     double seconds) {
  uint32_t arguments = alula_executable_get_argument_count(executable, 0);
  uint32_t results = alula_executable_get_result_count(executable, 0);
  int turns = 0;
  for (double end = now() + seconds;
       turns < MAX_TURNS && (turns < 3 || now() < end); ++turns) {
    double start = now();
    check(alula_call(executable, 0, NULL, buffers, arguments,
                     buffers + arguments, results));
    times[0][turns] = now() - start;
    pthread_barrier_wait(&barrier);
    start = now();
    readPart(0);
    pthread_barrier_wait(&barrier);
    times[1][turns] = now() - start;
  }
  return turns;
}

/* The first turn makes what later ones find. */
static void print(int turns) {
  size_t bytes = 0;
  for (size_t i = 0; i < pieceCount; ++i)
    bytes += pieces[i].bytes;
  printf("{\"bytes\": %zu", bytes);
  for (int k = 0; k < 2; ++k) {
    printf(", \"%s\": [", k ? "read" : "call");
    for (int i = 1; i < turns; ++i)
      printf("%s%.9f", i > 1 ? ", " : "", times[k][i]);
    printf("]");
  }
  printf("}\n");
}

int main(int argc, char **argv) {
  if (argc != 4 || (threads = atoi(argv[2])) < 1 || threads > 1024) {
    fprintf(stderr, "usage: read_turns ARTIFACT THREADS SECONDS\n");
    return 2;
  }
  alula_instance_options options = {.struct_bytes = sizeof options,
                                    .thread_count = (uint32_t)threads};
  alula_instance *instance;
  check(alula_instance_create(&options, &instance));
  alula_executable *executable = load(instance, argv[1]);
  alula_buffer **buffers = createBuffers(instance, executable);
  pthread_barrier_init(&barrier, NULL, (unsigned)threads);
  pthread_t handles[threads];
  for (int i = 1; i < threads; ++i)
    pthread_create(&handles[i], NULL, readInTurns, (void *)(size_t)i);
  print(takeTurns(executable, buffers, atof(argv[3])));
  isOver = 1;
  pthread_barrier_wait(&barrier);
  for (int i = 1; i < threads; ++i)
    pthread_join(handles[i], NULL);
  return 0;
}

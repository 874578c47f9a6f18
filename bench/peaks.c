/* What this machine can do at most: multiplications with additions, and bytes
 * read and copied. Prints JSON.
 *
 *   peaks THREADS */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#ifdef __AVX512F__
#define VECTOR_BYTES 64
#else
#define VECTOR_BYTES 32
#endif
typedef float Floats __attribute__((vector_size(VECTOR_BYTES)));
typedef uint64_t Words __attribute__((vector_size(VECTOR_BYTES)));

enum { CHAINS = 16, STEPS = 200000, ROUNDS = 7 };

static pthread_barrier_t barrier;
static int threads;
static volatile float sink;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

/* Each returns how many operations or bytes one thread did. */
typedef struct Task {
  double (*run)(struct Task *);
  char *from, *to;
  size_t bytes;
  int passes;
} Task;

#define KEEP(v) __asm__ volatile("" : "+v"(v))

static double multiplyAdd(Task *task) {
  (void)task;
  Floats sums[CHAINS], a = {1.0f}, b = {0.5f};
  memset(sums, 0, sizeof sums);
  KEEP(a);
  KEEP(b);
  for (int i = 0; i < STEPS; ++i)
#pragma clang loop unroll(full)
    for (int j = 0; j < CHAINS; ++j) {
      sums[j] = a * b + sums[j];
      KEEP(sums[j]);
    }
  Floats all = sums[0];
  for (int j = 1; j < CHAINS; ++j)
    all += sums[j];
  sink = all[0];
  return 2.0 * STEPS * CHAINS * VECTOR_BYTES / 4;
}

#ifdef __AVX512BF16__
static double dotBf16(Task *task) {
  (void)task;
  __m512 sums[CHAINS];
  __m512bh a = (__m512bh)_mm512_set1_epi32(0x3f803f80), b = a;
  memset(sums, 0, sizeof sums);
  for (int i = 0; i < STEPS; ++i)
#pragma clang loop unroll(full)
    for (int j = 0; j < CHAINS; ++j) {
      sums[j] = _mm512_dpbf16_ps(sums[j], a, b);
      KEEP(sums[j]);
    }
  sink = sums[0][0];
  return 2.0 * STEPS * CHAINS * 32;
}
#endif

#ifdef __AVX512VNNI__
static double dotInt8(Task *task) {
  (void)task;
  __m512i sums[CHAINS], a = _mm512_set1_epi8(1), b = a;
  memset(sums, 0, sizeof sums);
  for (int i = 0; i < STEPS; ++i)
#pragma clang loop unroll(full)
    for (int j = 0; j < CHAINS; ++j) {
      sums[j] = _mm512_dpbusd_epi32(sums[j], a, b);
      KEEP(sums[j]);
    }
  sink = (float)sums[0][0];
  return 2.0 * STEPS * CHAINS * 64;
}
#endif

static double readBytes(Task *task) {
  for (int pass = 0; pass < task->passes; ++pass) {
    Words sums[8];
    memset(sums, 0, sizeof sums);
    const Words *from = (const Words *)task->from;
    size_t count = task->bytes / sizeof(Words) / 8 * 8;
    for (size_t i = 0; i < count; i += 8)
#pragma clang loop unroll(full)
      for (int j = 0; j < 8; ++j)
        sums[j] ^= from[i + j];
    for (int j = 0; j < 8; ++j)
      KEEP(sums[j]);
  }
  return (double)task->bytes * task->passes;
}

/* Half of the bytes are read, half are written; memcpy streams large ones. */
static double copyBytes(Task *task) {
  for (int pass = 0; pass < task->passes; ++pass) {
    memcpy(task->to, task->from, task->bytes / 2);
    __asm__ volatile("" ::: "memory");
  }
  return (double)task->bytes * task->passes;
}

typedef struct Thread {
  Task task;
  double done, times[ROUNDS];
} Thread;

static void *work(void *argument) {
  Thread *thread = argument;
  for (int i = 0; i < ROUNDS; ++i) {
    pthread_barrier_wait(&barrier);
    double start = now();
    thread->done = thread->task.run(&thread->task);
    pthread_barrier_wait(&barrier);
    thread->times[i] = now() - start;
  }
  return NULL;
}

/* In billions a second, of the best round. */
static double measure(double (*run)(Task *), size_t bytes) {
  Thread all[threads];
  pthread_t handles[threads];
  size_t part = bytes / threads / 128 * 128;
  for (int i = 0; i < threads; ++i) {
    Task task = {run, NULL, NULL, part, 1};
    if (bytes) {
      task.passes =
          bytes < ((size_t)64 << 20) ? (int)(((size_t)128 << 20) / bytes) : 2;
      task.from = aligned_alloc(4096, (part + 4095) / 4096 * 4096);
      task.to = aligned_alloc(4096, (part + 4095) / 4096 * 4096);
      if (!task.from || !task.to)
        abort();
      memset(task.from, 1, part);
      memset(task.to, 1, part);
    }
    all[i].task = task;
    pthread_create(&handles[i], NULL, work, &all[i]);
  }
  double done = 0, best = 1e30;
  for (int i = 0; i < threads; ++i)
    pthread_join(handles[i], NULL);
  for (int i = 0; i < threads; ++i) {
    done += all[i].done;
    free(all[i].task.from);
    free(all[i].task.to);
  }
  for (int i = 0; i < ROUNDS; ++i)
    if (all[0].times[i] < best)
      best = all[0].times[i];
  return done / best * 1e-9;
}

int main(int argc, char **argv) {
  threads = argc > 1 ? atoi(argv[1]) : 1;
  if (threads < 1 || threads > 1024) {
    fprintf(stderr, "usage: peaks THREADS\n");
    return 1;
  }
  pthread_barrier_init(&barrier, NULL, threads);
  printf("{\"flops\": {\"f32\": %.1f", measure(multiplyAdd, 0));
#ifdef __AVX512BF16__
  printf(", \"bf16\": %.1f", measure(dotBf16, 0));
#endif
#ifdef __AVX512VNNI__
  printf(", \"int8\": %.1f", measure(dotInt8, 0));
#endif
  printf("}");
  static double (*const runs[])(Task *) = {readBytes, copyBytes};
  static const char *const names[] = {"read", "copy"};
  for (int i = 0; i < 2; ++i) {
    printf(", \"%s\": {", names[i]);
    for (size_t mib = 1; mib <= 256; mib *= 4)
      printf("%s\"%zu\": %.1f", mib == 1 ? "" : ", ", mib << 20,
             measure(runs[i], mib << 20));
    printf("}");
  }
  printf("}\n");
  return 0;
}

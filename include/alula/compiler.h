/* The compiler: a StableHLO program in memory becomes an artifact in memory.
 * C11. Safe to call from several threads at once. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "alula/status.h"

#ifndef ALULA_API
#define ALULA_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* One thing that the compiler says about the program. */
typedef struct alula_compile_diagnostic {
  size_t struct_bytes;
  int is_error; /* else a warning or a remark */
  /* "file:line:column", or empty. Python frames are spelled out. */
  const char *location;
  const char *message;
} alula_compile_diagnostic;

/* Set `struct_bytes` to sizeof this struct and what is not needed to zero. */
typedef struct alula_compile_options {
  size_t struct_bytes;
  /* Machines, best first: "cpu:host", "cpu:x86-64-v3". None: "cpu:host". */
  const char *const *targets;
  size_t target_count;
  /* Called for each diagnostic, on the calling thread; may be NULL. */
  void (*on_diagnostic)(void *user, const alula_compile_diagnostic *diagnostic);
  void *user;
} alula_compile_options;

/* `program` is MLIR text, MLIR bytecode or a portable artifact. On success
 * `*artifact` is to be released with alula_compile_free; otherwise it is
 * untouched, and `*message`, if `message` is not NULL, is the first error, to be
 * released the same way. */
ALULA_API alula_status_code
alula_compile(const void *program, size_t program_bytes,
              const alula_compile_options *options, void **artifact,
              size_t *artifact_bytes, char **message);
ALULA_API void alula_compile_free(void *memory);

#ifdef __cplusplus
} /* extern "C" */
#endif

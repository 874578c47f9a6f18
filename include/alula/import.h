/* What a plugin of the runtime gives: functions that kernels import by name, and
 * perhaps a machine that artifacts may be for. This header stands alone. C99.
 *
 * Structs start with their size; what lies past it counts as zero. Functions
 * that return int32_t return 0 for success. Wherever code can be linked with
 * the program instead, that is better: an artifact with imports is not complete
 * by itself. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ALULA_IMPORT_ABI_MAJOR 1
#define ALULA_IMPORT_ABI_MINOR 0

enum {
  /* No libc, no writable data: may be linked where there is no system. */
  ALULA_IMPORT_STANDALONE = 1
};

enum {
  ALULA_IMPORT_SANITIZER_NONE = 0,
  ALULA_IMPORT_SANITIZER_ADDRESS = 1,
  ALULA_IMPORT_SANITIZER_THREAD = 2
};

/* For `sanitizer`: what this piece of code is built with. */
#if defined(__SANITIZE_ADDRESS__)
#define ALULA_IMPORT_SANITIZER ALULA_IMPORT_SANITIZER_ADDRESS
#elif defined(__SANITIZE_THREAD__)
#define ALULA_IMPORT_SANITIZER ALULA_IMPORT_SANITIZER_THREAD
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ALULA_IMPORT_SANITIZER ALULA_IMPORT_SANITIZER_ADDRESS
#elif __has_feature(thread_sanitizer)
#define ALULA_IMPORT_SANITIZER ALULA_IMPORT_SANITIZER_THREAD
#endif
#endif
#ifndef ALULA_IMPORT_SANITIZER
#define ALULA_IMPORT_SANITIZER ALULA_IMPORT_SANITIZER_NONE
#endif

/* `params` is a struct of C layout: for each memory a pointer to its first
 * element, operands before results, and each index an int64_t, in the order of
 * the call. 0, or the kernel fails with the number. */
typedef int32_t (*alula_import_call)(void *params, void *context,
                                     void *reserved);

typedef struct alula_import_setting {
  const char *key, *value;
} alula_import_setting;

typedef struct alula_import_environment {
  uint32_t struct_size;
  uint16_t abi_major, abi_minor;
  void *(*allocate)(size_t bytes);
  void (*release)(void *memory);
  const alula_import_setting *settings;
  size_t setting_count;
} alula_import_environment;

struct alula_kernel_args; /* kernel_abi.h */

/* Runs the kernels of variants whose target is `target`. */
typedef struct alula_import_loader {
  uint32_t struct_size;
  const char *target;
  /* `image` has the variant's bytes and lives until `unload`; `names` are those
   * of its kernels and `entries` where each begins in it. */
  int32_t (*load)(void *self, const void *image, uint64_t bytes, size_t count,
                  const char *const *names, const uint64_t *entries,
                  void **loaded);
  void (*unload)(void *self, void *loaded);
  /* All workgroups of one kernel; several threads may call at once. */
  int32_t (*dispatch)(void *self, void *loaded, size_t kernel,
                      const struct alula_kernel_args *args);
} alula_import_loader;

typedef struct alula_import_plugin {
  uint32_t struct_size;
  uint16_t abi_major, abi_minor;
  const char *name, *version;
  uint32_t features;
  uint32_t sanitizer; /* must be the runtime's: ALULA_IMPORT_SANITIZER */
  /* Once for each instance. May be NULL, `unload` too. */
  int32_t (*load)(const alula_import_environment *environment, void **self);
  void (*unload)(void *self);
  /* `names` ascend. Fills functions and contexts of those that it knows and
   * whose function is NULL still; leaves the rest. May be NULL. */
  int32_t (*resolve)(void *self, size_t count, const char *const *names,
                     alula_import_call *functions, void **contexts);
  const alula_import_loader *loader; /* NULL: none */
} alula_import_plugin;

/* The newest table not newer than the runtime's version, or the only one of its
 * major version; NULL if there is none. A library has it under this name. */
typedef const alula_import_plugin *(*alula_import_query_function)(
    uint16_t runtime_major, uint16_t runtime_minor);
const alula_import_plugin *alula_import_plugin_query(uint16_t runtime_major,
                                                     uint16_t runtime_minor);

#ifdef __cplusplus
} /* extern "C" */
#endif

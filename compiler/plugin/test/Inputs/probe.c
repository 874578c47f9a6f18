/* A plugin of tier C for tests: macros say what its table is like, option `do`
 * what its hook does. */
#define _GNU_SOURCE
#include "alula/plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef ID
#define ID "probe"
#endif
#ifndef MAJOR
#define MAJOR ALULA_PLUGIN_ABI_MAJOR
#endif
#ifndef MINOR
#define MINOR ALULA_PLUGIN_ABI_MINOR
#endif
#ifndef TIER
#define TIER ALULA_TIER_C
#endif
#ifndef STAGES
#define STAGES "preprocess"
#endif
#ifndef ACTIVATION
#define ACTIVATION ALULA_ACTIVE_EXPLICIT
#endif
#ifndef SIZE
#define SIZE sizeof(struct table)
#endif
#ifndef OPTION
#define OPTION "do"
#endif
#ifndef HOOK
#define HOOK rewrite
#endif

enum { DO_SIZE = 16 };

static char *copy(const alula_host *host, const char *text) {
  char *memory = host->allocate(strlen(text) + 1);
  return memory ? strcpy(memory, text) : NULL;
}

static int32_t create(const alula_host *host, const char *const *values,
                      void **self, char **error) {
  if (strcmp(values[0], "refuse") == 0) {
    *error = copy(host, "no licence");
    return 1;
  }
  *self = malloc(DO_SIZE);
  strncpy(*self, values[0], DO_SIZE - 1)[DO_SIZE - 1] = 0;
  return 0;
}

/* Wherever it is. */
static void replace(const alula_host *host, const char *text, size_t bytes,
                    const char *old, const char *new, alula_bytes *reply) {
  const char *end = text + bytes;
  char *to = reply->data = host->allocate(4 * bytes);
  size_t length = strlen(old);
  while (text < end)
    if ((size_t)(end - text) > length && memcmp(text, old, length) == 0) {
      text += length;
      to = stpcpy(to, new);
    } else {
      *to++ = *text++;
    }
  reply->size = (size_t)(to - (char *)reply->data);
}

static int32_t rewrite(void *self, const alula_stage *stage, const void *input,
                       size_t bytes, alula_bytes *reply, char **error) {
  const char *what = self;
  if (strcmp(what, "fail") == 0) {
    *error = copy(stage->host, "it does not like it");
    return 1;
  }
  if (strcmp(what, "abort") == 0)
    abort();
  while (strcmp(what, "loop") == 0)
    ;
  if (strcmp(what, "garbage") == 0) {
    reply->data = copy(stage->host, "this is no program");
    reply->size = 18;
  }
  if (strcmp(what, "say") == 0)
    stage->say(stage, ALULA_SAY_REMARK, ID);
  if (strcmp(what, "subtract") == 0)
    replace(stage->host, input, bytes, "stablehlo.add", "stablehlo.subtract",
            reply);
  if (strcmp(what, "barrier") == 0)
    replace(stage->host, input, bytes, "stablehlo.abs",
            "stablehlo.optimization_barrier", reply);
  return 0;
}

static const char *const choices[] = {"nothing", "fail",     "abort",
                                      "loop",    "garbage",  "refuse",
                                      "say",     "subtract", "barrier"};
static const alula_option options[] = {
    {sizeof(alula_option), ALULA_OPTION_ENUM, OPTION, "what to do", "nothing",
     0, 0, choices, sizeof choices / sizeof *choices},
    {sizeof(alula_option), ALULA_OPTION_UINT, "count", "how many", "1", "1",
     "9", 0, 0},
    {sizeof(alula_option), ALULA_OPTION_FLOAT, "part", "how much", "0.5", "0",
     "1", 0, 0},
};
static const char *const stages[] = {STAGES};
static const char *const after[] = {
#ifdef AFTER
    AFTER,
#endif
    0};
static const alula_hooks hooks = {.struct_size = sizeof hooks,
                                  .stages = stages,
                                  .n_stages = sizeof stages / sizeof *stages,
                                  .HOOK = (void *)rewrite};

/* What comes after our table is not for the host. */
struct table {
  alula_plugin plugin;
  char future[64];
};
static const struct table table = {
    {.struct_size = SIZE,
     .abi_major = MAJOR,
     .abi_minor = MINOR,
     .tier = TIER,
     .id = ID,
     .version = "2.5",
     .description = "for tests",
#ifdef KEY
     .build_key = KEY,
#endif
     .activation = ACTIVATION,
     .options = options,
     .n_options = sizeof options / sizeof *options,
     .after = after,
     .n_after = sizeof after / sizeof *after - 1,
     .create = create,
     .destroy = free,
     .hooks = &hooks},
    "a newer field"};

const alula_plugin *ALULA_PLUGIN_QUERY(uint16_t major, uint16_t minor) {
  (void)major, (void)minor;
#ifdef STRICT
  if (major != MAJOR)
    return NULL;
#endif
  return &table.plugin;
}

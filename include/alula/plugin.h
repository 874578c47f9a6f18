/* What a plugin of the compiler gives: a shared library, or sources linked into
 * a tool, with one function. C99. docs/plugins.md explains it.
 *
 * A plugin of tier C gets and gives bytes, and depends on nothing but this
 * header. One of tier M gets objects of MLIR: it must be built for the same MLIR
 * (alula/plugin.hpp).
 *
 * Structs start with their size: a table may be older or newer than the host,
 * and what lies past its size counts as zero. Hooks return 0 for success; after
 * anything else `*error`, if it was set, says why, in one sentence. Memory that
 * a plugin hands over (errors, replies) comes from `host->allocate`. No C++
 * exception may leave a hook. A library is never unloaded. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Minor versions append fields; a major version changes what is there. */
#define ALULA_PLUGIN_ABI_MAJOR 1
#define ALULA_PLUGIN_ABI_MINOR 0

enum { ALULA_TIER_C = 1, ALULA_TIER_M = 2 };

/* When a plugin takes part that a folder or ALULA_PLUGIN_PATH brought: if
 * --plugin=ID says so, or always. The latter may add (dialects, input.*,
 * target.*), but not change what others compile. */
enum { ALULA_ACTIVE_EXPLICIT = 0, ALULA_ACTIVE_DEFAULT = 1 };

enum {
  ALULA_OPTION_BOOL = 0,
  ALULA_OPTION_INT = 1,
  ALULA_OPTION_UINT = 2,
  ALULA_OPTION_FLOAT = 3,
  ALULA_OPTION_STRING = 4,
  ALULA_OPTION_ENUM = 5, /* one of `choices` */
  ALULA_OPTION_LIST = 6  /* words with commas between them */
};

/* --ID-NAME=VALUE on the command line. */
typedef struct alula_option {
  uint32_t struct_size;
  uint32_t type;
  const char *name, *help;
  const char *default_value;
  const char *minimum, *maximum; /* of numbers; NULL: none */
  const char *const *choices;
  uint32_t n_choices;
} alula_option;

typedef struct alula_host {
  uint32_t struct_size;
  uint16_t abi_major, abi_minor;
  const char *compiler; /* "alula 0.1.0" */
  void *(*allocate)(size_t bytes);
  void (*release)(void *memory);
} alula_host;

enum { ALULA_SAY_REMARK = 0, ALULA_SAY_WARNING = 1 };

/* Where a hook is called. */
typedef struct alula_stage {
  uint32_t struct_size;
  const alula_host *host;
  const char *name; /* "preprocess", see docs/plugins.md */
  /* The executable and the target that it is about, or "". */
  const char *executable, *target;
  /* Something for the user. */
  void (*say)(const struct alula_stage *stage, uint32_t severity,
              const char *text);
  void *host_data;
} alula_stage;

typedef struct alula_bytes {
  void *data;
  size_t size;
} alula_bytes;

/* A kind of machine that --target=NAME or --target=NAME:DEVICE chooses. What is
 * compiled for it becomes a variant of the artifact, which a runtime loader of
 * the same name must know how to run (alula/import.h). */
typedef struct alula_target {
  uint32_t struct_size;
  const char *name, *description;
  /* What follows the colon, the default first; none: nothing does. */
  const char *const *devices;
  uint32_t n_devices;
  const char *format; /* of the bytes: "text", "elf"; a fact of the artifact */
  /* An executable, after `target.configure` and `target.translate` of this
   * plugin, as text; gives its code. */
  int32_t (*serialise)(void *self, const alula_stage *stage, const void *ir,
                       size_t bytes, alula_bytes *image, char **error);
} alula_target;

enum {
  ALULA_HOOKS_BYTECODE = 1 /* `rewrite` gets MLIR bytecode, not text */
};

typedef struct alula_hooks {
  uint32_t struct_size;
  uint32_t flags;
  /* Names of the stages at which `pipeline` or `rewrite` is called. */
  const char *const *stages;
  uint32_t n_stages;

  /* Tier M: adds dialects to a mlir::DialectRegistry. */
  int32_t (*dialects)(const alula_host *host, void *registry, char **error);
  /* Tier M: registers passes under their names, once a process. */
  int32_t (*passes)(const alula_host *host, char **error);
  /* Tier M: adds what is to run at a stage to a mlir::OpPassManager of
   * modules. */
  int32_t (*pipeline)(void *self, const alula_stage *stage, void *pass_manager,
                      char **error);
  /* Tier C: what is there at a stage, and what is to be there instead. To leave
   * it, leave `reply` as it is. */
  int32_t (*rewrite)(void *self, const alula_stage *stage, const void *input,
                     size_t bytes, alula_bytes *reply, char **error);
  const alula_target *const *targets;
  uint32_t n_targets;
} alula_hooks;

typedef struct alula_plugin {
  uint32_t struct_size;
  uint16_t abi_major, abi_minor; /* that this table is written in */
  uint32_t tier;
  const char *id; /* [a-z][a-z0-9_-]{0,31} */
  const char *version, *description;
  const char *build_key;   /* tier M: ALULA_PLUGIN_BUILD_KEY */
  const void *mlir_anchor; /* tier M: &mlir::registerPass */
  uint32_t activation;
  const alula_option *options;
  uint32_t n_options;
  /* Plugins that must be there and whose hooks come before ours. */
  const char *const *after;
  uint32_t n_after;
  /* Once for each compilation, with a value for each option. May be NULL. */
  int32_t (*create)(const alula_host *host, const char *const *values,
                    void **self, char **error);
  void (*destroy)(void *self);
  const alula_hooks *hooks;
} alula_plugin;

/* The newest table that the plugin can speak and that is not newer than the
 * host's version, or its only one if the host's major version is the same; NULL
 * if there is none. Pure: called often, from any thread. */
typedef const alula_plugin *(*alula_plugin_query_function)(uint16_t host_major,
                                                           uint16_t host_minor);

/* Sources that are linked into a tool define a function with a name of their
 * own: ALULA_PLUGIN_STATIC is its last part. */
#define ALULA_PLUGIN_JOIN_(a, b) a##b
#define ALULA_PLUGIN_JOIN(a, b) ALULA_PLUGIN_JOIN_(a, b)
#ifdef ALULA_PLUGIN_STATIC
#define ALULA_PLUGIN_QUERY                                                     \
  ALULA_PLUGIN_JOIN(alula_plugin_query_, ALULA_PLUGIN_STATIC)
#else
#define ALULA_PLUGIN_QUERY alula_plugin_query
#endif

__attribute__((visibility("default"))) const alula_plugin *
ALULA_PLUGIN_QUERY(uint16_t host_major, uint16_t host_minor);

#ifdef __cplusplus
} /* extern "C" */
#endif

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
  int is_error; /* else a warning, a note or a remark */
  /* "file:line:column", or empty. Python frames are spelled out. */
  const char *location;
  const char *message;
} alula_compile_diagnostic;

/* Where the compiler is. */
typedef struct alula_compile_progress {
  size_t struct_bytes;
  /* "input", "dispatch", …: the same words as for `until`. */
  const char *room;
  /* Number of this room, from 1, and of all that will run. */
  uint32_t room_number, room_count;
  /* The pass or kernel that is about to be worked on; "" at a room's start. */
  const char *step;
  /* Kernels done and to do, where that is known; else 0 and 0. */
  uint32_t done, total;
} alula_compile_progress;

/* What a global of the program begins with. */
typedef struct alula_compile_value {
  const char *name;
  const void *data; /* elements as alula/dtype.h lays them out */
  size_t bytes;
} alula_compile_value;

/* Called for each diagnostic, as the compiler works, and at the end of each
 * room with its wall-clock seconds. */
typedef void (*alula_on_diagnostic)(void *user,
                                    const alula_compile_diagnostic *diagnostic);
typedef void (*alula_on_progress)(void *user,
                                  const alula_compile_progress *progress);
typedef void (*alula_on_time)(void *user, const char *room, double seconds);
/* Called with the content of the file of constants. */
typedef void (*alula_on_external)(void *user, const void *bytes, size_t size);

/* X(KIND, type, name, "flag of alula-compile that says the same"): the fields
 * of alula_compile_options. KIND says how the compiler reads one that is a
 * flag. The order is the struct's: only append. */
#define ALULA_FOR_EACH_COMPILE_OPTION(X)                                       \
  /* Machines: "cpu:host", "cpu:x86-64-v3", "cpu:portable"; the best ones come \
   * first in the artifact. None: "cpu:host". */                               \
  X(TEXTS, const char *const *, targets, "target")                             \
  X(COUNT, size_t, target_count, "target")                                     \
  X(OTHER, alula_on_diagnostic, on_diagnostic, "")                             \
  /* Of all callbacks. */                                                      \
  X(OTHER, void *, user, "")                                                   \
  /* The last room to run: "input", "optimize", "partition", "dispatch",       \
   * "plan", "kernel", "schedule", "target". The result is then the program's  \
   * text after it, with which a call with the same options goes on. NULL: an  \
   * artifact. */                                                              \
  X(TEXT, const char *, until, "compile-to")                                   \
  /* Names that the program may call: functions which the embedder registers   \
   * with the runtime. Any other custom call is an error at its line. */       \
  X(TEXTS, const char *const *, custom_calls, "custom-call")                   \
  X(COUNT, size_t, custom_call_count, "custom-call")                           \
  /* A folder, made if there is none, for the program after each room:         \
   * 01.input.mlir and so on, as alula-compile goes on from. */                \
  X(TEXT, const char *, dump_directory, "dump-stages-to")                      \
  /* Check the program after every pass. */                                    \
  X(SWITCH, int, verify_stages, "verify-stages")                               \
  X(OTHER, alula_on_progress, on_progress, "")                                 \
  X(OTHER, alula_on_time, on_time, "")                                         \
  /* Compilation ends with ALULA_STATUS_CANCELLED soon after this is not 0; it \
   * is read between passes and kernels. A signal handler may set it. */       \
  X(OTHER, const volatile int *, cancel, "")                                   \
  /* If not NULL, constants of at least `external_minimum_bytes` (0: 64 KiB)   \
   * go to a safetensors file of this name, which the artifact asks for when   \
   * it is loaded. `on_external` gets its bytes, before alula_compile          \
   * returns. */                                                               \
  X(TEXT, const char *, external_file, "externalize-constants")                \
  X(NUMBER, uint64_t, external_minimum_bytes, "externalize-min-bytes")         \
  X(OTHER, alula_on_external, on_external, "")                                 \
  /* If not NULL, set to what the compiler can tell of the program, as soon as \
   * it is read: also if compilation fails later. */                           \
  X(OTHER, struct alula_program_info **, info, "")                             \
  /* On how many devices the program runs at once: `replica_count` times       \
   * `partition_count`. 0: what the program says, else 1. */                   \
  X(OTHER, uint32_t, replica_count, "")                                        \
  X(OTHER, uint32_t, partition_count, "")                                      \
  /* Initial values of globals that the program itself leaves open, so that    \
   * weights need not be text. */                                              \
  X(OTHER, const alula_compile_value *, values, "")                            \
  X(OTHER, size_t, value_count, "")                                            \
  /* Tools and pass pipelines that each kernel goes through, one after the     \
   * other (docs/preprocessing.md). Whoever compiles in several threads runs   \
   * tools in each. */                                                         \
  X(TEXTS, const char *const *, preprocess_steps,                              \
    "preprocess-executables-with")                                             \
  X(COUNT, size_t, preprocess_step_count, "preprocess-executables-with")       \
  /* Plugins that take part (docs/plugins.md), and their options, each         \
   * "id:name=value". They stay loaded. */                                     \
  X(TEXTS, const char *const *, plugins, "load-plugin")                        \
  X(COUNT, size_t, plugin_count, "load-plugin")                                \
  X(TEXTS, const char *const *, plugin_settings, "plugin-opt")                 \
  X(COUNT, size_t, plugin_setting_count, "plugin-opt")                         \
  /* Not 0: arguments and results of "main" that the program wants in another  \
   * layout than row-major (`mhlo.layout_mode`) are, in the artifact, arrays   \
   * as they lie in memory: their dimensions are in the order that             \
   * alula_program_info_get_argument_layout tells. 0: such wishes are          \
   * ignored. */                                                               \
  X(SWITCH, int, physical_layouts, "physical-layouts")                         \
  /* Not 0, with `until` "dispatch": the result is StableHLO that others read  \
   * too. Each kernel is a function of its name, which the program calls. What \
   * can't be said so, sizes that the host computes or code of other           \
   * compilers, is an error. */                                                \
  X(OTHER, int, kernels_as_functions, "")                                      \
  /* What may be less exact than the program says: "bf16-products", products   \
   * and convolutions of f32 that ask for no precision are computed from       \
   * numbers rounded to bf16; "tf32-products", such products may be computed   \
   * from numbers rounded to tf32, where a GPU does; "i8-activations", what is \
   * multiplied by weights of at most eight bits may be rounded to bytes, with \
   * a scale for each 32 neighbours along the sums. The artifact says what     \
   * that concerned. */                                                        \
  X(TEXTS, const char *const *, accuracy, "accuracy")                          \
  X(COUNT, size_t, accuracy_count, "accuracy")                                 \
  /* Not 0: constants in `external_file` lie as this artifact's products read  \
   * them, so that the file is of no use to another one. 0: they keep the      \
   * program's layout, and whoever has others may write such a file. */        \
  X(SWITCH, int, external_as_used, "externalize-as-used")                      \
  /* If not NULL, a folder, made if there is none, in which artifacts are      \
   * kept, up to 4 GB: what was compiled of the same program with the same               \
   * options by the same compiler is taken from there. What can't be, such as                 \
   * programs that name files, is a warning, and compiled. Not with `info`. */              \
  X(TEXT, const char *, cache_directory, "cache")

/* Set `struct_bytes` to sizeof this struct and what is not needed to zero. All
 * callbacks come on the calling thread. */
typedef struct alula_compile_options {
  size_t struct_bytes;
#define ALULA_COMPILE_OPTION_FIELD(kind, type, name, flag) type name;
  ALULA_FOR_EACH_COMPILE_OPTION(ALULA_COMPILE_OPTION_FIELD)
#undef ALULA_COMPILE_OPTION_FIELD
} alula_compile_options;

/* The fields of the library's own alula_compile_options as C declares them,
 * "size_t struct_bytes;const char *const * targets;…", for languages that
 * can't read this header. */
ALULA_API const char *alula_compile_options_get_layout(void);

/* "alula 0.1.0, LLVM 19.1.7": for reports. */
ALULA_API const char *alula_compiler_get_version(void);

/* `program` is MLIR text, MLIR bytecode or a portable artifact. On success
 * `*artifact`, at a multiple of 64 bytes, is to be released with
 * alula_compile_free; otherwise it is untouched, and `*message`, if `message`
 * is not NULL, is the first error, to be released the same way. */
ALULA_API alula_status_code alula_compile(const void *program,
                                          size_t program_bytes,
                                          const alula_compile_options *options,
                                          void **artifact,
                                          size_t *artifact_bytes,
                                          char **message);
ALULA_API void alula_compile_free(void *memory);

/* ---- What the compiler can tell of a program besides its artifact ---- */

typedef struct alula_program_info alula_program_info;

enum {
  /* Talks to other replicas or partitions. */
  ALULA_PROGRAM_COLLECTIVE = 1,
  /* Calls functions of the embedder, or has effects that are seen outside. */
  ALULA_PROGRAM_CALLS_BACK = 2,
  /* Holds loops of unknown length or sizes that are not known: they count as
   * once and as one. */
  ALULA_PROGRAM_UNKNOWN_COST = 4,
  /* Wants an argument or a result of "main" in another order of dimensions
   * than row-major. */
  ALULA_PROGRAM_LAYOUTS = 8,
  /* Names files whose content becomes a part of the artifact: the same program
   * may give another artifact the next time. */
  ALULA_PROGRAM_READS_FILES = 16
};

ALULA_API void alula_program_info_destroy(alula_program_info *info);
/* The name of the module: "jit_f". */
ALULA_API const char *
alula_program_info_get_name(const alula_program_info *info);
ALULA_API uint32_t alula_program_info_get_flags(const alula_program_info *info);
/* Of the function "main". */
ALULA_API uint32_t
alula_program_info_get_argument_count(const alula_program_info *info);
/* The caller gives the argument away with each call. */
ALULA_API uint32_t
alula_program_info_get_result_count(const alula_program_info *info);
ALULA_API int alula_program_info_is_donated(const alula_program_info *info,
                                            uint32_t argument);
/* The memory that an argument, or a result, is to lie in ("pinned_host"), as
 * the program says it; "" if it says nothing. */
ALULA_API const char *
alula_program_info_get_argument_memory(const alula_program_info *info,
                                       uint32_t argument);
ALULA_API const char *
alula_program_info_get_result_memory(const alula_program_info *info,
                                     uint32_t result);
/* The layout that the program wants an argument, or a result, to have:
 * dimensions from minor to major, "{0,1}"; "" for row-major. With the option
 * `physical_layouts` what the program leaves open ("auto") is decided. */
ALULA_API const char *
alula_program_info_get_argument_layout(const alula_program_info *info,
                                       uint32_t argument);
ALULA_API const char *
alula_program_info_get_result_layout(const alula_program_info *info,
                                     uint32_t result);
/* How an argument, or a result, is divided among partitions, in XLA's text
 * ("{devices=[2,1]0,1}"); null beyond the last one, and for all if the program
 * is not one that the partition stage has left. */
ALULA_API const char *
alula_program_info_get_argument_sharding(const alula_program_info *info,
                                         uint32_t argument);
ALULA_API const char *
alula_program_info_get_result_sharding(const alula_program_info *info,
                                       uint32_t result);
/* Whoever wrote the program may ask how the partitioner divides an array, by a
 * call of @InspectSharding, of which nothing is left to run: `*request` is what
 * its backend_config says, and `*sharding` XLA's text, or "{manual}" in a
 * computation that handles all axes by itself. False if there is no request
 * `index`; there are none before the program has been through the partition
 * stage. */
ALULA_API int alula_program_info_get_shown_sharding(
    const alula_program_info *info, uint32_t index, const void **request,
    size_t *request_bytes, const char **sharding);
/* What one call takes, counted on the program as it came, with everything
 * elementwise fused into whoever reads it: "flops", "transcendentals",
 * "bytes accessed", "bytes accessed0{}" of argument 0 and so on, "bytes
 * accessedout{}". False if there is no line `index`. */
ALULA_API int alula_program_info_get_cost(const alula_program_info *info,
                                          uint32_t index, const char **name,
                                          double *value);

/* A kernel of the program; texts live as long as the info. */
typedef struct alula_kernel_info {
  size_t struct_bytes;
  /* As traces of the runtime call it. */
  const char *name;
  /* What was fused into it: "dot_general add tanh". */
  const char *operations;
  /* What the program's source calls its result, "jit(f)/tanh", and where that
   * is, "model.py:12"; or "". */
  const char *source_name, *source;
  /* Of one run; of bytes, those outside of it that it reads and writes. */
  double flops, transcendentals, bytes;
  /* The operations with the element types of their results, each pair once:
   * "dot_general:f32 add:f32 tanh:f32". */
  const char *typed_operations;
} alula_kernel_info;

/* Sets the fields that `kernel->struct_bytes` has room for. False if there is
 * no kernel `index`; there are none unless the program was compiled with
 * `until` "dispatch". */
ALULA_API int alula_program_info_get_kernel(const alula_program_info *info,
                                            uint32_t index,
                                            alula_kernel_info *kernel);

/* Versions of StableHLO's portable artifacts that can be read. */
#define ALULA_STABLEHLO_NEWEST 1, 20, 0
#define ALULA_STABLEHLO_OLDEST 0, 9, 0

#ifdef __cplusplus
} /* extern "C" */
#endif

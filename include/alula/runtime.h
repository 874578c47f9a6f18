/* The runtime: load an artifact, call its functions. C11.
 *
 * Errors: every function that can fail returns an alula_error, or NULL if all
 * is well; the caller destroys it. What it would have written through pointers
 * is then untouched. Wrong arguments of a call are found before anything is
 * written; if a call fails later (a failed assertion, out of memory), result
 * buffers that the caller supplied, and globals, may hold part of the new
 * values.
 *
 * Threads: every function may be called from any thread, except that an object
 * must not be destroyed while another thread uses it. Calls of functions that
 * change globals run one after the other on one state.
 *
 * Stack: a call needs some 100 KiB of it, and nested control flow more; too
 * little is an error.
 *
 * Structs start with their size, so that later versions can append fields: set
 * it with sizeof, and the rest to zero.
 *
 * Trust: a file's tables and commands are verified, whoever wrote them; its
 * kernels are machine code. Run only files that you would run as programs. A
 * file must not be changed or cut while it is loaded. */
#pragma once

#include "alula/dtype.h"
#include "alula/status.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ALULA_API
#define ALULA_API __attribute__((visibility("default")))
#endif

/* Increases whenever a function is added. */
#define ALULA_RUNTIME_VERSION 8u

ALULA_API uint32_t alula_runtime_version(void);

/* ---- Errors ---- */

typedef struct alula_error alula_error;

ALULA_API alula_status_code alula_error_get_code(const alula_error *error);
/* One sentence, lower case; lives as long as the error. */
ALULA_API const char *alula_error_get_message(const alula_error *error);
ALULA_API void alula_error_destroy(alula_error *error);
/* For custom calls and callbacks that fail. `message` is copied. */
ALULA_API alula_error *alula_error_create(alula_status_code code,
                                          const char *message);

/* ---- Instances: a device, its threads, an allocator ---- */

typedef struct alula_allocator {
  void *user;
  /* NULL: out of memory. `alignment` is a power of two. */
  void *(*allocate)(void *user, size_t bytes, size_t alignment);
  void (*release)(void *user, void *memory, size_t bytes, size_t alignment);
} alula_allocator;

typedef void (*alula_task)(void *context, uint32_t worker);

/* The embedder's threads: `run` calls task(context, w) for every w below
 * `count`, which is at most `worker_count`, and returns when all have ended.
 * It may run them one after the other. */
typedef struct alula_thread_pool {
  void *user;
  uint32_t worker_count;
  void (*run)(void *user, uint32_t count, alula_task task, void *context);
} alula_thread_pool;

typedef struct alula_instance alula_instance;

typedef struct alula_instance_options {
  size_t struct_bytes;
  /* "cpu", the default; "cuda", "cuda:1", ...: GPUs of NVIDIA; "null": runs
   * everything but kernels. Builds for tests have "afar" too: the CPU with
   * memory that the host can't reach, and commands that run late. */
  const char *device;
  /* Threads that share one dispatch, the calling one included; 0: one for each
   * CPU that this process may use. */
  uint32_t thread_count;
  const alula_allocator *allocator;     /* NULL: the C library's */
  const alula_thread_pool *thread_pool; /* NULL: our own threads */
  /* Another instance, whose threads this one uses too: several devices of one
   * machine then do not get in each other's way. Excludes the two ways above.
   * (Version 5.) */
  alula_instance *share_threads;
  /* How many bytes of released memory the instance keeps for later buffers, in
   * blocks of 64 KiB and more: new pages take longer than most kernels. To
   * these comes a tenth of what is in use. 0: none. Instances that share
   * threads share what is kept. A device with memory of its own decides itself.
   * (Version 7.) */
  uint64_t kept_bytes;
} alula_instance_options;

/* `options` may be NULL. */
ALULA_API alula_error *
alula_instance_create(const alula_instance_options *options,
                      alula_instance **instance);
/* Objects made from it keep what they need alive. */
ALULA_API void alula_instance_destroy(alula_instance *instance);
ALULA_API uint32_t
alula_instance_get_thread_count(const alula_instance *instance);
/* The name of its device; "" for NULL. (Version 4.) */
ALULA_API const char *alula_instance_get_device(const alula_instance *instance);
/* What its devices are, as targets of the compiler name it: "sm_90"; "" where
 * they differ, for those that are the host's, and for NULL. (Version 8.) */
ALULA_API const char *alula_instance_get_chip(const alula_instance *instance);
/* Not 0 if the host reads and writes the device's memory where it lies. Else
 * alula_buffer_get_data is NULL, and bytes go by alula_buffer_read and
 * alula_buffer_write. (Version 4.) */
ALULA_API int alula_instance_shares_memory(const alula_instance *instance);

/* Of blocks of 64 KiB and more: what buffers, arenas and the like have, and
 * what is kept for them. (Version 7.) */
typedef struct alula_memory_statistics {
  size_t struct_bytes;
  uint64_t bytes_in_use, peak_bytes_in_use;
  uint64_t bytes_kept, peak_bytes_kept;
  uint64_t largest_kept; /* one block */
  uint64_t allocations;
  uint64_t reused; /* of these, blocks that had been kept */
} alula_memory_statistics;

/* Set its struct_bytes. False if the instance keeps nothing. */
ALULA_API int
alula_instance_get_memory_statistics(const alula_instance *instance,
                                     alula_memory_statistics *statistics);
/* Gives what is kept back to the system. */
ALULA_API void alula_instance_trim_memory(alula_instance *instance);

/* ---- Custom calls: C functions that programs call by name ---- */

typedef struct alula_custom_call_buffer {
  void *data; /* not to be used if `bytes` is 0 */
  uint64_t bytes;
  const int64_t *dims;
  uint32_t rank;
  alula_dtype dtype;
} alula_custom_call_buffer;

typedef struct alula_custom_call_args {
  size_t struct_bytes;
  const char *name;
  uint32_t api_version; /* as the program says; StableHLO numbers them */
  uint32_t operand_count, result_count;
  /* Operands are only read. A result may be the memory of an operand, if the
   * program says that it aliases it. */
  const alula_custom_call_buffer *operands, *results;
  /* The program's backend configuration, any bytes; its other attributes, a
   * JSON object or nothing. With api_version 4 the configuration has these
   * attributes with their types, and the order of dimensions of arrays that
   * the program wants to lie otherwise: artifact/SPEC.md says how. */
  const void *config;
  size_t config_bytes;
  const char *attributes;
  size_t attribute_bytes;
  /* Not NULL and not 0: the caller wants the call to end. */
  const int *cancel;
} alula_custom_call_args;

/* Computes all results from the operands, on the thread of the alula_call.
 * What it is given lives until it returns. It may call the runtime, but not
 * change globals of the state that its call uses. NULL, or an error that is
 * then the runtime's. */
typedef alula_error *(*alula_custom_call)(void *user,
                                          const alula_custom_call_args *args);

/* From now on artifacts that are loaded find this function. A name can be
 * registered once. */
ALULA_API alula_error *
alula_instance_register_custom_call(alula_instance *instance, const char *name,
                                    alula_custom_call function, void *user);

/* ---- Imports: functions that kernels call by name ---- */

struct alula_import_plugin;
struct alula_import_setting;

/* Takes a plugin of alula/import.h: its query function, and settings for it.
 * Artifacts that are loaded from now on find its functions, and variants for
 * its machine run; the newest plugin is asked first. The library it is in must
 * stay loaded as long as the instance. */
ALULA_API alula_error *alula_instance_add_imports(
    alula_instance *instance,
    const struct alula_import_plugin *(*query)(uint16_t major, uint16_t minor),
    const struct alula_import_setting *settings, size_t setting_count);

/* ---- Buffers: typed memory with a count of its users ---- */

typedef struct alula_buffer alula_buffer;

/* New memory, 64-byte aligned, content undefined. */
ALULA_API alula_error *alula_buffer_create(alula_instance *instance,
                                           alula_dtype dtype, uint32_t rank,
                                           const int64_t *dims,
                                           alula_buffer **buffer);
/* The same in memory of the host that kernels of the device reach too: pinned,
 * if the device has memory of its own. The host reads and writes it at
 * `alula_buffer_get_data`, while no call uses it. */
ALULA_API alula_error *alula_buffer_create_on_host(alula_instance *instance,
                                                   alula_dtype dtype,
                                                   uint32_t rank,
                                                   const int64_t *dims,
                                                   alula_buffer **buffer);
/* The caller's memory, without a copy; aligned to the element type, and to 16
 * bytes if the device does not share the host's memory. The device must be able
 * to use it: in that case the host's is none, and an error. `release`, which
 * may be NULL, is called when the last user is gone. */
ALULA_API alula_error *
alula_buffer_wrap(alula_instance *instance, alula_dtype dtype, uint32_t rank,
                  const int64_t *dims, void *data, size_t bytes,
                  void (*release)(void *user, void *data), void *user,
                  alula_buffer **buffer);
ALULA_API void alula_buffer_retain(alula_buffer *buffer);
ALULA_API void alula_buffer_release(alula_buffer *buffer);
/* NULL if the host can't reach the memory, or after a call has taken it over
 * (donation). */
ALULA_API void *alula_buffer_get_data(const alula_buffer *buffer);
/* Where the buffer lies for its device; 0 after donation. Nobody but the device
 * may follow it, unless it shares the host's memory. (Version 4.) */
ALULA_API uint64_t alula_buffer_get_address(const alula_buffer *buffer);
/* Elements of 2 and 4 bits are packed: see alula/dtype.h. */
ALULA_API size_t alula_buffer_get_bytes(const alula_buffer *buffer);
ALULA_API alula_dtype alula_buffer_get_dtype(const alula_buffer *buffer);
ALULA_API uint32_t alula_buffer_get_rank(const alula_buffer *buffer);
ALULA_API const int64_t *alula_buffer_get_dims(const alula_buffer *buffer);

/* ---- Copies (version 4) ---- */

typedef struct alula_event alula_event;

/* Copies `bytes` bytes that begin `offset` bytes after the buffer's first: into
 * the host's memory, out of it, from one buffer to another, which may be of
 * another instance. Ranges are checked before anything else; those inside one
 * buffer may overlap. A buffer that was donated is an error.
 *
 * Without an event the copy is done when the function returns. With one it runs
 * later, after earlier copies with events and asynchronous calls of the
 * instance (that of `to`); buffers are retained, the host's memory must live,
 * and nobody may change it, until the event is done. */
ALULA_API alula_error *alula_buffer_read(alula_buffer *buffer, size_t offset,
                                         void *to, size_t bytes,
                                         alula_event **event);
ALULA_API alula_error *alula_buffer_write(alula_buffer *buffer, size_t offset,
                                          const void *from, size_t bytes,
                                          alula_event **event);
ALULA_API alula_error *alula_buffer_copy(alula_buffer *to, size_t to_offset,
                                         alula_buffer *from, size_t from_offset,
                                         size_t bytes, alula_event **event);

/* ---- Executables: a loaded artifact ---- */

typedef struct alula_executable alula_executable;

enum {
  /* Do not read all constants at load to check their hash. */
  ALULA_LOAD_SKIP_DATA_HASH = 1,
  /* load_memory: use the caller's bytes, 64-byte aligned, instead of a copy. */
  ALULA_LOAD_BORROW = 2,
  /* Imports may be missing: the executable can then be asked, not called. */
  ALULA_LOAD_MISSING_IMPORTS = 4
};

/* What the globals of a state may take, beyond the size of the artifact and its
 * safetensors files, if nobody says. */
#define ALULA_DEFAULT_GLOBAL_BYTES ((uint64_t)4 << 30)

/* A constant outside of the artifact. */
typedef struct alula_external_constant {
  size_t struct_bytes;
  const char *file, *name;
  alula_dtype dtype;
  uint32_t rank;
  const int64_t *dims;
  uint64_t bytes;
} alula_external_constant;

typedef struct alula_load_options {
  size_t struct_bytes;
  uint32_t flags;
  /* Take this variant instead of the best one that the machine can run. */
  const char *variant;
  /* Where the safetensors files of constants outside the artifact lie. NULL:
   * beside it, if it is a file. They are mapped, not copied. */
  const char *external_directory;
  /* Asked first for each such constant, if not NULL. Sets `*data` to
   * `constant->bytes` bytes that live as long as the executable, or leaves it
   * NULL: then the file is looked for. */
  alula_error *(*find_external)(void *user,
                                const alula_external_constant *constant,
                                const void **data);
  void *find_external_user;
  /* The most bytes that the globals of one state may take together, all in all;
   * 0: see ALULA_DEFAULT_GLOBAL_BYTES. More is an error: a file of some hundred
   * bytes can ask for any amount. */
  uint64_t max_global_bytes;
} alula_load_options;

/* `options` may be NULL. The file is mapped, constants are not copied. A custom
 * call without a registered function is an error that names it. */
ALULA_API alula_error *
alula_executable_load_file(alula_instance *instance, const char *path,
                           const alula_load_options *options,
                           alula_executable **executable);
ALULA_API alula_error *
alula_executable_load_memory(alula_instance *instance, const void *bytes,
                             size_t size, const alula_load_options *options,
                             alula_executable **executable);
/* The same program for another instance of the same driver, as a second load
 * would give it: with functions of custom calls of that instance, a state and
 * memory of its own. But what was loaded is there once, however many share it:
 * the file, its code, and constants where the host has them (a device that does
 * not share the host's memory has a copy). Imports are those of the first
 * instance, and bytes that were borrowed must outlive all. (Version 5.) */
ALULA_API alula_error *alula_executable_share(alula_executable *executable,
                                              alula_instance *instance,
                                              alula_executable **shared);
ALULA_API void alula_executable_destroy(alula_executable *executable);

/* The file's hash: equal for equal files. */
ALULA_API uint64_t
alula_executable_get_hash(const alula_executable *executable);
/* Which variant was taken; "" if there are no kernels. */
ALULA_API const char *
alula_executable_get_variant(const alula_executable *executable);
/* Provenance; false if there is no fact `index`. */
ALULA_API int alula_executable_get_fact(const alula_executable *executable,
                                        uint32_t index, const char **key,
                                        const char **value);

/* What a function that kernels import is. */
typedef struct alula_import_info {
  size_t struct_bytes;
  const char *name;
  int is_optional, is_found;
} alula_import_info;

/* False if there is none. */
ALULA_API int alula_executable_get_import(const alula_executable *executable,
                                          uint32_t index,
                                          alula_import_info *info);

/* A custom call that the program makes. */
typedef struct alula_custom_call_info {
  size_t struct_bytes;
  const char *name;
  /* The program's backend configuration; lives as long as the executable. */
  const void *config;
  size_t config_bytes;
  uint32_t operand_count, result_count;
} alula_custom_call_info;

/* False if there is none. (Version 5.) */
ALULA_API int
alula_executable_get_custom_call(const alula_executable *executable,
                                 uint32_t index, alula_custom_call_info *info);

/* What an argument, a result or a global is. Strings and dims live as long as
 * the executable. */
typedef struct alula_value_info {
  size_t struct_bytes;
  const char *name;
  alula_dtype dtype;
  uint32_t rank;
  const int64_t *dims; /* -1: dynamic */
  /* Of a result: the argument whose memory it can take over; of that argument:
   * the result. Else -1. */
  int32_t alias;
  /* Of a global. */
  int is_mutable;
} alula_value_info;

ALULA_API uint32_t
alula_executable_get_function_count(const alula_executable *executable);
/* The number of the function with this name. */
ALULA_API alula_error *
alula_executable_find_function(const alula_executable *executable,
                               const char *name, uint32_t *function);
/* The next four want a function number below the count; NULL, 0 or false for
 * anything else. */
ALULA_API const char *
alula_executable_get_function_name(const alula_executable *executable,
                                   uint32_t function);
ALULA_API uint32_t alula_executable_get_argument_count(
    const alula_executable *executable, uint32_t function);
ALULA_API uint32_t alula_executable_get_result_count(
    const alula_executable *executable, uint32_t function);
ALULA_API int alula_executable_get_argument(const alula_executable *executable,
                                            uint32_t function, uint32_t index,
                                            alula_value_info *info);
ALULA_API int alula_executable_get_result(const alula_executable *executable,
                                          uint32_t function, uint32_t index,
                                          alula_value_info *info);

/* What a function takes of memory beside its arguments and results. */
typedef struct alula_memory_info {
  size_t struct_bytes;
  uint64_t code_bytes;     /* of the whole program's kernels, as loaded */
  uint64_t constant_bytes; /* of the whole program */
  /* Planned for one call; commands may allocate more. */
  uint64_t temporary_bytes;
} alula_memory_info;

/* False if there is no such function. (Version 5.) */
ALULA_API int alula_executable_get_memory(const alula_executable *executable,
                                          uint32_t function,
                                          alula_memory_info *info);

/* One dimension of an argument or a result. */
typedef struct alula_dim_info {
  size_t struct_bytes;
  int64_t size; /* -1: dynamic, then */
  int64_t minimum, maximum;
  const char *symbol; /* dims of one call with the same are equal; or "" */
} alula_dim_info;

/* False if there is none. */
ALULA_API int
alula_executable_get_argument_dim(const alula_executable *executable,
                                  uint32_t function, uint32_t index,
                                  uint32_t dim, alula_dim_info *info);
ALULA_API int
alula_executable_get_result_dim(const alula_executable *executable,
                                uint32_t function, uint32_t index, uint32_t dim,
                                alula_dim_info *info);

/* ---- States: the values of an artifact's globals ---- */

typedef struct alula_state alula_state;

/* A new set of globals, as the artifact says they start. Each executable has
 * one of its own, which is what a NULL state means. */
ALULA_API alula_error *alula_state_create(alula_executable *executable,
                                          alula_state **state);
ALULA_API void alula_state_destroy(alula_state *state);
ALULA_API uint32_t
alula_executable_get_global_count(const alula_executable *executable);
ALULA_API int alula_executable_get_global(const alula_executable *executable,
                                          uint32_t index,
                                          alula_value_info *info);
ALULA_API alula_error *
alula_executable_find_global(const alula_executable *executable,
                             const char *name, uint32_t *index);
/* Copy a global's bytes out or in; setting one makes it initialised. One that
 * is immutable keeps the value it has. */
ALULA_API alula_error *alula_global_get(alula_executable *executable,
                                        alula_state *state, uint32_t index,
                                        void *data, size_t bytes);
ALULA_API alula_error *alula_global_set(alula_executable *executable,
                                        alula_state *state, uint32_t index,
                                        const void *data, size_t bytes);

/* ---- Collectives: one program on several devices at once ---- */

/* Where the participants of a run exchange arrays. A program that was compiled
 * for R replicas of P partitions is called R * P times, each time as another
 * participant, from as many threads:
 *
 *   alula_collectives_options settings = {sizeof settings};
 *   settings.participant_count =
 * alula_executable_get_participant_count(program);
 *   alula_collectives_create(&settings, &collectives);
 *   // On the thread of replica r, partition p:
 *   options.collectives = collectives;
 *   options.participant = r * P + p;
 *   alula_call(program, function, &options, ...);
 *
 * Participants may use one executable or one each, of the same file, on
 * instances of their own; never the same thread, so not alula_call_async on the
 * same instance; and a state each, if the program changes globals. The n-th
 * calls of all participants belong together and must be of the same function;
 * those of one participant run one after the other. If a call fails, those of
 * the other participants do too, with ALULA_STATUS_ABORTED and the reason, as
 * do all later ones: what comes next needs new collectives. So do participants
 * that run different programs, that disagree about what comes next, or that
 * wait for one whose call has ended. */
typedef struct alula_collectives alula_collectives;

/* Processes that run programs together, on one machine or on many. Each calls
 * alula_processes_connect; each participant is then a call in one of them, with
 * the same artifact. What they find each other by depends on the engine:
 *
 *   "gloo"             `store`, or `directory`, a folder that all of them see
 *                      and that is theirs alone: it was empty
 *   "openmpi", "mpich" nothing: mpirun started them. "mpi" is either of them
 *   a path             of a library, see alula/collectives.h
 *
 * (Version 6.) */
typedef struct alula_processes alula_processes;
struct alula_key_value_store;

typedef struct alula_processes_options {
  size_t struct_bytes;
  /* NULL: that of the MPI that started this process, else "gloo". */
  const char *engine;
  /* Of this process, and how many there are. MPI knows: there `count` may be
   * 0. */
  uint32_t number, count;
  /* How long the others may take to come; 0: five minutes. */
  uint32_t timeout_ms;
  const struct alula_key_value_store *store; /* see alula/collectives.h */
  const char *directory;
} alula_processes_options;

/* Waits for all processes. One that does not come within the time is named by
 * the error. */
ALULA_API alula_error *
alula_processes_connect(const alula_processes_options *options,
                        alula_processes **processes);
/* When no collectives use it any more. */
ALULA_API void alula_processes_disconnect(alula_processes *processes);
ALULA_API uint32_t alula_processes_get_number(const alula_processes *processes);
ALULA_API uint32_t alula_processes_get_count(const alula_processes *processes);

/* How participants on devices of the kind `cuda` exchange arrays. NCCL moves
 * them from one GPU to the next, but sums in an order of its own; by the host's
 * memory, a sum has the same bits wherever participants are. */
typedef enum alula_device_collectives ALULA_ENUM_TYPE {
  /* NCCL, if all participants of a group have it, each on a GPU of its own. All
   * participants are on such devices. */
  ALULA_DEVICE_COLLECTIVES_IF_THERE = 0,
  /* The host's memory. */
  ALULA_DEVICE_COLLECTIVES_NEVER = 1,
  /* NCCL; an error where it can't be. What NCCL does not have, such as integers
   * of 16 bits, still goes by the host's memory. */
  ALULA_DEVICE_COLLECTIVES_ALWAYS = 2
} alula_device_collectives;

typedef struct alula_collectives_options {
  size_t struct_bytes;
  /* "local", the default: participants are threads of this process. Not to be
   * given with `processes`, which know theirs. */
  const char *engine;
  uint32_t participant_count;
  /* A call that has waited so long for a participant that does not come fails
   * with ALULA_STATUS_DEADLINE_EXCEEDED; 0: it waits, but with `processes` no
   * longer than five minutes. */
  uint32_t timeout_ms;
  /* Where participants are that are not in this process, or NULL. The process
   * of each; NULL: the first n participants in process 0, the next n in 1, and
   * so on. The n-th collectives that processes make of the same participants
   * and with the same name (NULL is "") belong together. (Version 6.) */
  alula_processes *processes;
  const uint32_t *process_of;
  const char *name;
  alula_device_collectives devices; /* (Version 8.) */
} alula_collectives_options;

ALULA_API alula_error *
alula_collectives_create(const alula_collectives_options *options,
                         alula_collectives **collectives);
/* When no call uses it any more. */
ALULA_API void alula_collectives_destroy(alula_collectives *collectives);
/* Makes all calls fail that wait or come later: for a participant that will
 * never be called. `reason` is copied. */
ALULA_API void alula_collectives_abort(alula_collectives *collectives,
                                       const char *reason);
/* How many run the program at once; 1 if it is for one device. */
ALULA_API uint32_t
alula_executable_get_participant_count(const alula_executable *executable);

/* ---- Calls ---- */

/* A thread's part in a kernel; `workgroups` of the grid. */
typedef struct alula_trace_thread {
  uint64_t begin_ns, end_ns; /* both 0: it took no part */
  uint64_t workgroups;
} alula_trace_thread;

/* One command that ran: times from a monotonic clock. */
typedef struct alula_trace_event {
  size_t struct_bytes;
  /* Of a kernel, a custom call, a collective (from its start to its end), or
   * "copy", "fill", "alloc". */
  const char *name;
  uint64_t begin_ns, end_ns;
  uint32_t grid[3]; /* of a kernel */
  uint64_t bytes;   /* that it moves; of a kernel, of all that it is given */
  /* Of a kernel, while the callback runs: the calling thread, then those of the
   * instance that could take part. */
  const alula_trace_thread *threads;
  uint32_t thread_count;
  /* Of a kernel that a library may compute: its name, or "generated: " and why
   * our code does; while the callback runs. Else NULL. */
  const char *computed_by;
  /* 1: without a trace the kernel may run at the same time as the one before. */
  uint32_t is_beside;
} alula_trace_event;

typedef struct alula_call_options {
  size_t struct_bytes;
  alula_state *state; /* NULL: the executable's own */
  /* For each argument, not 0 if the call may take its memory over for the
   * result that aliases it; the buffer then has no data any more. NULL: none.
   */
  const uint8_t *donate;
  /* The call ends with ALULA_STATUS_CANCELLED soon after this is not 0: it is
   * read between commands, workgroups and rounds of loops, and by kernels that
   * loop or factor matrices. A signal handler or any thread may set it,
   * atomically, until the call has ended. Arguments stay the caller's, donated
   * ones too; what the function changes in place (them, results that the caller
   * supplied, globals) may hold part of the new values. The next call works. */
  const int *cancel;
  void (*trace)(void *user, const alula_trace_event *event);
  void *trace_user;
  /* Of a program for several devices: where they meet, and which one this is.
   * Without collectives, a program that has none can still be called. */
  alula_collectives *collectives;
  uint32_t participant;
} alula_call_options;

/* Runs a function and waits for it. Buffers are of the executable's instance,
 * or of any whose memory is the host's too. A NULL entry of `results` becomes a
 * new buffer; any other is a buffer of the result's type and shape that is
 * written in place: a call that has all of them allocates nothing once it is
 * warm. An argument may itself be given as the result that aliases it. */
ALULA_API alula_error *
alula_call(alula_executable *executable, uint32_t function,
           const alula_call_options *options, alula_buffer *const *arguments,
           size_t argument_count, alula_buffer **results, size_t result_count);

/* The same on a thread of the instance, in the order of these calls.
 * `arguments` and `options` are copied, buffers are retained; `results` must
 * live until the event is done. What is wrong with the arguments shows in the
 * event. */
ALULA_API alula_error *
alula_call_async(alula_executable *executable, uint32_t function,
                 const alula_call_options *options,
                 alula_buffer *const *arguments, size_t argument_count,
                 alula_buffer **results, size_t result_count,
                 alula_event **event);
ALULA_API int alula_event_is_done(alula_event *event);
/* Waits; gives the error of the call or copy the first time, then NULL. */
ALULA_API alula_error *alula_event_wait(alula_event *event);
/* `done` is called once, from the thread that ran the call, or from this one
 * if it has ended; one for each event. */
ALULA_API void alula_event_on_done(alula_event *event, void (*done)(void *user),
                                   void *user);
/* The call goes on if it has not ended. */
ALULA_API void alula_event_destroy(alula_event *event);

#ifdef __cplusplus
} /* extern "C" */
#endif

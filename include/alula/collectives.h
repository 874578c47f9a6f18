/* What an engine of collectives gives the runtime: the exchanges between the
 * participants of a program that runs on several devices at once, be they
 * threads, processes or devices with a network of their own. Programs that use
 * the runtime need the key-value store alone. C11.
 *
 * An engine for processes is a shared library that the runtime loads when it is
 * asked for (alula_processes_connect); so neither the runtime nor its users
 * depend on a library of communication. It exports one function,
 * ALULA_COLLECTIVE_ENGINE_QUERY, and makes errors by the function that it is
 * given, which are then the runtime's.
 *
 * Structs start with their size; what lies past it counts as zero. */
#pragma once

#include "alula/artifact.h"
#include "alula/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ALULA_COLLECTIVES_ABI_MAJOR 1
#define ALULA_COLLECTIVES_ABI_MINOR 1

/* Where processes find each other: what one puts, all can get. The functions
 * return 0 or an alula_status_code. Keys begin with "alula". */
typedef struct alula_key_value_store {
  size_t struct_bytes;
  void *user;
  int32_t (*put)(void *user, const char *key, const void *value, size_t bytes);
  /* Waits until the key is there, but no longer than `timeout_ms`: then
   * ALULA_STATUS_DEADLINE_EXCEEDED. Gives the value to `take`. */
  int32_t (*get)(void *user, const char *key, uint32_t timeout_ms,
                 void (*take)(void *to, const void *value, size_t bytes),
                 void *to);
} alula_key_value_store;

/* ---- For engines ---- */

/* Processes that are connected. */
typedef struct alula_collective_world alula_collective_world;
/* What the participants of one alula_collectives share. */
typedef struct alula_collective_rendezvous alula_collective_rendezvous;
/* A communicator: participants that exchange arrays with each other. */
typedef struct alula_collective_group alula_collective_group;

/* The members of a group in their order; or pairs of source and target. */
typedef struct alula_collective_members {
  const uint32_t *numbers;
  /* Of members, or of numbers in all pairs. */
  uint32_t count;
  uint32_t are_pairs;
} alula_collective_members;

/* A collective as one participant starts it. */
typedef struct alula_collective {
  alula_collective_kind kind;
  alula_reduction reduction;
  alula_dtype dtype;
  /* Its number in the file, for people. */
  uint32_t number;
  /* Elements of a block. */
  uint64_t count;
  /* What this participant gives, and where what it gets goes: memory of the
   * host. They must stay until the collective is done, or `settle` returns. */
  const uint8_t *operand;
  uint8_t *result;
  /* Minor version 1: what it is called in messages. It is `kind`, unless the
   * members agree about another collective by this one. */
  alula_collective_kind shown;
} alula_collective;

/* A collective on its way. */
typedef struct alula_collective_request {
  void *state;
  uint32_t place;
} alula_collective_request;

/* How to connect processes: see alula_processes_options. */
typedef struct alula_collective_connection {
  size_t struct_bytes;
  alula_error *(*make_error)(alula_status_code code, const char *message);
  /* Of this process, and how many there are; 0: the engine knows. */
  uint32_t number, count;
  uint32_t timeout_ms;
  const alula_key_value_store *store; /* may be NULL */
  const char *directory;              /* may be NULL */
} alula_collective_connection;

typedef struct alula_collective_settings {
  size_t struct_bytes;
  uint32_t participant_count;
  /* Nanoseconds; 0 for none. */
  uint64_t timeout;
  /* For each participant its process; NULL in an engine without processes. */
  const uint32_t *process_of;
  const char *name;
} alula_collective_settings;

/* Members of a group start the same collectives in the same order. */
typedef struct alula_collective_engine {
  size_t struct_bytes;
  uint16_t abi_major, abi_minor;
  const char *name;

  /* Waits for all processes. Both are NULL for threads of one process. */
  alula_error *(*connect)(const alula_collective_connection *connection,
                          alula_collective_world **world, uint32_t *number,
                          uint32_t *count);
  void (*disconnect)(alula_collective_world *world);

  alula_error *(*create)(alula_collective_world *world,
                         const alula_collective_settings *settings,
                         alula_collective_rendezvous **rendezvous);
  void (*destroy)(alula_collective_rendezvous *rendezvous);

  /* A call of a participant begins. The n-th calls of all participants must
   * run the same `program`. */
  alula_error *(*begin)(alula_collective_rendezvous *rendezvous,
                        uint32_t participant, uint64_t program);
  /* Nobody touches what the participant gave or gets any more: whatever it has
   * not waited for is given up. To be called before its memory goes. `failure`
   * is NULL, or says why it can't go on. */
  void (*settle)(alula_collective_rendezvous *rendezvous, uint32_t participant,
                 const char *failure);
  /* The call ended, `failure` as above. */
  void (*end)(alula_collective_rendezvous *rendezvous, uint32_t participant,
              const char *failure);
  /* Ends the waiting of all participants, now and from now on. */
  void (*abort)(alula_collective_rendezvous *rendezvous, const char *reason);

  /* The communicator of these members, which lives as long as the rendezvous.
   * An error if something is known that keeps them from going on, such as an
   * abort or a process that is gone: devices that exchange arrays without the
   * engine ask for it while they wait. Returns at once. */
  alula_error *(*get_group)(alula_collective_rendezvous *rendezvous,
                            const alula_collective_members *members,
                            alula_collective_group **group);
  /* Returns at once. */
  alula_error *(*start)(alula_collective_group *group, uint32_t participant,
                        const alula_collective *collective,
                        alula_collective_request *request);
  /* Waits, unless `*cancel` is or becomes something else than 0. */
  alula_error *(*done)(const alula_collective_request *request,
                       const int *cancel);
} alula_collective_engine;

/* Of this version of the interface, or NULL. */
typedef const alula_collective_engine *(*alula_collective_engine_query)(
    uint16_t abi_major, uint16_t abi_minor);
#define ALULA_COLLECTIVE_ENGINE_QUERY "alula_collective_engine_get"

#ifdef __cplusplus
} /* extern "C" */
#endif

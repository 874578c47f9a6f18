// The C API of collectives: finds the engine.

#include "runtime/base/library.h"
#include "runtime/base/memory.h"
#include "runtime/collectives/engine.h"

#include <cstdio>
#include <dlfcn.h>

using namespace alula::runtime;

struct alula_processes {
  const CollectiveEngine *engine;
  alula_collective_world *world;
  uint32_t number, count;
};

namespace {
constexpr uint32_t defaultTimeout = 300000;

/// What the caller has of a struct; the rest is zero.
template <class Options> Options readOptions(const Options *given) {
  Options mine = {};
  memcpy(&mine, given,
         given->struct_bytes < sizeof mine ? given->struct_bytes : sizeof mine);
  return mine;
}

/// The engine of the MPI that started this process; NULL if none did.
const char *findMpi() {
  return getenv("OMPI_COMM_WORLD_SIZE") ? "openmpi"
         : getenv("PMI_SIZE")           ? "mpich"
                                        : nullptr;
}

void *openEngine(const char *name) {
  char file[256];
  snprintf(file, sizeof file, "libalula_collectives_%s.so", name);
  return openPart(file);
}

/// Debian's package with what an engine needs; NULL if it isn't one of ours.
const char *getPackage(const char *name) {
  return strcmp(name, "gloo") == 0      ? "libgloo0"
         : strcmp(name, "openmpi") == 0 ? "libopenmpi3"
         : strcmp(name, "mpich") == 0   ? "libmpich12"
                                        : nullptr;
}

Status loadEngine(const char *name, const CollectiveEngine **engine) {
  void *library = strchr(name, '/') ? dlopen(name, RTLD_NOW) : openEngine(name);
  // It stays: it may have threads.
  auto query = library ? reinterpret_cast<alula_collective_engine_query>(
                             dlsym(library, ALULA_COLLECTIVE_ENGINE_QUERY))
                       : nullptr;
  if (!query) {
    const char *package = getPackage(name), *reason = dlerror();
    if (!package)
      return makeError(ALULA_STATUS_NOT_FOUND,
                       "there is no engine '%s' for processes: %s", name,
                       reason);
    return makeError(ALULA_STATUS_NOT_FOUND,
                     "there is no engine '%s' for processes: %s (Alula's "
                     "packages for C and for Debian have it; it needs "
                     "Debian's %s or the like)",
                     name, reason, package);
  }
  *engine = query(ALULA_COLLECTIVES_ABI_MAJOR, ALULA_COLLECTIVES_ABI_MINOR);
  if (!*engine || (*engine)->abi_major != ALULA_COLLECTIVES_ABI_MAJOR ||
      (*engine)->struct_bytes < sizeof **engine)
    return makeError(ALULA_STATUS_FAILED_PRECONDITION,
                     "the engine '%s' speaks no version of the interface that "
                     "the runtime does",
                     name);
  return nullptr;
}
} // namespace

alula_error *alula_processes_connect(const alula_processes_options *options,
                                     alula_processes **processes) {
  if (!options || !processes)
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "alula_processes_connect: an argument is null");
  alula_processes_options mine = readOptions(options);
  const char *name = mine.engine ? mine.engine : findMpi();
  if (!name)
    name = "gloo";
  else if (strcmp(name, "mpi") == 0)
    name = findMpi() ? findMpi() : "openmpi";
  alula_processes made = {};
  ALULA_TRY(loadEngine(name, &made.engine));
  alula_collective_connection connection = {sizeof connection,
                                            alula_error_create,
                                            mine.number,
                                            mine.count,
                                            mine.timeout_ms ? mine.timeout_ms
                                                            : defaultTimeout,
                                            mine.store,
                                            mine.directory};
  auto *result = create<alula_processes>();
  if (!result)
    return makeOutOfMemory("processes", sizeof made);
  Status status =
      made.engine->connect(&connection, &made.world, &made.number, &made.count);
  if (status) {
    destroy(result);
    return status;
  }
  *result = made;
  *processes = result;
  return nullptr;
}

void alula_processes_disconnect(alula_processes *processes) {
  if (!processes)
    return;
  processes->engine->disconnect(processes->world);
  destroy(processes);
}

uint32_t alula_processes_get_number(const alula_processes *processes) {
  return processes ? processes->number : 0;
}

uint32_t alula_processes_get_count(const alula_processes *processes) {
  return processes ? processes->count : 0;
}

alula_error *alula_collectives_create(const alula_collectives_options *options,
                                      alula_collectives **collectives) {
  if (!options || !collectives)
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "alula_collectives_create: an argument is null");
  alula_collectives_options mine = readOptions(options);
  if (mine.participant_count == 0 ||
      mine.participant_count > ALULA_MAX_PARTICIPANTS)
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "collectives of %u participants", mine.participant_count);
  if (mine.engine && (mine.processes || strcmp(mine.engine, "local") != 0))
    return makeError(ALULA_STATUS_NOT_FOUND,
                     "there is no engine '%s' here: threads have local, "
                     "processes theirs",
                     mine.engine);
  auto *made = create<alula_collectives>();
  Array<uint32_t> places;
  if (!made || !made->calls.resize(mine.participant_count) ||
      !places.resize(mine.process_of ? 0 : mine.participant_count)) {
    destroy(made);
    return makeOutOfMemory("collectives", sizeof(alula_collectives));
  }
  made->engine = mine.processes ? mine.processes->engine : &localEngine;
  made->participantCount = mine.participant_count;
  uint32_t timeout = mine.timeout_ms;
  if (mine.processes) {
    timeout = timeout ? timeout : defaultTimeout;
    uint32_t count = mine.processes->count;
    uint32_t each = (mine.participant_count + count - 1) / count;
    for (uint32_t i = 0; i < places.size(); ++i)
      places[i] = i / each;
  }
  made->devices = mine.devices;
  made->timeout = uint64_t(timeout) * 1000000;
  alula_collective_settings settings = {
      sizeof settings, mine.participant_count, made->timeout,
      mine.process_of ? mine.process_of : places.data(),
      mine.name ? mine.name : ""};
  if (Status status =
          made->engine->create(mine.processes ? mine.processes->world : nullptr,
                               &settings, &made->rendezvous)) {
    destroy(made);
    return status;
  }
  *collectives = made;
  return nullptr;
}

void alula_collectives_destroy(alula_collectives *collectives) {
  if (!collectives)
    return;
  if (collectives->kept)
    collectives->forget(collectives->kept);
  collectives->engine->destroy(collectives->rendezvous);
  destroy(collectives);
}

void alula_collectives_abort(alula_collectives *collectives,
                             const char *reason) {
  if (collectives)
    collectives->engine->abort(collectives->rendezvous,
                               reason ? reason : "the run was aborted");
}

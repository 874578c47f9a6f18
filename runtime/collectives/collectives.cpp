// The C API of collectives: finds the engine.

#include "runtime/base/memory.h"
#include "runtime/collectives/engine.h"

using namespace alula::runtime;

namespace {
const CollectiveEngine *const engines[] = {&localEngine};

const CollectiveEngine *findEngine(const char *name) {
  for (const CollectiveEngine *engine : engines)
    if (strcmp(engine->name, name) == 0)
      return engine;
  return nullptr;
}
} // namespace

alula_error *alula_collectives_create(const alula_collectives_options *options,
                                      alula_collectives **collectives) {
  if (!options || !collectives)
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "alula_collectives_create: an argument is null");
  alula_collectives_options mine = {};
  memcpy(&mine, options,
         options->struct_bytes < sizeof mine ? options->struct_bytes
                                             : sizeof mine);
  if (mine.participant_count == 0 ||
      mine.participant_count > ALULA_MAX_PARTICIPANTS)
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "collectives of %u participants", mine.participant_count);
  const char *name = mine.engine ? mine.engine : "local";
  const CollectiveEngine *engine = findEngine(name);
  if (!engine)
    return makeError(ALULA_STATUS_NOT_FOUND,
                     "there is no engine '%s': this runtime has local", name);
  auto *made = create<alula_collectives>();
  if (!made)
    return makeOutOfMemory("collectives", sizeof(alula_collectives));
  made->engine = engine;
  made->participantCount = mine.participant_count;
  if (Status status = engine->create(mine.participant_count,
                                     uint64_t(mine.timeout_ms) * 1000000,
                                     &made->rendezvous)) {
    destroy(made);
    return status;
  }
  *collectives = made;
  return nullptr;
}

void alula_collectives_destroy(alula_collectives *collectives) {
  if (!collectives)
    return;
  collectives->engine->destroy(collectives->rendezvous);
  destroy(collectives);
}

void alula_collectives_abort(alula_collectives *collectives,
                             const char *reason) {
  if (collectives)
    collectives->engine->abort(collectives->rendezvous,
                               reason ? reason : "the run was aborted");
}

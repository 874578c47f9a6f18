#include "runtime/executable/state.h"

#include <cinttypes>

namespace alula::runtime {

/// Gives each global its bytes.
static Status initialise(alula_executable *executable, alula_state *state) {
  const artifact::Artifact &file = executable->image->file;
  Instance &instance = *executable->instance;
  const Driver &driver = *instance.driver;
  StreamUse stream(instance);
  if (file.globals.size)
    ALULA_TRY(stream.take());
  for (uint64_t i = 0; i < file.globals.size; ++i) {
    const alula_file_global &record = file.globals[i];
    alula_state::Global &global = state->globals[i];
    artifact::getStaticBytes(file, file.types[record.type], global.bytes);
    global.isInitialised = record.initial != ALULA_NONE;
    uint8_t *initial = global.isInitialised
                           ? executable->deviceConstants[record.initial]
                           : nullptr;
    if (initial && !(record.flags & ALULA_GLOBAL_MUTABLE)) {
      // Nothing writes it.
      global.data = initial;
      continue;
    }
    global.data = driver.allocate(instance.device, global.bytes);
    if (!global.data)
      return makeOutOfMemory("a global", global.bytes);
    global.isOwned = true;
    if (initial)
      ALULA_TRY(driver.copy(stream.get(), global.data, initial, global.bytes));
    else
      ALULA_TRY(driver.fill(stream.get(), global.data, 0, 1, global.bytes));
  }
  return file.globals.size ? stream.finish(nullptr) : nullptr;
}

Status createState(alula_executable *executable, alula_state **state) {
  size_t count = executable->image->file.globals.size;
  auto *made = create<alula_state>();
  if (!made || !made->globals.resize(count)) {
    destroy(made);
    return makeOutOfMemory("globals", count);
  }
  made->executable = executable;
  if (Status status = initialise(executable, made)) {
    destroyState(made);
    return status;
  }
  *state = made;
  return nullptr;
}

void destroyState(alula_state *state) {
  if (!state)
    return;
  const Instance &instance = *state->executable->instance;
  for (const alula_state::Global &global : state->globals)
    if (global.isOwned)
      instance.driver->release(instance.device, global.data, global.bytes);
  destroy(state);
}

/// Finds the state that a call means and checks the index and size.
static Status findGlobal(alula_executable *executable, alula_state *&state,
                         uint32_t index, const void *data, size_t bytes) {
  if (!executable)
    return makeError(ALULA_STATUS_INVALID_ARGUMENT, "the executable is null");
  if (!state)
    state = executable->state;
  if (state->executable != executable)
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "the state belongs to another executable");
  if (index >= state->globals.size())
    return makeError(ALULA_STATUS_NOT_FOUND,
                     "there is no global %u: the artifact has %zu", index,
                     state->globals.size());
  const alula_state::Global &global = state->globals[index];
  const char *name = executable->image->file.getString(
      executable->image->file.globals[index].name);
  if (bytes != global.bytes)
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "global '%s' has %" PRIu64 " bytes, not %zu", name,
                     global.bytes, bytes);
  if (!data && bytes)
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "the data for global '%s' is null", name);
  return nullptr;
}

} // namespace alula::runtime

using namespace alula::runtime;

alula_error *alula_state_create(alula_executable *executable,
                                alula_state **state) {
  if (!executable || !state)
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "alula_state_create: executable or result is null");
  return createState(executable, state);
}

void alula_state_destroy(alula_state *state) { destroyState(state); }

alula_error *alula_global_get(alula_executable *executable, alula_state *state,
                              uint32_t index, void *data, size_t bytes) {
  ALULA_TRY(findGlobal(executable, state, index, data, bytes));
  StreamUse stream(*executable->instance);
  ALULA_TRY(stream.take());
  state->lock.lockShared();
  const alula_state::Global &global = state->globals[index];
  bool isInitialised = global.isInitialised;
  Status status = nullptr;
  if (isInitialised)
    status = executable->instance->driver->copyFrom(stream.get(), data,
                                                    global.data, bytes);
  state->lock.unlock();
  if (isInitialised)
    return status;
  return makeError(ALULA_STATUS_FAILED_PRECONDITION,
                   "global '%s' is read before it is initialised",
                   executable->image->file.getString(
                       executable->image->file.globals[index].name));
}

alula_error *alula_global_set(alula_executable *executable, alula_state *state,
                              uint32_t index, const void *data, size_t bytes) {
  ALULA_TRY(findGlobal(executable, state, index, data, bytes));
  StreamUse stream(*executable->instance);
  ALULA_TRY(stream.take());
  state->lock.lock();
  alula_state::Global &global = state->globals[index];
  const alula_file_global &record = executable->image->file.globals[index];
  if (global.isInitialised && !(record.flags & ALULA_GLOBAL_MUTABLE)) {
    state->lock.unlock();
    return makeError(ALULA_STATUS_FAILED_PRECONDITION,
                     "global '%s' is immutable and has its value",
                     executable->image->file.getString(record.name));
  }
  Status status = stream.finish(executable->instance->driver->copyTo(
      stream.get(), global.data, data, bytes));
  if (!status)
    global.isInitialised = true;
  state->lock.unlock();
  return status;
}

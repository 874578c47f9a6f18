#include "runtime/executable/state.h"

#include <cinttypes>

namespace alula::runtime {

Status createState(alula_executable *executable, alula_state **state) {
  const artifact::Artifact &file = executable->file;
  auto *made = create<alula_state>();
  if (!made || !made->globals.resize(file.globals.size)) {
    destroy(made);
    return makeOutOfMemory("globals", file.globals.size);
  }
  made->executable = executable;
  for (uint64_t i = 0; i < file.globals.size; ++i) {
    const alula_file_global &record = file.globals[i];
    alula_state::Global &global = made->globals[i];
    artifact::getStaticBytes(file, file.types[record.type], global.bytes);
    global.isInitialised = record.initial != ALULA_NONE;
    const uint8_t *initial =
        global.isInitialised ? executable->constants[record.initial] : nullptr;
    if (initial && !(record.flags & ALULA_GLOBAL_MUTABLE)) {
      // Nothing writes it.
      global.data = const_cast<uint8_t *>(initial);
      continue;
    }
    global.data = static_cast<uint8_t *>(
        executable->instance->allocator.allocate(global.bytes));
    if (!global.data) {
      uint64_t bytes = global.bytes;
      destroyState(made);
      return makeOutOfMemory("a global", bytes);
    }
    global.isOwned = true;
    if (initial)
      memcpy(global.data, initial, global.bytes);
    else
      memset(global.data, 0, global.bytes);
  }
  *state = made;
  return nullptr;
}

void destroyState(alula_state *state) {
  if (!state)
    return;
  for (const alula_state::Global &global : state->globals)
    if (global.isOwned)
      state->executable->instance->allocator.release(global.data, global.bytes);
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
  const char *name =
      executable->file.getString(executable->file.globals[index].name);
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
  state->lock.lockShared();
  const alula_state::Global &global = state->globals[index];
  bool isInitialised = global.isInitialised;
  if (isInitialised && bytes)
    memcpy(data, global.data, bytes);
  state->lock.unlock();
  if (isInitialised)
    return nullptr;
  return makeError(
      ALULA_STATUS_FAILED_PRECONDITION,
      "global '%s' is read before it is initialised",
      executable->file.getString(executable->file.globals[index].name));
}

alula_error *alula_global_set(alula_executable *executable, alula_state *state,
                              uint32_t index, const void *data, size_t bytes) {
  ALULA_TRY(findGlobal(executable, state, index, data, bytes));
  state->lock.lock();
  alula_state::Global &global = state->globals[index];
  const alula_file_global &record = executable->file.globals[index];
  if (global.isInitialised && !(record.flags & ALULA_GLOBAL_MUTABLE)) {
    state->lock.unlock();
    return makeError(ALULA_STATUS_FAILED_PRECONDITION,
                     "global '%s' is immutable and has its value",
                     executable->file.getString(record.name));
  }
  if (bytes)
    memcpy(global.data, data, bytes);
  global.isInitialised = true;
  state->lock.unlock();
  return nullptr;
}

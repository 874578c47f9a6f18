// Runs the commands of a verified artifact.

#pragma once

#include "runtime/executable/state.h"
#include "runtime/invoke/context.h"

namespace alula::runtime {

/// A call from outside: what its frames share.
struct Call {
  alula_executable *executable;
  alula_state *state;
  Context *context;
  Stream *stream;
  const int *cancel;
  void (*trace)(void *user, const alula_trace_event *event);
  void *traceUser;
  /// Frames below this address could run into the end of the stack.
  uintptr_t stackLimit;
  /// The results that the caller gave, NULL where it gave none.
  alula_buffer *const *given;
  /// NULL for a program on one device.
  alula_collectives *collectives;
  uint32_t participant;
};

/// One function that runs. Its memory is a piece of the context's.
struct Frame {
  const alula_file_function *function;
  const FunctionInfo *info;
  int64_t *registers;
  /// The dynamic dims of all arguments, in order; of all results.
  int64_t *argumentDims, *resultDims;
  Slot *slots;
  /// The whole storage of each argument and result.
  Slot *arguments, *results;
  /// In the device's memory.
  uint8_t *arena;
  /// Where the frame of a function that this one calls begins, and its arena.
  uint8_t *end, *arenaEnd;
  bool isOutermost;
};

/// Lays a frame out at `memory`, its arena at `arena`; arguments, results and
/// dims are left to the caller.
void layOutFrame(const alula_executable *executable, uint32_t function,
                 uint8_t *memory, uint8_t *arena, Frame &frame);

/// Aborts pending collectives of the call, so that its memory may be freed. An
/// error is the reason that the other participants get.
void settleCollectives(Call &call, Status failure);

/// Binds the slots and encodes the body on the call's stream. Blocks only on
/// values that the host needs, as the condition of a loop.
Status runFunction(Call &call, Frame &frame);

} // namespace alula::runtime

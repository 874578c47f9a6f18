// The commands of one function that runs: what all of them share, and those of
// calls and results, custom calls and collectives, in files of their names.
// Control flow and data are in interpreter.cpp, whose functions nobody else
// calls, so that they become one.

#pragma once

#include "runtime/invoke/interpreter.h"

#include <cinttypes>

namespace alula::runtime {

inline uint64_t alignUp(uint64_t bytes) {
  return (bytes + memoryAlignment - 1) / memoryAlignment * memoryAlignment;
}

/// What a buffer without bytes points to: "no storage yet" is NULL.
inline uint8_t nothing[memoryAlignment];

/// What one function needs for its commands.
class Commands {
public:
  Commands(Call &call, Frame &frame)
      : call(call), frame(frame), file(call.executable->image->file),
        function(*frame.function), driver(*call.executable->instance->driver) {}

protected:
  // ---- Parameters ----

  int64_t get(uint32_t operand) const {
    return operand & ALULA_IMMEDIATE
               ? file.immediates[operand & ~ALULA_IMMEDIATE]
               : frame.registers[operand];
  }

  // Not inlined: its text would enlarge the stack frame of every level.
  __attribute__((noinline, format(printf, 3, 4))) Status
  fail(alula_status_code code, const char *format, ...);

  /// The bytes [offset, offset + size) of a slot.
  Status access(const char *what, uint32_t number, int64_t offset, int64_t size,
                uint8_t **bytes) {
    const Slot &slot = frame.slots[number];
    uint8_t *data = call.context->getData(slot);
    if (!data)
      return fail(ALULA_STATUS_INTERNAL, "%s: slot %u has no storage%s", what,
                  number, slot.data ? " any more" : " yet");
    if (offset < 0 || size < 0 || uint64_t(offset) > slot.bytes ||
        uint64_t(size) > slot.bytes - uint64_t(offset))
      return fail(ALULA_STATUS_OUT_OF_RANGE,
                  "%s: %" PRId64 " bytes at %" PRId64
                  " are outside slot %u of %" PRIu64 " bytes",
                  what, size, offset, number, slot.bytes);
    *bytes = data + offset;
    return nullptr;
  }

  const alula_file_type &getType(const alula_file_value &value) const {
    return file.types[value.type];
  }

  /// Where a slot begins.
  void bindSlot(uint32_t number) {
    const alula_file_slot &record = file.slots[function.first_slot + number];
    Slot base = {};
    switch (record.kind) {
    case ALULA_SLOT_ARGUMENT:
      base = frame.arguments[record.index];
      break;
    case ALULA_SLOT_RESULT:
      base = frame.results[record.index];
      break;
    case ALULA_SLOT_CONSTANT:
      base.data = call.executable->deviceConstants[record.index];
      base.bytes = file.constants[record.index].bytes;
      // An artifact of nothing but empty constants has no data at all.
      if (!base.bytes)
        base.data = nothing;
      break;
    case ALULA_SLOT_GLOBAL:
      base.data = call.state->globals[record.index].data;
      base.bytes = call.state->globals[record.index].bytes;
      break;
    case ALULA_SLOT_ARENA:
      base.data = frame.arena;
      base.bytes = function.arena_bytes;
      break;
    }
    if (base.data) {
      base.data += record.offset;
      base.bytes = record.bytes == ALULA_REST ? base.bytes - record.offset
                                              : record.bytes;
    }
    // Blocks belong to the slot that was allocated, not to a callee's name.
    base.block = base.life = base.ownsBlock = 0;
    frame.slots[number] = base;
  }

  Status checkCancel() {
    if (call.cancel && __atomic_load_n(call.cancel, __ATOMIC_RELAXED))
      return fail(ALULA_STATUS_CANCELLED, "the call was cancelled");
    return nullptr;
  }

  /// Records the time of a command, which is synchronized for that.
  Status trace(const char *name, uint64_t begin, uint64_t bytes);

  // ---- Results, calls ----

  /// The bytes of a type with these dynamic dims, which must be in range.
  Status getBytes(const char *what, const alula_file_type &type,
                  const int64_t *dynamicDims, uint64_t &bytes);
  Status runBindResult(uint32_t number, const uint32_t *operands);
  /// A dynamic result of the outermost function: a buffer.
  Status makeResult(uint32_t number, const alula_file_type &type,
                    const int64_t *dynamicDims);
  Status runCall(const uint32_t *p);
  /// Dynamic results, and all dims, go to the caller.
  Status finishCall(const Frame &callee, const uint32_t *results,
                    const uint32_t *registers);
  Status bindValue(const char *callee, uint32_t number,
                   const alula_file_type &type, const int64_t *dims,
                   Slot &slot);

  // ---- Custom calls ----

  Status runCustomCall(const uint32_t *p);
  /// Gives the buffers of a custom call places in the host's memory, the same
  /// to what is the same, and copies operands there.
  Status stageOperands(uint32_t operandCount, uint32_t count);
  Status unstageResults(uint32_t operandCount, uint32_t count);
  void getBlob(uint32_t constant, const void *&bytes, size_t &size) const;

  // ---- Collectives ----

  /// The members of the group that this participant is in; none if it takes no
  /// part.
  GroupMembers findGroup(const alula_file_collective &record) const;
  /// All pairs, if this participant is in one.
  Status findPairs(const alula_file_collective &record, GroupMembers &members);
  Status startCollective(const uint32_t *p);
  Status start(const uint32_t *p, const GroupMembers &members, Collective what,
               uint64_t given, uint64_t gotten);
  /// Engines access host memory: staging buffers for all other memory.
  Status stageCollective(PendingCollective &one, Collective &what,
                         uint64_t given, uint64_t gotten);
  /// Staging memory on the host that is reused by later calls.
  Status takeHostCopy(uint64_t bytes, size_t &number);
  Status finishCollective(int64_t handle);
  /// An engine's error with the collective that it is about.
  Status addName(uint32_t number, Status status);

  Call &call;
  Frame &frame;
  const artifact::Artifact &file;
  const alula_file_function &function;
  const Driver &driver;
};

} // namespace alula::runtime

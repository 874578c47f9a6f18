// The memory of one call: frames, arenas, scratch, and blocks of commands. The
// executable reuses it, so that warm calls allocate nothing.

#pragma once

#include "runtime/collectives/engine.h"
#include "runtime/executable/executable.h"

namespace alula::runtime {

/// Where a slot points.
struct Slot {
  uint8_t *data;
  uint64_t bytes;
  /// 1 + the number of the block that the bytes lie in; 0: they are not memory
  /// that a command allocated.
  uint32_t block;
  /// Generation of the block; views of an earlier one are invalid.
  uint32_t life : 31;
  /// Owns the block; other slots with its number are views.
  uint32_t ownsBlock : 1;
};
static_assert(sizeof(Slot) == slotBytes);

/// Bytes that a call reads or writes, for the alias check.
struct Range {
  const uint8_t *begin, *end;
  bool isWritten;
  /// Of an argument, or of a result.
  bool isArgument;
  uint32_t index;
};

/// A pending collective; its handle is its index.
struct PendingCollective {
  CollectiveRequest request;
  /// In the file.
  uint32_t number;
  bool isOpen;
  /// The device's stream carries it out.
  bool isOnDevice;
  /// For traces; bytes of the result.
  uint64_t begin, bytes;
  /// Without unified memory: 1 + the number of a staging buffer, in which the
  /// result is at `staged`; it is then copied to `result`.
  size_t copy;
  uint8_t *staged, *result;
};

struct Context {
  Context *next;
  /// Frames.
  uint8_t *memory;
  uint64_t memoryBytes;
  /// Arenas of the frames, and what kernels work with: the device's.
  uint8_t *arena;
  uint64_t arenaBytes;
  uint8_t *scratch;
  /// Bindings and constants of the dispatch that is being encoded.
  Array<void *> bindings;
  Array<uint64_t> bindingBytes;
  Array<int64_t> constants;
  /// Buffers of the custom call that is being made, and their dims.
  Array<alula_custom_call_buffer> callBuffers;
  Array<int64_t> callDims;
  /// Their staging buffers on the host, without unified memory, and their
  /// device addresses.
  uint8_t *staging;
  uint64_t stagingBytes;
  Array<uint8_t *> callAddresses;
  /// For each result of the call, the buffer that it made.
  Array<alula_buffer *> made;
  Array<Range> ranges;
  Array<PendingCollective> pending;
  /// Staging buffers of collectives, without unified memory.
  struct HostCopy {
    uint8_t *data;
    uint64_t bytes;
    bool isUsed;
  };
  Array<HostCopy> hostCopies;
  /// Pairs of the permute that is being started.
  Array<uint32_t> pairs;

  struct Block {
    uint8_t *data;
    uint64_t bytes;
    bool isUsed;
    /// Calls since its last use.
    uint32_t idleCalls;
    /// Its generation: how often it was freed.
    uint32_t life : 31;
  };
  Array<Block> blocks;
  /// For AddressSanitizer, see context.cpp.
  bool hidesBlocks;

  /// The slot's bytes, NULL if it shows none or they have been freed.
  uint8_t *getData(const Slot &slot) const {
    return slot.block && blocks[slot.block - 1].life != slot.life ? nullptr
                                                                  : slot.data;
  }
};

/// Takes a context with room for a function's frames.
Status takeContext(alula_executable *executable, const FunctionInfo &info,
                   Context **context);
/// Gives it back; frees blocks that the last calls did not need.
void returnContext(alula_executable *executable, Context *context);

/// New memory for a slot, and its return; a view is forgotten.
Status allocateBlock(alula_executable *executable, Context &context,
                     uint64_t bytes, Slot &slot);
void releaseBlock(Context &context, Slot &slot);

} // namespace alula::runtime

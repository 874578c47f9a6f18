// A device that interprets PTX: blocks, warps, shared memory that knows who
// touched it.

#pragma once

#include "runtime/device/cuda/emulator/program.h"
#include "runtime/device/cuda/emulator/shadow.h"

#include <cstdarg>
#include <map>

namespace alula::ptx {

enum class FaultKind {
  none,
  /// Memory that was not allocated, or an address that is not a multiple.
  illegalAddress,
  misaligned,
  /// Two threads touched the same shared bytes without a barrier in between.
  race,
  /// A barrier or an exchange that not all of its threads reach together.
  divergence,
  deadlock,
  timeout,
  trap,
  invalid
};

struct Fault {
  FaultKind kind = FaultKind::none;
  std::string text;
};

/// What a launch may touch of the device's memory.
struct MemoryMap {
  void *user = nullptr;
  /// The allocation that has this address; false if there is none.
  bool (*find)(void *user, uint64_t address, uint64_t *begin,
               uint64_t *end) = nullptr;
};

struct Launch {
  const Module *module = nullptr;
  const Kernel *kernel = nullptr;
  uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  uint32_t sharedBytes = 0;
  const uint8_t *parameters = nullptr;
  bool isCooperative = false;
  MemoryMap memory;
  /// Instructions of all warps together.
  uint64_t limit = uint64_t(1) << 40;
  uint32_t threads = 1;
};

/// Runs all blocks. An error ends the launch; what was written stays.
Fault runLaunch(const Launch &launch, uint64_t *instructions = nullptr);

struct Block;
struct Warp;

/// An asynchronous copy on its way.
struct PendingCopy {
  uint32_t lane, to, bytes, group;
  /// Of the warp: those that are issued later have higher ones.
  uint64_t serial;
  uint8_t data[16];
};

/// A part of a copy by the asynchronous proxy: bytes that lie side by side in
/// both memories. Without an address of global memory they are zeros.
struct BulkPiece {
  uint32_t shared, bytes;
  uint64_t global;
};

/// A barrier of mbarrier.init.
struct PhaseBarrier {
  /// What ends some time after it was asked for: an arrival when copies of a
  /// lane have ended, or a copy that counts its bytes.
  struct Deferred {
    /// Of an arrival.
    Warp *warp = nullptr;
    uint32_t lane = 0;
    uint64_t serial = 0;
    std::vector<BulkPiece> pieces;
    uint32_t bytes = 0;
  };
  uint32_t count = 0, pending = 0, phase = 0;
  /// Bytes that are expected and have not come.
  int64_t bytes = 0;
  SharedShadow::Access made;
  /// What arrivals of this phase, and of the one before, have done.
  View arriving, arrived;
  std::vector<Deferred> deferred;

  uint32_t countDeferredArrivals() const {
    uint32_t arrivals = 0;
    for (const Deferred &each : deferred)
      arrivals += each.warp != nullptr;
    return arrivals;
  }
};

/// A product of a warp's part of a warpgroup, on its way.
struct PendingProduct {
  const Instruction *instruction;
  bool adds;
  uint32_t group;
  /// Where its operands are, in pieces of 16 bytes.
  std::vector<uint32_t> left, right;
};
/// Registers of such products: what is in them until these have been waited
/// for.
struct PendingSums {
  uint32_t list, size, products;
  std::vector<uint32_t> values;
};

/// A store to global memory by the asynchronous proxy, of a lane.
struct PendingStore {
  uint32_t lane, group;
  std::vector<BulkPiece> pieces;
};

struct Barrier {
  uint32_t arrivedThreads = 0, wantedThreads = 0;
  uint32_t waitingWarps = 0, arrivedWarps = 0;
  uint32_t predicates = 0;
  bool all = true, any = false;
  uint32_t count = 0;
};

struct Group {
  uint32_t pc, mask;
  /// It waits for lanes that are elsewhere, or for a phase of a barrier.
  bool isParked = false, isWaiting = false;
};

struct Warp {
  enum class State { running, waiting, yielding, done, failed };

  Block *block = nullptr;
  uint32_t number = 0;
  uint8_t *registers = nullptr;
  const uint8_t *constants = nullptr;
  uint8_t *local = nullptr;
  uint32_t localBytes = 0;
  State state = State::running;
  /// Lanes that have not ended; those that run; the others, by where they are.
  uint32_t live = 0, mask = 0, pc = 0, next = 0;
  std::vector<Group> others;
  uint32_t nextOther = UINT32_MAX;
  uint32_t carry = 0;
  std::vector<PendingCopy> copies;
  uint32_t copyGroup[32] = {};
  uint64_t copySerial = 0;
  std::vector<PendingStore> stores;
  uint32_t storeGroup[32] = {};
  std::vector<PendingProduct> products;
  std::vector<PendingSums> sums;
  uint32_t productGroup = 0;
  /// How many products it has begun; whether its registers are ordered before.
  uint64_t productCount = 0;
  bool isFenced = false;
  /// It waits for a phase of some barrier; where it last asked for one in vain.
  bool waitsForPhase = false;
  uint32_t askedAt = UINT32_MAX;
  /// What bar.red leaves when all have met.
  const Instruction *reduction = nullptr;
  uint32_t reductionMask = 0;
  uint32_t predicateVotes = 0;
  uint64_t rangeBegin = 1, rangeEnd = 0;
  uint64_t instructions = 0;

  template <class T> T *get(const Operand &operand) const {
    return reinterpret_cast<T *>(
        (operand.isConstant ? const_cast<uint8_t *>(constants) : registers) +
        operand.offset);
  }
  uint32_t &predicate(const Operand &operand) const {
    return *get<uint32_t>(operand);
  }

  void run(uint64_t quantum);
  /// The lanes of `taken` go on at `target`, the other active ones behind.
  void branch(uint32_t taken, uint32_t target);
  void exit(uint32_t lanes);
  void addGroup(uint32_t where, uint32_t lanes);
  void choose();
  /// These lanes wait where they are until more have come; false if there are
  /// none that still could.
  bool park(uint32_t lanes);
  /// These lanes wait for a phase and try again when some barrier has changed;
  /// others go on meanwhile.
  void waitForPhase(uint32_t lanes);

  /// The host's address of so many bytes, or NULL and a fault.
  uint8_t *locate(Space space, uint64_t address, uint32_t bytes, uint32_t lane,
                  bool isWrite);
  /// The same for an atomic on shared memory, which races with others' accesses
  /// but not with others' atomics; and for a copy that begins.
  uint8_t *locateAtomic(Space space, uint64_t address, uint32_t bytes,
                        uint32_t lane);
  uint8_t *locateCopy(uint64_t address, uint32_t bytes, uint32_t lane);
  /// Where in the block's shared memory; false and a fault if it is outside.
  bool findShared(uint64_t address, uint32_t bytes, uint32_t lane,
                  uint32_t &offset);
  bool findGlobal(uint64_t address, uint32_t bytes);
  void finishCopies(uint32_t lanes, uint32_t keptGroups);
  /// Those of a lane that are older than `serial`, for who sees the barrier.
  void finishCopiesBefore(uint32_t lane, uint64_t serial);
  __attribute__((format(printf, 4, 5))) void fail(FaultKind kind, uint32_t lane,
                                                  const char *format, ...);
};

struct Block {
  const Launch *launch = nullptr;
  uint32_t index[3] = {};
  std::vector<Warp> warps;
  std::vector<uint8_t> registers, local;
  std::vector<uint8_t> shared;
  SharedShadow shadow;
  Barrier barriers[16];
  std::map<uint32_t, PhaseBarrier> phaseBarriers;
  /// What the first warp of each warpgroup has multiplied that others have not
  /// yet: all four do the same.
  struct GroupProduct {
    const Instruction *instruction;
    uint64_t left, right;
    bool adds;
  };
  std::vector<std::vector<GroupProduct>> groupProducts;
  Fault fault;

  void start(const Launch &launch, uint64_t number);
  /// False if all warps have ended, or one has failed.
  bool run(uint64_t quantum, bool &hasMoved);
  void arrive(Warp &warp, uint32_t barrier, uint32_t threads, bool waits);
  void release(uint32_t barrier);
  void checkBarriers();
  /// Whoever waits for a phase looks again.
  void wakeWaiting();
  /// What only was deferred ends, as far as the phase needs it.
  void endDeferred(PhaseBarrier &barrier);
  bool endPhase(PhaseBarrier &barrier);
  uint32_t countLiveThreads() const;
};

template <class Function>
inline void forLanes(uint32_t mask, Function function) {
  if (mask == UINT32_MAX) {
    for (uint32_t lane = 0; lane < 32; ++lane)
      function(lane);
    return;
  }
  for (; mask; mask &= mask - 1)
    function(uint32_t(__builtin_ctz(mask)));
}

} // namespace alula::ptx

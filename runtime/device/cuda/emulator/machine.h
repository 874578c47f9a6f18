// A device that interprets PTX: blocks, warps, shared memory that knows who
// touched it.

#pragma once

#include "runtime/device/cuda/emulator/program.h"

#include <cstdarg>
#include <deque>

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

/// Who touched which bytes of a block's shared memory, and which accesses of
/// others a warp comes after: clocks count barriers.
class SharedShadow {
public:
  void start(uint32_t bytes, uint32_t warps);
  /// NULL, or why these bytes may not be touched.
  const char *read(uint32_t offset, uint32_t bytes, uint32_t warp,
                   uint32_t lane);
  const char *write(uint32_t offset, uint32_t bytes, uint32_t warp,
                    uint32_t lane);
  /// Atomics of one word are ordered among themselves.
  const char *change(uint32_t offset, uint32_t bytes, uint32_t warp,
                     uint32_t lane);
  /// An asynchronous copy begins, and has been waited for.
  const char *beginCopy(uint32_t offset, uint32_t bytes, uint32_t warp,
                        uint32_t lane);
  void endCopy(uint32_t offset, uint32_t bytes, uint32_t warp, uint32_t lane);
  /// All warps of `mask` have met.
  void meet(uint32_t mask);
  /// The lanes of one warp have met.
  void meetLanes(uint32_t warp) { ++clock(warp, warp); }

private:
  /// Of a word: which of its bytes, when, and by whom; lane 255: several.
  struct Access {
    uint32_t clock = 0;
    uint8_t warp = 0, lane = 0, bytes = 0;
    bool isAtomic = false;
  };
  uint32_t &clock(uint32_t warp, uint32_t other) {
    return clocks[warp * 32 + other];
  }
  bool isBefore(const Access &access, uint32_t warp, uint32_t lane) const {
    uint32_t seen = clocks[warp * 32 + access.warp];
    return access.warp == warp ? access.lane == lane || access.clock < seen
                               : access.clock <= seen;
  }
  const char *check(uint32_t word, uint32_t bytes, uint32_t warp, uint32_t lane,
                    bool isWrite, bool isAtomic = false);

  uint32_t warpCount = 0;
  std::vector<uint32_t> clocks;
  std::vector<Access> writes;
  /// The last read of each warp.
  std::vector<Access> reads;
  /// Copies on their way.
  std::vector<uint16_t> copies;
  uint32_t newest = 1;
};

struct Block;

/// An asynchronous copy on its way.
struct PendingCopy {
  uint32_t lane, to, bytes, group;
  uint8_t data[16];
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
  /// It waits for lanes that are elsewhere.
  bool isParked = false;
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
  Fault fault;

  void start(const Launch &launch, uint64_t number);
  /// False if all warps have ended, or one has failed.
  bool run(uint64_t quantum, bool &hasMoved);
  void arrive(Warp &warp, uint32_t barrier, uint32_t threads, bool waits);
  void release(uint32_t barrier);
  void checkBarriers();
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

#include "runtime/device/cuda/emulator/machine.h"

#include "runtime/device/cuda/emulator/decode.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <thread>

namespace alula::ptx {

// ---- Warps ----

void Warp::fail(FaultKind kind, uint32_t lane, const char *format, ...) {
  state = State::failed;
  Fault &fault = block->fault;
  if (fault.kind != FaultKind::none)
    return;
  char what[300];
  va_list list;
  va_start(list, format);
  vsnprintf(what, sizeof what, format, list);
  va_end(list);
  const Launch &launch = *block->launch;
  const uint32_t *size = launch.block;
  uint32_t thread = number * 32 + lane;
  char where[300];
  snprintf(
      where, sizeof where,
      "kernel '%.100s', line %u, block (%u, %u, %u), thread (%u, %u, %u): ",
      launch.kernel->name.c_str(), launch.module->code[pc].line,
      block->index[0], block->index[1], block->index[2], thread % size[0],
      thread / size[0] % size[1], thread / size[0] / size[1]);
  fault = {kind, std::string(where) + what};
}

void Warp::addGroup(uint32_t where, uint32_t lanes) {
  if (!lanes)
    return;
  for (Group &group : others)
    if (group.pc == where) {
      group.mask |= lanes;
      group.isParked = group.isWaiting = false;
      return;
    }
  others.push_back({where, lanes});
}

/// Those furthest behind run, until they meet others: so whoever parted comes
/// together again where the ways do.
void Warp::choose() {
  mask = 0;
  nextOther = UINT32_MAX;
  if (others.empty())
    return;
  auto isBefore = [](const Group &a, const Group &b) {
    if (a.isParked != b.isParked)
      return b.isParked;
    return a.isWaiting != b.isWaiting ? a.isWaiting : a.pc < b.pc;
  };
  auto best = std::min_element(others.begin(), others.end(), isBefore);
  next = best->pc;
  mask = best->mask;
  *best = others.back();
  others.pop_back();
  for (const Group &group : others)
    nextOther = std::min(nextOther, group.pc);
}

bool Warp::park(uint32_t lanes) {
  bool canMove = mask != lanes;
  for (const Group &group : others)
    canMove |= !group.isParked || group.isWaiting;
  if (!canMove)
    return false;
  addGroup(pc + 1, mask & ~lanes);
  others.push_back({pc, lanes, true});
  choose();
  return true;
}

void Warp::waitForPhase(uint32_t lanes) {
  bool canMove = mask != lanes;
  for (const Group &group : others)
    canMove |= !group.isParked;
  if (canMove) {
    addGroup(pc + 1, mask & ~lanes);
    others.push_back({pc, lanes, true, true});
    choose();
    return;
  }
  next = pc;
  waitsForPhase = true;
  state = State::waiting;
}

void Warp::branch(uint32_t taken, uint32_t target) {
  if (taken == mask) {
    next = target;
    return;
  }
  addGroup(target, taken);
  addGroup(pc + 1, mask & ~taken);
  choose();
}

void Warp::exit(uint32_t lanes) {
  for (const PendingStore &store : stores)
    if (lanes >> store.lane & 1)
      return fail(FaultKind::race, store.lane,
                  "it ends before what it copies from shared memory has been "
                  "waited for");
  live &= ~lanes;
  uint32_t rest = mask & ~lanes;
  if (rest) {
    mask = rest;
    return;
  }
  choose();
  if (!live)
    state = State::done;
}

void Warp::run(uint64_t quantum) {
  const Instruction *code = block->launch->module->code.data();
  uint64_t end = instructions + quantum;
  if (state == State::yielding)
    state = State::running;
  while (state == State::running) {
    const Instruction &instruction = code[pc];
    uint32_t lanes = mask;
    if (instruction.hasPredicate) {
      uint32_t holds =
          *reinterpret_cast<uint32_t *>(registers + instruction.predicate);
      lanes &= instruction.isNegated ? ~holds : holds;
    }
    next = pc + 1;
    if (lanes)
      instruction.run(*this, instruction, lanes);
    if (state == State::failed)
      break;
    if (next >= nextOther) {
      addGroup(next, mask);
      choose();
    }
    pc = next;
    if (++instructions >= end && state == State::running)
      state = State::yielding;
  }
}

bool Warp::findGlobal(uint64_t address, uint32_t bytes) {
  const Launch &launch = *block->launch;
  uint64_t begin = launch.module->getGlobalAddress(0);
  uint64_t end = begin + launch.module->globalBytes;
  if (address < begin || address >= end)
    if (!launch.memory.find ||
        !launch.memory.find(launch.memory.user, address, &begin, &end))
      return false;
  rangeBegin = begin;
  rangeEnd = end;
  return address + bytes <= end;
}

bool Warp::findShared(uint64_t address, uint32_t bytes, uint32_t lane,
                      uint32_t &offset) {
  uint64_t fixed = block->launch->module->sharedBytes;
  uint64_t at = address - sharedStart, limit = fixed;
  if (address >= block->launch->module->dynamicStart) {
    fixed = block->launch->module->dynamicStart - sharedStart;
    limit = fixed + block->launch->sharedBytes;
  }
  offset = uint32_t(at);
  if (at <= limit && bytes <= limit - at)
    return true;
  fail(FaultKind::illegalAddress, lane,
       "%u bytes at %#llx of shared memory, of which there are %u and %u of "
       "dynamic",
       bytes, (unsigned long long)address, block->launch->module->sharedBytes,
       block->launch->sharedBytes);
  return false;
}

uint8_t *Warp::locateAtomic(Space space, uint64_t address, uint32_t bytes,
                            uint32_t lane) {
  if (space == Space::generic)
    address -= sharedWindow;
  uint32_t offset;
  if (address & (bytes - 1)) {
    fail(FaultKind::misaligned, lane, "an atomic of %u bytes at %#llx", bytes,
         (unsigned long long)address);
    return nullptr;
  }
  if (!findShared(address, bytes, lane, offset))
    return nullptr;
  if (const char *why = block->shadow.change(offset, bytes, number, lane)) {
    fail(FaultKind::race, lane, "atomic on shared memory at %#llx: %s",
         (unsigned long long)address, why);
    return nullptr;
  }
  return block->shared.data() + offset;
}

uint8_t *Warp::locateCopy(uint64_t address, uint32_t bytes, uint32_t lane) {
  uint32_t offset;
  if (address & (bytes - 1)) {
    fail(FaultKind::misaligned, lane,
         "copies %u bytes to %#llx of shared memory", bytes,
         (unsigned long long)address);
    return nullptr;
  }
  if (!findShared(address, bytes, lane, offset))
    return nullptr;
  if (const char *why = block->shadow.beginCopy(offset, bytes, number, lane)) {
    fail(FaultKind::race, lane, "copies to shared memory at %#llx: %s",
         (unsigned long long)address, why);
    return nullptr;
  }
  return block->shared.data() + offset;
}

uint8_t *Warp::locate(Space space, uint64_t address, uint32_t bytes,
                      uint32_t lane, bool isWrite) {
  if (address & (bytes - 1)) {
    fail(FaultKind::misaligned, lane,
         "%s %u bytes at %#llx, which is no multiple of them",
         isWrite ? "writes" : "reads", bytes, (unsigned long long)address);
    return nullptr;
  }
  if (space == Space::generic) {
    if (address - sharedWindow < windowBytes) {
      space = Space::shared;
      address -= sharedWindow;
    } else if (address - localWindow < windowBytes) {
      space = Space::local;
      address -= localWindow;
    } else if (address - paramWindow < windowBytes) {
      space = Space::param;
      address -= paramWindow;
    } else {
      space = Space::global;
    }
  }
  switch (space) {
  case Space::generic:
  case Space::global:
    if (address >= rangeBegin && address + bytes <= rangeEnd)
      return reinterpret_cast<uint8_t *>(address);
    if (findGlobal(address, bytes))
      return reinterpret_cast<uint8_t *>(address);
    fail(FaultKind::illegalAddress, lane,
         "%s %u bytes at %#llx, where no memory is",
         isWrite ? "writes" : "reads", bytes, (unsigned long long)address);
    return nullptr;
  case Space::shared: {
    uint32_t offset;
    if (!findShared(address, bytes, lane, offset))
      return nullptr;
    const char *why = isWrite ? block->shadow.write(offset, bytes, number, lane)
                              : block->shadow.read(offset, bytes, number, lane);
    if (why) {
      fail(FaultKind::race, lane, "shared memory at %#llx: %s",
           (unsigned long long)address, why);
      return nullptr;
    }
    return block->shared.data() + offset;
  }
  case Space::local:
    if (address > localBytes || bytes > localBytes - address) {
      fail(FaultKind::illegalAddress, lane, "address %#llx of %u local bytes",
           (unsigned long long)address, localBytes);
      return nullptr;
    }
    return local + size_t(lane) * localBytes + address;
  case Space::param: {
    uint32_t size = block->launch->kernel->parameterBytes;
    if (address > size || bytes > size - address) {
      fail(FaultKind::illegalAddress, lane,
           "address %#llx of %u bytes of "
           "parameters",
           (unsigned long long)address, size);
      return nullptr;
    }
    return const_cast<uint8_t *>(block->launch->parameters) + address;
  }
  }
  return nullptr;
}

void Warp::finishCopies(uint32_t lanes, uint32_t keptGroups) {
  size_t kept = 0;
  for (PendingCopy &copy : copies) {
    bool isMine = lanes >> copy.lane & 1;
    if (!isMine || copy.group + keptGroups >= copyGroup[copy.lane]) {
      copies[kept++] = copy;
      continue;
    }
    memcpy(block->shared.data() + copy.to, copy.data, copy.bytes);
    block->shadow.endCopy(copy.to, copy.bytes, number, copy.lane);
  }
  copies.resize(kept);
}

void Warp::finishCopiesBefore(uint32_t lane, uint64_t serial) {
  size_t kept = 0;
  for (PendingCopy &copy : copies) {
    if (copy.lane != lane || copy.serial >= serial) {
      copies[kept++] = copy;
      continue;
    }
    memcpy(block->shared.data() + copy.to, copy.data, copy.bytes);
    block->shadow.endCopy(copy.to, copy.bytes, copyAgent, 255);
  }
  copies.resize(kept);
}

// ---- Control flow ----

void runBranch(Warp &warp, const Instruction &instruction, uint32_t mask) {
  warp.branch(mask, instruction.target);
}

void runIndexedBranch(Warp &warp, const Instruction &instruction,
                      uint32_t mask) {
  const uint32_t *index = warp.get<uint32_t>(instruction.operands[0]);
  const std::vector<uint32_t> &table =
      warp.block->launch->module->tables[instruction.target];
  warp.addGroup(warp.pc + 1, warp.mask & ~mask);
  forLanes(mask, [&](uint32_t lane) {
    if (index[lane] >= table.size())
      warp.fail(FaultKind::invalid, lane, "index %u of a table of %zu labels",
                index[lane], table.size());
    else
      warp.addGroup(table[index[lane]], 1u << lane);
  });
  warp.choose();
}

void runExit(Warp &warp, const Instruction &, uint32_t mask) {
  warp.exit(mask);
}

void runCall(Warp &warp, const Instruction &instruction, uint32_t mask) {
  uint32_t *to = warp.get<uint32_t>(instruction.operands[0]);
  forLanes(mask, [&](uint32_t lane) { to[lane] = warp.pc + 1; });
  warp.branch(mask, instruction.target);
}

void runReturn(Warp &warp, const Instruction &instruction, uint32_t mask) {
  const uint32_t *to = warp.get<uint32_t>(instruction.operands[0]);
  warp.addGroup(warp.pc + 1, warp.mask & ~mask);
  forLanes(mask, [&](uint32_t lane) { warp.addGroup(to[lane], 1u << lane); });
  warp.choose();
}

void runTrap(Warp &warp, const Instruction &, uint32_t mask) {
  warp.fail(FaultKind::trap, uint32_t(__builtin_ctz(mask)), "trap");
}

void runNothing(Warp &, const Instruction &, uint32_t) {}

void runCopyParameter(Warp &warp, const Instruction &instruction,
                      uint32_t mask) {
  forLanes(mask, [&](uint32_t lane) {
    uint8_t *local = warp.local + size_t(lane) * warp.localBytes;
    memcpy(local + instruction.target, local + instruction.mode,
           instruction.number);
  });
}

// ---- Blocks ----

void Block::start(const Launch &wanted, uint64_t place) {
  launch = &wanted;
  const Module &module = *wanted.module;
  index[0] = uint32_t(place % wanted.grid[0]);
  index[1] = uint32_t(place / wanted.grid[0] % wanted.grid[1]);
  index[2] = uint32_t(place / wanted.grid[0] / wanted.grid[1]);
  uint32_t threads = wanted.block[0] * wanted.block[1] * wanted.block[2];
  uint32_t count = (threads + 31) / 32;
  uint64_t registerBytes = (module.registerBytes + 63) / 64 * 64;
  registers.resize(count * registerBytes);
  uint32_t localBytes = (module.localBytes + 15) / 16 * 16;
  local.resize(size_t(count) * 32 * localBytes);
  uint32_t sharedBytes = module.dynamicStart - sharedStart + wanted.sharedBytes;
  // What nobody has written is no number that anybody expects.
  shared.assign(sharedBytes + 16, 0xD5);
  shadow.start(sharedBytes, count);
  fault = {};
  for (Barrier &barrier : barriers)
    barrier = {};
  phaseBarriers.clear();
  groupProducts.assign((count + 3) / 4, {});
  warps.resize(count);
  for (uint32_t i = 0; i < count; ++i) {
    Warp &warp = warps[i];
    warp.block = this;
    warp.number = i;
    warp.registers = registers.data() + i * registerBytes;
    warp.constants = module.constants.data();
    warp.local = local.data() + size_t(i) * 32 * localBytes;
    warp.localBytes = localBytes;
    warp.state = Warp::State::running;
    uint32_t mine = std::min(threads - i * 32, 32u);
    warp.live = warp.mask = mine == 32 ? UINT32_MAX : (1u << mine) - 1;
    warp.pc = wanted.kernel->begin;
    warp.others.clear();
    warp.nextOther = UINT32_MAX;
    warp.carry = 0;
    warp.copies.clear();
    memset(warp.copyGroup, 0, sizeof warp.copyGroup);
    warp.copySerial = 0;
    warp.stores.clear();
    memset(warp.storeGroup, 0, sizeof warp.storeGroup);
    warp.products.clear();
    warp.sums.clear();
    warp.productGroup = 0;
    warp.productCount = 0;
    warp.isFenced = warp.waitsForPhase = false;
    warp.askedAt = UINT32_MAX;
    warp.reduction = nullptr;
    warp.rangeBegin = 1;
    warp.rangeEnd = 0;
    warp.instructions = 0;
    auto *special = reinterpret_cast<uint32_t(*)[32]>(warp.registers);
    for (uint32_t lane = 0; lane < 32; ++lane) {
      uint32_t thread = i * 32 + lane;
      special[tidX][lane] = thread % wanted.block[0];
      special[tidY][lane] = thread / wanted.block[0] % wanted.block[1];
      special[tidZ][lane] = thread / wanted.block[0] / wanted.block[1];
      for (uint32_t axis = 0; axis < 3; ++axis) {
        special[ntidX + axis][lane] = wanted.block[axis];
        special[ctaidX + axis][lane] = index[axis];
        special[nctaidX + axis][lane] = wanted.grid[axis];
      }
      special[laneId][lane] = lane;
      special[warpId][lane] = i;
      special[nwarpId][lane] = count;
      special[smId][lane] = 0;
      special[nsmId][lane] = 1;
      special[gridId][lane] = 0;
      uint32_t bit = 1u << lane;
      special[laneMaskEq][lane] = bit;
      special[laneMaskLt][lane] = bit - 1;
      special[laneMaskLe][lane] = bit | (bit - 1);
      special[laneMaskGt][lane] = ~(bit | (bit - 1));
      special[laneMaskGe][lane] = ~(bit - 1);
      special[dynamicSharedBytes][lane] = wanted.sharedBytes;
      special[totalSharedBytes][lane] = sharedBytes;
      special[zero][lane] = 0;
      special[clusterCtaRank][lane] = 0;
      special[clusterRanks][lane] = 1;
    }
  }
}

uint32_t Block::countLiveThreads() const {
  uint32_t count = 0;
  for (const Warp &warp : warps)
    count += warp.live ? 32 : 0;
  return count;
}

void Block::arrive(Warp &warp, uint32_t number, uint32_t threads, bool waits) {
  Barrier &barrier = barriers[number];
  barrier.wantedThreads = threads;
  barrier.arrivedThreads += 32;
  barrier.arrivedWarps |= 1u << warp.number;
  if (waits) {
    barrier.waitingWarps |= 1u << warp.number;
    warp.state = Warp::State::waiting;
  }
  checkBarriers();
}

void Block::checkBarriers() {
  uint32_t live = 0;
  for (uint32_t i = 0; i < 16; ++i) {
    Barrier &barrier = barriers[i];
    if (!barrier.arrivedWarps)
      continue;
    if (!live)
      live = countLiveThreads();
    uint32_t wanted = barrier.wantedThreads ? barrier.wantedThreads : live;
    if (barrier.arrivedThreads >= wanted)
      release(i);
  }
}

void Block::release(uint32_t number) {
  Barrier barrier = barriers[number];
  barriers[number] = {};
  shadow.meet(barrier.arrivedWarps);
  forLanes(barrier.waitingWarps, [&](uint32_t waiting) {
    Warp &warp = warps[waiting];
    if (warp.state == Warp::State::waiting)
      warp.state = Warp::State::running;
    if (!warp.reduction)
      return;
    const Instruction &instruction = *warp.reduction;
    warp.reduction = nullptr;
    if (instruction.mode == 3) {
      uint32_t *to = warp.get<uint32_t>(instruction.operands[0]);
      forLanes(warp.reductionMask,
               [&](uint32_t lane) { to[lane] = barrier.count; });
    } else {
      bool holds = instruction.mode == 1 ? barrier.all : barrier.any;
      uint32_t &to = warp.predicate(instruction.operands[0]);
      to = (to & ~warp.reductionMask) | (holds ? warp.reductionMask : 0);
    }
  });
}

bool Block::run(uint64_t quantum, bool &hasMoved) {
  bool isDone = true;
  for (Warp &warp : warps) {
    if (warp.state == Warp::State::running ||
        warp.state == Warp::State::yielding) {
      hasMoved = true;
      warp.run(quantum);
      if (warp.state == Warp::State::failed)
        return false;
      if (warp.state == Warp::State::done)
        checkBarriers();
    }
    isDone &= warp.state == Warp::State::done;
  }
  return !isDone;
}

// ---- Launches ----

static std::string describeWaiting(const Block &block) {
  std::string text;
  for (const Warp &warp : block.warps)
    if (warp.state == Warp::State::waiting && text.size() < 150)
      text +=
          (text.empty() ? "warp " : ", warp ") + std::to_string(warp.number) +
          " at line " +
          std::to_string(block.launch->module
                             ->code[warp.waitsForPhase ? warp.pc : warp.pc - 1]
                             .line);
  return text;
}

namespace {
struct Progress {
  std::atomic<uint64_t> next{0}, instructions{0};
  std::atomic<bool> isStopped{false};
  std::mutex mutex;
  Fault fault;

  void stop(const Fault &why) {
    std::lock_guard lock(mutex);
    if (fault.kind == FaultKind::none)
      fault = why;
    isStopped = true;
  }
};

/// Runs blocks, all of them at once, until they have ended.
void runBlocks(const Launch &launch, std::vector<Block> &blocks,
               Progress &progress) {
  std::vector<uint64_t> counted(blocks.size());
  for (bool isRunning = true; isRunning && !progress.isStopped;) {
    isRunning = false;
    bool hasMoved = false;
    for (size_t i = 0; i < blocks.size(); ++i) {
      Block &block = blocks[i];
      bool goesOn = block.run(uint64_t(1) << 16, hasMoved);
      if (block.fault.kind != FaultKind::none)
        return progress.stop(block.fault);
      isRunning |= goesOn;
      uint64_t sum = 0;
      for (const Warp &warp : block.warps)
        sum += warp.instructions;
      progress.instructions += sum - counted[i];
      counted[i] = sum;
    }
    if (isRunning && !hasMoved) {
      std::string waiting;
      for (const Block &block : blocks)
        if (waiting.empty())
          waiting = describeWaiting(block);
      return progress.stop({FaultKind::deadlock,
                            "kernel '" + launch.kernel->name +
                                "': a barrier that not all reach: " + waiting});
    }
    if (progress.instructions > launch.limit)
      return progress.stop(
          {FaultKind::timeout,
           "kernel '" + launch.kernel->name + "': runs for too long"});
  }
}
} // namespace

Fault runLaunch(const Launch &launch, uint64_t *instructions) {
  Progress progress;
  uint64_t count = uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2];
  uint64_t threads =
      uint64_t(launch.block[0]) * launch.block[1] * launch.block[2];
  if (threads == 0 || threads > 1024)
    return {FaultKind::invalid,
            "blocks of " + std::to_string(threads) + " threads"};
  if (launch.isCooperative) {
    std::vector<Block> blocks(count);
    for (uint64_t i = 0; i < count; ++i)
      blocks[i].start(launch, i);
    runBlocks(launch, blocks, progress);
  } else {
    auto work = [&] {
      std::vector<Block> block(1);
      uint64_t place;
      while (!progress.isStopped && (place = progress.next++) < count) {
        block[0].start(launch, place);
        runBlocks(launch, block, progress);
      }
    };
    std::vector<std::thread> others;
    for (uint32_t i = 1; i < launch.threads && i < count; ++i)
      others.emplace_back(work);
    work();
    for (std::thread &thread : others)
      thread.join();
  }
  if (instructions)
    *instructions = progress.instructions;
  return progress.fault;
}

} // namespace alula::ptx

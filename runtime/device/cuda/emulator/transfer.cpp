// Barriers with phases, copies by the asynchronous proxy, its fences.
//
// What ends some time later ends as late as it may: when somebody waits for a
// phase, and nothing else is missing. Clusters are not known.

#include "runtime/device/cuda/emulator/decode.h"
#include "runtime/device/cuda/emulator/machine.h"
#include "runtime/device/cuda/emulator/tensor_map.h"

#include <cstring>

namespace alula::ptx {

void Block::wakeWaiting() {
  for (Warp &warp : warps)
    if (warp.waitsForPhase) {
      warp.waitsForPhase = false;
      warp.state = Warp::State::running;
    }
}

bool Block::endPhase(PhaseBarrier &barrier) {
  if (barrier.pending || barrier.bytes)
    return false;
  barrier.arrived = barrier.arriving;
  barrier.arriving = {};
  barrier.pending = barrier.count;
  ++barrier.phase;
  wakeWaiting();
  return true;
}

void Block::endDeferred(PhaseBarrier &barrier) {
  if (barrier.pending != barrier.countDeferredArrivals())
    return;
  while (!barrier.deferred.empty()) {
    PhaseBarrier::Deferred next = std::move(barrier.deferred.front());
    barrier.deferred.erase(barrier.deferred.begin());
    if (next.warp) {
      next.warp->finishCopiesBefore(next.lane, next.serial);
      shadow.tickAgent(copyAgent, barrier.arriving);
      --barrier.pending;
    }
    for (const BulkPiece &piece : next.pieces) {
      uint8_t *to = shared.data() + piece.shared;
      if (piece.global)
        memcpy(to, reinterpret_cast<const void *>(piece.global), piece.bytes);
      else
        memset(to, 0, piece.bytes);
      shadow.endCopy(piece.shared, piece.bytes, bulkAgent, 255);
    }
    if (!next.pieces.empty())
      shadow.tickAgent(bulkAgent, barrier.arriving);
    barrier.bytes -= next.bytes;
    if (endPhase(barrier))
      return;
  }
}

namespace {

uint64_t getAddress(const Warp &warp, const Operand &base, uint32_t lane,
                    int64_t offset) {
  return (base.bytes == 4 ? warp.get<uint32_t>(base)[lane]
                          : warp.get<uint64_t>(base)[lane]) +
         uint64_t(offset);
}

/// In its space, or generic.
bool findShared(Warp &warp, uint64_t address, uint32_t bytes,
                uint32_t alignment, uint32_t lane, const char *what,
                uint32_t &offset) {
  if (address - sharedWindow < windowBytes)
    address -= sharedWindow;
  if (address % alignment) {
    warp.fail(FaultKind::misaligned, lane,
              "%s at %#llx of shared memory, which is no multiple of %u", what,
              (unsigned long long)address, alignment);
    return false;
  }
  return warp.findShared(address, bytes, lane, offset);
}

PhaseBarrier *findBarrier(Warp &warp, uint64_t address, uint32_t lane,
                          bool isBulk = false) {
  uint32_t offset;
  if (!findShared(warp, address, 8, 8, lane, "a barrier", offset))
    return nullptr;
  auto found = warp.block->phaseBarriers.find(offset);
  if (found == warp.block->phaseBarriers.end()) {
    warp.fail(FaultKind::invalid, lane,
              "there is no barrier of mbarrier.init at %#llx",
              (unsigned long long)address);
    return nullptr;
  }
  PhaseBarrier &barrier = found->second;
  const char *why = nullptr;
  if (!warp.block->shadow.comesAfter(barrier.made, warp.number, lane))
    why = "without a barrier in between";
  else if (isBulk && !warp.block->shadow.isFenced(barrier.made, warp.number))
    why = "which is not fenced for the asynchronous proxy";
  if (why) {
    warp.fail(FaultKind::race, lane,
              "the barrier at %#llx is used after its mbarrier.init, %s",
              (unsigned long long)address, why);
    return nullptr;
  }
  return &barrier;
}

/// operands: -, barrier, count. mode: offset of the barrier.
void initBarrier(Warp &warp, const Instruction &i, uint32_t mask) {
  forLanes(mask, [&](uint32_t lane) {
    uint64_t address = getAddress(warp, i.operands[1], lane, int32_t(i.mode));
    uint32_t offset, count = warp.get<uint32_t>(i.operands[2])[lane];
    if (!findShared(warp, address, 8, 8, lane, "a barrier", offset))
      return;
    if (count < 1 || count >= 1 << 20)
      return warp.fail(FaultKind::invalid, lane, "a barrier of %u arrivals",
                       count);
    PhaseBarrier barrier;
    barrier.count = barrier.pending = count;
    if (const char *why = warp.block->shadow.setBarrier(
            offset, true, warp.number, lane, barrier.made))
      return warp.fail(FaultKind::race, lane, "mbarrier.init at %#llx: %s",
                       (unsigned long long)address, why);
    memset(warp.block->shared.data() + offset, 0, 8);
    warp.block->phaseBarriers[offset] = barrier;
  });
}

void endBarrier(Warp &warp, const Instruction &i, uint32_t mask) {
  forLanes(mask, [&](uint32_t lane) {
    uint64_t address = getAddress(warp, i.operands[1], lane, int32_t(i.mode));
    PhaseBarrier *barrier = findBarrier(warp, address, lane);
    if (!barrier)
      return;
    if (!barrier->deferred.empty())
      return warp.fail(FaultKind::race, lane,
                       "mbarrier.inval at %#llx: copies that it counts have "
                       "not been waited for",
                       (unsigned long long)address);
    uint32_t offset;
    SharedShadow::Access access;
    if (!findShared(warp, address, 8, 8, lane, "a barrier", offset))
      return;
    if (const char *why = warp.block->shadow.setBarrier(
            offset, false, warp.number, lane, access))
      return warp.fail(FaultKind::race, lane, "mbarrier.inval at %#llx: %s",
                       (unsigned long long)address, why);
    warp.block->phaseBarriers.erase(offset);
  });
}

bool expectBytes(Warp &warp, PhaseBarrier &barrier, uint32_t bytes,
                 uint32_t lane) {
  barrier.bytes += bytes;
  if (barrier.bytes < 1 << 20)
    return true;
  warp.fail(FaultKind::invalid, lane, "a barrier expects %lld bytes",
            (long long)barrier.bytes);
  return false;
}

/// operands: state, barrier, count or bytes. flags: 1 there is a state, 2
/// expects bytes, 4 arrives, 8 there is a number.
void arrive(Warp &warp, const Instruction &i, uint32_t mask) {
  Block &block = *warp.block;
  // Lanes with one barrier arrive together.
  for (uint32_t rest = mask; rest && warp.state != Warp::State::failed;) {
    uint32_t first = uint32_t(__builtin_ctz(rest)), same = 0;
    uint64_t address = getAddress(warp, i.operands[1], first, int32_t(i.mode));
    forLanes(rest, [&](uint32_t lane) {
      same |= uint32_t(getAddress(warp, i.operands[1], lane, int32_t(i.mode)) ==
                       address)
              << lane;
    });
    rest &= ~same;
    PhaseBarrier *barrier = findBarrier(warp, address, first);
    if (!barrier)
      return;
    if (i.flags & 4)
      block.shadow.release(warp.number, same, same == warp.live,
                           barrier->arriving);
    forLanes(same, [&](uint32_t lane) {
      uint32_t number =
          i.flags & 8 ? warp.get<uint32_t>(i.operands[2])[lane] : 1;
      if (i.flags & 1)
        warp.get<uint64_t>(i.operands[0])[lane] = barrier->phase;
      if (i.flags & 2 && !expectBytes(warp, *barrier, number, lane))
        return;
      if (!(i.flags & 4))
        return;
      uint32_t count = i.flags & 2 ? 1 : number;
      if (barrier->pending < barrier->countDeferredArrivals() + count)
        return warp.fail(
            FaultKind::invalid, lane,
            "more arrivals at the barrier at %#llx than it was made for: %u",
            (unsigned long long)address, barrier->count);
      barrier->pending -= count;
    });
    block.endPhase(*barrier);
    block.wakeWaiting();
  }
}

/// operands: holds, barrier, parity or state. flags: 1 a parity, 2 waits.
void testPhase(Warp &warp, const Instruction &i, uint32_t mask) {
  Block &block = *warp.block;
  uint32_t done = 0;
  PhaseBarrier *barriers[32] = {};
  forLanes(mask, [&](uint32_t lane) {
    uint64_t address = getAddress(warp, i.operands[1], lane, int32_t(i.mode));
    barriers[lane] = findBarrier(warp, address, lane);
  });
  if (warp.state == Warp::State::failed)
    return;
  // Whoever asks for the first time is told no if there is any doubt: a phase
  // may end, and a wait may give up, at any time.
  bool asksAgain = warp.askedAt == warp.pc;
  warp.askedAt = warp.pc;
  forLanes(mask, [&](uint32_t lane) {
    auto isOver = [&] {
      const PhaseBarrier &barrier = *barriers[lane];
      if (i.flags & 1)
        return (barrier.phase & 1) !=
               (warp.get<uint32_t>(i.operands[2])[lane] & 1);
      return barrier.phase != warp.get<uint64_t>(i.operands[2])[lane];
    };
    if (!isOver() && asksAgain)
      block.endDeferred(*barriers[lane]);
    done |= uint32_t(isOver()) << lane;
  });
  if (!done && asksAgain && i.flags & 2)
    return warp.waitForPhase(mask);
  if (done)
    warp.askedAt = UINT32_MAX;
  else
    warp.state = Warp::State::yielding;
  forLanes(done, [&](uint32_t lane) {
    block.shadow.acquire(warp.number, barriers[lane]->arrived);
  });
  uint32_t &to = warp.predicate(i.operands[0]);
  to = (to & ~mask) | done;
}

/// operands: -, barrier. flags 1: is not counted in addition.
void arriveAfterCopies(Warp &warp, const Instruction &i, uint32_t mask) {
  forLanes(mask, [&](uint32_t lane) {
    uint64_t address = getAddress(warp, i.operands[1], lane, int32_t(i.mode));
    PhaseBarrier *barrier = findBarrier(warp, address, lane);
    if (!barrier)
      return;
    if (!(i.flags & 1))
      ++barrier->pending;
    PhaseBarrier::Deferred arrival;
    arrival.warp = &warp;
    arrival.lane = lane;
    arrival.serial = warp.copySerial;
    if (barrier->countDeferredArrivals() >= barrier->pending)
      return warp.fail(
          FaultKind::invalid, lane,
          "more arrivals at the barrier at %#llx than it was made for: %u",
          (unsigned long long)address, barrier->count);
    barrier->deferred.push_back(arrival);
  });
  warp.block->wakeWaiting();
}

void fenceProxy(Warp &warp, const Instruction &, uint32_t) {
  warp.block->shadow.fenceProxy(warp.number);
}

// ---- Copies ----

/// Whether `bytes` of a kernel's global memory are there.
bool isThere(Warp &warp, uint64_t address, uint64_t bytes, uint32_t lane) {
  if ((address >= warp.rangeBegin && address + bytes <= warp.rangeEnd) ||
      warp.findGlobal(address, uint32_t(bytes)))
    return true;
  warp.fail(FaultKind::illegalAddress, lane,
            "copies %llu bytes at %#llx, where no memory is",
            (unsigned long long)bytes, (unsigned long long)address);
  return false;
}

/// What is copied begins: to shared memory for a barrier, or from it, as a
/// part of a lane's group.
void beginPieces(Warp &warp, std::vector<BulkPiece> &&pieces, uint32_t bytes,
                 bool isStore, PhaseBarrier *barrier, uint32_t lane) {
  SharedShadow &shadow = warp.block->shadow;
  for (const BulkPiece &piece : pieces) {
    if (piece.global && !isThere(warp, piece.global, piece.bytes, lane))
      return;
    const char *why =
        isStore ? shadow.beginBulkRead(piece.shared, piece.bytes, warp.number)
                : shadow.checkBulkCopy(piece.shared, piece.bytes, warp.number,
                                       lane);
    if (why)
      return warp.fail(FaultKind::race, lane, "copies %s shared memory: %s",
                       isStore ? "from" : "to", why);
  }
  // Pieces of one word are of one copy.
  if (!isStore)
    for (const BulkPiece &piece : pieces)
      shadow.beginBulkCopy(piece.shared, piece.bytes);
  if (isStore) {
    warp.stores.push_back({lane, warp.storeGroup[lane], std::move(pieces)});
    return;
  }
  PhaseBarrier::Deferred copy;
  copy.pieces = std::move(pieces);
  copy.bytes = bytes;
  barrier->deferred.push_back(std::move(copy));
  warp.block->wakeWaiting();
}

/// operands: shared address, barrier or -, global address, bytes. number, mode,
/// target: offsets. flags 1: a store.
void copyBulk(Warp &warp, const Instruction &i, uint32_t mask) {
  bool isStore = i.flags & 1;
  forLanes(mask, [&](uint32_t lane) {
    uint32_t bytes = warp.get<uint32_t>(i.operands[3])[lane], offset;
    uint64_t global = getAddress(warp, i.operands[2], lane, int32_t(i.target));
    if (global % 16 || bytes % 16)
      return warp.fail(FaultKind::misaligned, lane,
                       "copies %u bytes at %#llx: both must be multiples of 16",
                       bytes, (unsigned long long)global);
    if (!findShared(warp,
                    getAddress(warp, i.operands[0], lane, int64_t(i.number)),
                    bytes, 16, lane, "a copy", offset))
      return;
    PhaseBarrier *barrier = nullptr;
    if (!isStore &&
        !(barrier = findBarrier(
              warp, getAddress(warp, i.operands[1], lane, int32_t(i.mode)),
              lane, /*isBulk=*/true)))
      return;
    std::vector<BulkPiece> pieces;
    if (bytes)
      pieces.push_back({offset, bytes, global});
    beginPieces(warp, std::move(pieces), bytes, isStore, barrier, lane);
  });
}

/// operands: shared address, barrier or -, the map's address; list 0:
/// coordinates. As above.
void copyTensor(Warp &warp, const Instruction &i, uint32_t mask) {
  bool isStore = i.flags & 1;
  const Module &module = *warp.block->launch->module;
  forLanes(mask, [&](uint32_t lane) {
    uint64_t place = getAddress(warp, i.operands[2], lane, 0);
    if (place % 64)
      return warp.fail(FaultKind::misaligned, lane,
                       "a tensor map at %#llx, which is no multiple of 64",
                       (unsigned long long)place);
    TensorMap map;
    for (uint32_t part = 0; part < sizeof map; part += 16) {
      const uint8_t *from =
          warp.locate(Space::generic, place + part, 16, lane, false);
      if (!from)
        return;
      memcpy(reinterpret_cast<uint8_t *>(&map) + part, from, 16);
    }
    if (map.mark != TensorMap::expectedMark || map.rank != i.listSizes[0])
      return warp.fail(FaultKind::invalid, lane,
                       "no tensor map of %u dimensions is at %#llx",
                       i.listSizes[0], (unsigned long long)place);
    uint32_t bytes = map.elementBytes;
    for (uint32_t dim = 0; dim < map.rank; ++dim)
      bytes *= map.box[dim];
    uint64_t address = getAddress(warp, i.operands[0], lane, int64_t(i.number));
    if (address - sharedWindow < windowBytes)
      address -= sharedWindow;
    uint32_t offset;
    if (!findShared(warp, address, bytes, 128, lane, "a box", offset))
      return;
    PhaseBarrier *barrier = nullptr;
    if (!isStore &&
        !(barrier = findBarrier(
              warp, getAddress(warp, i.operands[1], lane, int32_t(i.mode)),
              lane, /*isBulk=*/true)))
      return;
    // Elements in their order in the box; neighbours inside of the tensor are
    // one piece, up to 16 bytes, which a swizzle moves as one.
    std::vector<BulkPiece> pieces;
    uint32_t count = bytes / map.elementBytes, at[TensorMap::maxRank] = {};
    for (uint32_t number = 0; number < count; ++number) {
      uint64_t global = map.address;
      bool isInside = true;
      for (uint32_t dim = 0; dim < map.rank; ++dim) {
        int64_t coordinate =
            int64_t(warp.get<int32_t>(module.lists[i.lists[0] + dim])[lane]) +
            at[dim];
        isInside &= coordinate >= 0 && uint64_t(coordinate) < map.sizes[dim];
        global += uint64_t(coordinate) * map.strides[dim];
      }
      uint32_t linear = number * map.elementBytes;
      uint32_t shared =
          offset + (swizzle(uint32_t(address) + linear, map.swizzleBytes) -
                    uint32_t(address));
      BulkPiece *last = pieces.empty() ? nullptr : &pieces.back();
      if (!isInside && isStore) {
      } else if (last && linear % 16 && bool(last->global) == isInside &&
                 last->shared + last->bytes == shared &&
                 (!isInside || last->global + last->bytes == global)) {
        last->bytes += map.elementBytes;
      } else {
        pieces.push_back(
            {shared, map.elementBytes, isInside ? global : uint64_t(0)});
      }
      for (uint32_t dim = 0; dim < map.rank && ++at[dim] == map.box[dim]; ++dim)
        at[dim] = 0;
    }
    if (map.fillsWithNan && !isStore)
      return warp.fail(FaultKind::invalid, lane,
                       "a tensor map that fills with NaN is not known");
    beginPieces(warp, std::move(pieces), bytes, isStore, barrier, lane);
  });
}

void commitStores(Warp &warp, const Instruction &, uint32_t mask) {
  forLanes(mask, [&](uint32_t lane) { ++warp.storeGroup[lane]; });
}

/// number: groups of each lane that may still be on their way.
void waitForStores(Warp &warp, const Instruction &i, uint32_t mask) {
  Block &block = *warp.block;
  size_t kept = 0;
  for (PendingStore &store : warp.stores) {
    if (!(mask >> store.lane & 1) ||
        store.group + i.number >= warp.storeGroup[store.lane]) {
      std::swap(warp.stores[kept++], store);
      continue;
    }
    for (const BulkPiece &piece : store.pieces) {
      memcpy(reinterpret_cast<void *>(piece.global),
             block.shared.data() + piece.shared, piece.bytes);
      block.shadow.endBulkRead(piece.shared, piece.bytes, warp.number,
                               store.lane);
    }
  }
  warp.stores.resize(kept);
}
} // namespace

void decodeTransfer(Decoding &decoding, const Statement &s, Instruction &i) {
  const Type u32 = {Type::uint, 32}, b64 = {Type::bits, 64},
             pred = {Type::pred, 1};
  std::string_view name = s.opcode[0];
  const std::vector<Written> &written = s.operands;
  /// An address whose offset is kept elsewhere.
  auto readAddress = [&](unsigned operand, size_t at) -> uint32_t {
    Instruction one;
    if (at >= written.size()) {
      decoding.fail("an operand is missing");
      return 0;
    }
    decoding.address(one, operand, written[at]);
    i.operands[operand] = one.operands[operand];
    return uint32_t(one.number);
  };
  if (name == "fence" && s.opcode.size() > 1) {
    bool isProxy = s.opcode[1] == "proxy" && s.has("async") && !s.has("global");
    if (isProxy || s.opcode[1] == "mbarrier_init")
      i.run = fenceProxy;
    return;
  }
  if (name == "mbarrier" && s.opcode.size() > 1) {
    std::string_view what = s.opcode[1];
    if (s.has("shared::cluster") || s.has("cluster"))
      return;
    if (what == "init" || what == "inval") {
      i.mode = readAddress(1, 0);
      if (what == "init") {
        if (written.size() != 2)
          return decoding.fail("mbarrier.init has 2 operands");
        i.operands[2] = decoding.operand(written[1], u32);
      }
      i.run = what == "init" ? initBarrier : endBarrier;
    } else if (what == "arrive" || what == "expect_tx") {
      bool arrives = what == "arrive";
      if (s.has("noComplete"))
        return;
      i.flags = (arrives ? 4 : 0) | (s.has("expect_tx") ? 2 : 0);
      size_t at = 0;
      if (arrives && !written.empty() && written[0].kind == Written::word) {
        if (written[0].text != "_") {
          i.operands[0] = decoding.operand(written[0], b64);
          i.flags |= 1;
        }
        ++at;
      }
      i.mode = readAddress(1, at++);
      if (at < written.size()) {
        i.operands[2] = decoding.operand(written[at], u32);
        i.flags |= 8;
      } else if (i.flags & 2) {
        return decoding.fail("expect_tx has a number of bytes");
      }
      i.run = arrive;
    } else if (what == "try_wait" || what == "test_wait") {
      if (written.size() < 3)
        return decoding.fail("a wait for a phase has 3 operands");
      bool isParity = s.has("parity");
      i.flags = (isParity ? 1 : 0) | (what == "try_wait" ? 2 : 0);
      i.operands[0] = decoding.operand(written[0], pred);
      i.mode = readAddress(1, 1);
      i.operands[2] = decoding.operand(written[2], isParity ? u32 : b64);
      i.run = testPhase;
    }
    return;
  }
  if (name != "cp" || s.opcode.size() < 3 || s.opcode[1] != "async")
    return;
  if (s.opcode[2] == "mbarrier") {
    i.flags = s.has("noinc");
    i.mode = readAddress(1, 0);
    i.run = arriveAfterCopies;
    return;
  }
  if (s.opcode[2] != "bulk" || s.has("prefetch") || s.has("reduce") ||
      s.has("im2col") || s.has("multicast::cluster"))
    return;
  if (s.has("commit_group")) {
    i.run = commitStores;
    return;
  }
  if (s.has("wait_group")) {
    if (written.size() != 1 ||
        !readNumber(written[0].text, {Type::uint, 32}, i.number))
      return decoding.fail("a wait is for a number of groups");
    i.run = waitForStores;
    return;
  }
  bool isStore = s.has("bulk_group");
  if (!isStore && !s.has("mbarrier::complete_tx::bytes"))
    return;
  i.flags = isStore;
  bool isTensor = s.has("tensor");
  // to, from, (bytes,) (barrier): the tensor has coordinates.
  size_t global = !isStore, barrier = isTensor ? 2 : 3;
  i.number = uint64_t(int64_t(int32_t(readAddress(0, isStore))));
  i.target = readAddress(2, global);
  if (!isStore)
    i.mode = readAddress(1, barrier);
  if (!isTensor) {
    if (written.size() < 3)
      return decoding.fail("a copy has a number of bytes");
    i.operands[3] = decoding.operand(written[2], u32);
    i.run = copyBulk;
    return;
  }
  if (global >= written.size() || i.target)
    return decoding.fail("a tensor map has an address without an offset");
  Written coordinates;
  coordinates.kind = Written::list;
  coordinates.words = written[global].words;
  if (coordinates.words.empty() ||
      coordinates.words.size() > TensorMap::maxRank)
    return decoding.fail("a tensor has 1 to 5 coordinates");
  decoding.list(i, 0, coordinates, {Type::sint, 32}, false);
  i.run = copyTensor;
}

} // namespace alula::ptx

// Loads, stores, atomics, asynchronous copies.

#include "runtime/device/cuda/emulator/decode.h"
#include "runtime/device/cuda/emulator/machine.h"
#include "runtime/device/cuda/emulator/small_floats.h"

#include <algorithm>
#include <cstring>

namespace alula::ptx {
namespace {

/// A base of 8 bytes, or one of 4 in a space of its own.
uint64_t getAddress(const Warp &warp, const Instruction &i, const Operand &base,
                    uint32_t lane) {
  if (base.bytes == 4)
    return warp.get<uint32_t>(base)[lane] + i.number;
  return warp.get<uint64_t>(base)[lane] + i.number;
}

/// flags 1: what is loaded has a sign.
void load(Warp &warp, const Instruction &i, uint32_t mask) {
  const Operand *list = &warp.block->launch->module->lists[i.lists[0]];
  uint32_t count = i.listSizes[0], bytes = i.bytes;
  uint32_t unused = 64 - 8 * bytes;
  forLanes(mask, [&](uint32_t lane) {
    const uint8_t *from =
        warp.locate(i.space, getAddress(warp, i, i.operands[0], lane),
                    bytes * count, lane, false);
    if (!from)
      return;
    for (uint32_t k = 0; k < count; ++k) {
      uint64_t bits = 0;
      memcpy(&bits, from + k * bytes, bytes);
      if (i.flags & 1)
        bits = uint64_t(int64_t(bits << unused) >> unused);
      memcpy(warp.get<uint8_t>(list[k]) + lane * list[k].bytes, &bits,
             list[k].bytes);
    }
  });
}
/// One element, as wide as its register.
template <class T>
void loadOne(Warp &warp, const Instruction &i, uint32_t mask) {
  T *to = warp.get<T>(warp.block->launch->module->lists[i.lists[0]]);
  forLanes(mask, [&](uint32_t lane) {
    if (const uint8_t *from =
            warp.locate(i.space, getAddress(warp, i, i.operands[0], lane),
                        sizeof(T), lane, false))
      memcpy(&to[lane], from, sizeof(T));
  });
}

/// Lanes that store to one place at once: somebody's value stays, nobody knows
/// whose. That is an error only if they differ.
bool isSameStore(Warp &warp, const Instruction &i, uint32_t mask, uint32_t lane,
                 uint64_t address, const Operand *list) {
  for (uint32_t other = 0; other < lane; ++other) {
    if (!(mask >> other & 1) ||
        getAddress(warp, i, i.operands[0], other) != address)
      continue;
    for (uint32_t k = 0; k < i.listSizes[0]; ++k) {
      const uint8_t *values = warp.get<uint8_t>(list[k]);
      if (memcmp(values + lane * list[k].bytes, values + other * list[k].bytes,
                 std::min<uint32_t>(i.bytes, list[k].bytes)) != 0) {
        warp.fail(FaultKind::race, lane,
                  "shared memory at %#llx: lane %u writes something else at "
                  "the same time",
                  (unsigned long long)address, other);
        return false;
      }
    }
    return true;
  }
  return true;
}

void store(Warp &warp, const Instruction &i, uint32_t mask) {
  const Operand *list = &warp.block->launch->module->lists[i.lists[0]];
  uint32_t count = i.listSizes[0], bytes = i.bytes;
  auto put = [&](uint32_t lane, uint8_t *to) {
    for (uint32_t k = 0; k < count; ++k) {
      uint64_t bits = 0;
      memcpy(&bits, warp.get<uint8_t>(list[k]) + lane * list[k].bytes,
             list[k].bytes);
      memcpy(to + k * bytes, &bits, bytes);
    }
  };
  forLanes(mask, [&](uint32_t lane) {
    uint64_t address = getAddress(warp, i, i.operands[0], lane);
    bool isShared =
        i.space == Space::shared ||
        (i.space == Space::generic && address - sharedWindow < windowBytes);
    if (isShared) {
      // Those of one instruction are compared with each other, not as races.
      uint32_t first = lane;
      for (uint32_t other = 0; other < lane; ++other)
        if (mask >> other & 1 &&
            getAddress(warp, i, i.operands[0], other) == address) {
          first = other;
          break;
        }
      if (first != lane) {
        (void)isSameStore(warp, i, mask, lane, address, list);
        return;
      }
    }
    if (uint8_t *to = warp.locate(i.space, address, bytes * count, lane, true))
      put(lane, to);
  });
}

enum class Atomic : uint32_t {
  add,
  min,
  max,
  exch,
  cas,
  band,
  bor,
  bxor,
  inc,
  dec
};

template <class T> T applyAtomic(Atomic how, T old, T value, T other) {
  switch (how) {
  case Atomic::add:
    return T(old + value);
  case Atomic::min:
    return std::min(old, value);
  case Atomic::max:
    return std::max(old, value);
  case Atomic::exch:
    return value;
  case Atomic::cas:
    return old == value ? other : old;
  default:
    break;
  }
  if constexpr (std::is_integral_v<T>) {
    switch (how) {
    case Atomic::band:
      return old & value;
    case Atomic::bor:
      return old | value;
    case Atomic::bxor:
      return old ^ value;
    case Atomic::inc:
      return old >= value ? T(0) : T(old + 1);
    case Atomic::dec:
      return old == 0 || old > value ? value : T(old - 1);
    default:
      break;
    }
  }
  return old;
}

template <class T, class Bits>
Bits applyBits(Atomic how, Bits old, Bits value, Bits other) {
  return std::bit_cast<Bits>(applyAtomic(how, std::bit_cast<T>(old),
                                         std::bit_cast<T>(value),
                                         std::bit_cast<T>(other)));
}
template <class Format> uint16_t addSmall(uint16_t a, uint16_t b) {
  return uint16_t(Format::encode(Format::decode(a) + Format::decode(b)));
}

/// What an atomic of this type leaves; target: the type's kind, flags 2: a
/// pair.
template <class Bits>
Bits compute(const Instruction &i, Bits old, Bits value, Bits other) {
  auto how = Atomic(i.mode);
  auto kind = Type::Kind(i.target);
  if (how == Atomic::cas || how == Atomic::exch)
    return applyAtomic<Bits>(how, old, value, other);
  if (kind == Type::half || kind == Type::bfloat) {
    auto add = kind == Type::half ? addSmall<F16> : addSmall<BF16>;
    auto low = add(uint16_t(old), uint16_t(value));
    if constexpr (sizeof(Bits) == 2)
      return low;
    else
      return Bits(low |
                  uint32_t(add(uint16_t(old >> 16), uint16_t(value >> 16)))
                      << 16);
  }
  if constexpr (sizeof(Bits) == 4) {
    if (kind == Type::real)
      return applyBits<float>(how, old, value, other);
    if (kind == Type::sint)
      return applyBits<int32_t>(how, old, value, other);
  }
  if constexpr (sizeof(Bits) == 8) {
    if (kind == Type::real)
      return applyBits<double>(how, old, value, other);
    if (kind == Type::sint)
      return applyBits<int64_t>(how, old, value, other);
  }
  return applyAtomic<Bits>(how, old, value, other);
}

/// operands: result, base, value, other value. flags 1: there is a result.
template <class Bits>
void atomic(Warp &warp, const Instruction &i, uint32_t mask) {
  const Bits *values = warp.get<Bits>(i.operands[2]);
  const Bits *others =
      Atomic(i.mode) == Atomic::cas ? warp.get<Bits>(i.operands[3]) : values;
  forLanes(mask, [&](uint32_t lane) {
    uint64_t address = getAddress(warp, i, i.operands[1], lane);
    Bits old;
    bool isShared =
        i.space == Space::shared ||
        (i.space == Space::generic && address - sharedWindow < windowBytes);
    // Atomics of one block do not race with each other: no trace of them stays.
    uint8_t *memory;
    if (isShared) {
      memory = warp.locateAtomic(i.space, address, sizeof(Bits), lane);
      if (!memory)
        return;
      memcpy(&old, memory, sizeof old);
      Bits made = compute<Bits>(i, old, values[lane], others[lane]);
      memcpy(memory, &made, sizeof made);
    } else {
      memory = warp.locate(i.space, address, sizeof(Bits), lane, true);
      if (!memory)
        return;
      auto *word = reinterpret_cast<Bits *>(memory);
      old = __atomic_load_n(word, __ATOMIC_RELAXED);
      while (!__atomic_compare_exchange_n(
          word, &old, compute<Bits>(i, old, values[lane], others[lane]), false,
          __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
      }
    }
    if (i.flags & 1)
      warp.get<Bits>(i.operands[0])[lane] = old;
  });
}

/// operands: to (shared), from (global), bytes that are there; bytes: of the
/// copy. lists[1], listSizes[1]: the offset of the source.
void copyAsync(Warp &warp, const Instruction &i, uint32_t mask) {
  const Operand &sizes = i.operands[2];
  forLanes(mask, [&](uint32_t lane) {
    uint32_t size = i.bytes;
    if (i.flags & 1)
      size = std::min<uint32_t>(size, warp.get<uint32_t>(sizes)[lane]);
    if (i.flags & 2 && warp.predicate(sizes) >> lane & 1)
      size = 0;
    PendingCopy copy = {};
    copy.lane = lane;
    copy.bytes = i.bytes;
    copy.group = warp.copyGroup[lane];
    copy.serial = warp.copySerial++;
    uint64_t from = warp.get<uint64_t>(i.operands[1])[lane] +
                    uint64_t(int64_t(int32_t(i.target)));
    if (from & (i.bytes - 1u))
      return warp.fail(
          FaultKind::misaligned, lane,
          "copies %u bytes from %#llx, which is no multiple of them", i.bytes,
          (unsigned long long)from);
    if (size) {
      if (!(from >= warp.rangeBegin && from + size <= warp.rangeEnd) &&
          !warp.findGlobal(from, size))
        return warp.fail(FaultKind::illegalAddress, lane,
                         "copies %u bytes from %#llx, where no memory is", size,
                         (unsigned long long)from);
      memcpy(copy.data, reinterpret_cast<const uint8_t *>(from), size);
    }
    uint64_t to = getAddress(warp, i, i.operands[0], lane);
    uint8_t *place = warp.locateCopy(to, i.bytes, lane);
    if (!place)
      return;
    copy.to = uint32_t(place - warp.block->shared.data());
    warp.copies.push_back(copy);
  });
}
void commitCopies(Warp &warp, const Instruction &, uint32_t mask) {
  forLanes(mask, [&](uint32_t lane) { ++warp.copyGroup[lane]; });
}
/// number: groups that may still be on their way; flags 1: none, nor what was
/// not committed.
void waitForCopies(Warp &warp, const Instruction &i, uint32_t mask) {
  if (i.flags & 1)
    forLanes(mask, [&](uint32_t lane) { ++warp.copyGroup[lane]; });
  warp.finishCopies(mask, uint32_t(i.number));
}

Space readSpace(const Statement &s) {
  for (size_t k = 1; k < s.opcode.size(); ++k) {
    std::string_view word = s.opcode[k];
    if (word.starts_with("shared"))
      return Space::shared;
    if (word == "global" || word == "const")
      return Space::global;
    if (word == "local")
      return Space::local;
    if (word.starts_with("param"))
      return Space::param;
  }
  return Space::generic;
}
} // namespace

void decodeMemory(Decoding &decoding, const Statement &s, Instruction &i) {
  std::string_view name = s.opcode[0];
  if (name == "prefetch" || name == "prefetchu" || name == "membar" ||
      name == "fence" || name == "discard" || name == "applypriority") {
    i.run = runNothing;
    return;
  }
  i.space = readSpace(s);
  if (name == "ld" || name == "ldu" || name == "st") {
    bool isLoad = name != "st";
    Type type = readType(s.opcode.back());
    if (s.operands.size() != 2 || !type.bytes())
      return decoding.fail("a load or store has 2 operands and a type");
    const Written &place = s.operands[isLoad], &values = s.operands[!isLoad];
    decoding.list(i, 0, values, type, true);
    decoding.address(i, 0, place);
    // Parameters of functions lie in the local memory.
    if (i.space == Space::param && i.mode != 1)
      i.space = Space::local;
    i.bytes = uint8_t(type.bytes());
    i.flags = isLoad && type.kind == Type::sint;
    uint32_t expected = s.has("v2") ? 2 : s.has("v4") ? 4 : s.has("v8") ? 8 : 1;
    if (i.listSizes[0] != expected)
      return decoding.fail("a vector of another length");
    i.run = isLoad ? load : store;
    if (isLoad && expected == 1 && values.kind == Written::word) {
      Operand to = decoding.anyWidth(values.text, type);
      if (to.bytes == type.bytes())
        i.run = to.bytes == 2   ? loadOne<uint16_t>
                : to.bytes == 4 ? loadOne<uint32_t>
                : to.bytes == 8 ? loadOne<uint64_t>
                                : load;
    }
    return;
  }
  if (name == "atom" || name == "red") {
    static constexpr std::string_view names[] = {
        "add", "min", "max", "exch", "cas", "and", "or", "xor", "inc", "dec"};
    Type type = readType(s.opcode.back());
    for (uint32_t k = 0; k < std::size(names); ++k)
      if (s.has(names[k]))
        i.mode = k;
    bool isAtom = name == "atom", isCas = Atomic(i.mode) == Atomic::cas;
    if (s.operands.size() != size_t(isAtom) + 2 + isCas)
      return decoding.fail("an atomic with another number of operands");
    size_t at = isAtom;
    uint32_t mode = i.mode;
    decoding.address(i, 1, s.operands[at++]);
    i.mode = mode;
    i.operands[2] = decoding.operand(s.operands[at++], type);
    if (isCas)
      i.operands[3] = decoding.operand(s.operands[at], type);
    if (isAtom)
      i.operands[0] = decoding.operand(s.operands[0], type);
    i.flags = isAtom;
    i.target = type.kind;
    i.bytes = uint8_t(type.bytes());
    i.run = type.size == 16   ? atomic<uint16_t>
            : type.size == 32 ? atomic<uint32_t>
                              : atomic<uint64_t>;
    return;
  }
  if (name != "cp" || s.opcode.size() < 3 || s.opcode[1] != "async")
    return;
  if (s.opcode[2] == "commit_group") {
    i.run = commitCopies;
    return;
  }
  if (s.opcode[2] == "wait_group" || s.opcode[2] == "wait_all") {
    i.flags = s.opcode[2] == "wait_all";
    if (!i.flags &&
        (s.operands.size() != 1 ||
         !readNumber(s.operands[0].text, {Type::uint, 32}, i.number)))
      return decoding.fail("a wait is for a number of groups");
    i.run = waitForCopies;
    return;
  }
  if (s.opcode[2] != "ca" && s.opcode[2] != "cg")
    return;
  uint64_t bytes = 0;
  if (s.operands.size() < 3 ||
      !readNumber(s.operands[2].text, {Type::uint, 32}, bytes) ||
      (bytes != 4 && bytes != 8 && bytes != 16))
    return decoding.fail("an asynchronous copy is of 4, 8 or 16 bytes");
  if (s.opcode[2] == "cg" && bytes != 16)
    return decoding.fail("cp.async.cg is of 16 bytes");
  Instruction source;
  decoding.address(source, 1, s.operands[1]);
  decoding.address(i, 0, s.operands[0]);
  i.operands[1] = source.operands[1];
  i.target = uint32_t(source.number);
  i.bytes = uint8_t(bytes);
  if (s.operands.size() == 4) {
    i.operands[2] = decoding.anyWidth(s.operands[3].text, {Type::uint, 32});
    i.flags = i.operands[2].bytes ? 1 : 2;
  }
  i.run = copyAsync;
}

} // namespace alula::ptx

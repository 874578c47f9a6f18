// cvt and cvta.

#include "runtime/device/cuda/emulator/decode.h"
#include "runtime/device/cuda/emulator/machine.h"
#include "runtime/device/cuda/emulator/small_floats.h"

#include <cfenv>
#include <cstring>

namespace alula::ptx {
namespace {

enum Flag : uint32_t {
  ftz = 1,
  saturate = 2,
  relu = 4,
  integral = 8,
  saturateFinite = 16
};

/// Integers alone: registers may be wider than their types.
template <class To, class From>
void convertInts(Warp &warp, const Instruction &i, uint32_t mask) {
  To *to = warp.get<To>(i.operands[0]);
  const From *from = warp.get<From>(i.operands[1]);
  forLanes(mask, [&](uint32_t lane) { to[lane] = To(from[lane]); });
}

struct Kinds {
  Type to, from;
};
/// In Instruction::target: kinds and sizes of both.
uint32_t encodeTypes(Type to, Type from) {
  return uint32_t(to.kind) | to.size << 4 | uint32_t(from.kind) << 16 |
         from.size << 20;
}
Kinds decodeTypes(uint32_t word) {
  return {{Type::Kind(word & 15), word >> 4 & 0xFFF},
          {Type::Kind(word >> 16 & 15), word >> 20}};
}
bool isFloat(Type type) { return type.kind >= Type::real; }

double readFloat(Type type, uint64_t bits) {
  switch (type.kind) {
  case Type::half:
    return F16::decode(uint32_t(bits) & 0xFFFF);
  case Type::bfloat:
    return BF16::decode(uint32_t(bits) & 0xFFFF);
  case Type::e4m3:
    return E4M3::decode(uint32_t(bits) & 0xFF);
  case Type::e5m2:
    return E5M2::decode(uint32_t(bits) & 0xFF);
  default:
    return type.size == 64 ? std::bit_cast<double>(bits)
                           : double(std::bit_cast<float>(uint32_t(bits)));
  }
}

/// mode: 0 nearest even, 1 towards zero, 2 down, 3 up, 4 nearest, ties away
double roundWhole(double value, uint32_t mode) {
  switch (mode) {
  case 1:
    return std::trunc(value);
  case 2:
    return std::floor(value);
  case 3:
    return std::ceil(value);
  case 4:
    return std::round(value);
  default:
    return std::nearbyint(value);
  }
}

uint64_t makeFloat(Type type, double value, const Instruction &i) {
  if (i.flags & relu && !(value > 0) && !std::isnan(value))
    value = 0;
  if (i.flags & saturate)
    value = std::isnan(value) || value < 0 ? 0 : value > 1 ? 1 : value;
  bool isTruncated = i.mode == 1 && !(i.flags & integral);
  switch (type.kind) {
  case Type::half:
    return F16::encode(value, isTruncated, i.flags & saturateFinite);
  case Type::bfloat:
    return BF16::encode(value, isTruncated, i.flags & saturateFinite);
  case Type::e4m3:
    return E4M3::encode(value, isTruncated, true);
  case Type::e5m2:
    return E5M2::encode(value, isTruncated, true);
  case Type::tf32: {
    uint32_t bits = std::bit_cast<uint32_t>(float(value));
    if (std::isfinite(value))
      bits += 0x1000; // ties away from zero
    return bits & ~0x1FFFu;
  }
  default:
    if (type.size == 64)
      return std::bit_cast<uint64_t>(value);
    break;
  }
  float narrow;
  if (i.mode && !(i.flags & integral)) {
    fesetround(i.mode == 1   ? FE_TOWARDZERO
               : i.mode == 2 ? FE_DOWNWARD
                             : FE_UPWARD);
    volatile double exact = value;
    narrow = float(exact);
    fesetround(FE_TONEAREST);
  } else {
    narrow = float(value);
  }
  if (i.flags & ftz && std::fpclassify(narrow) == FP_SUBNORMAL)
    narrow = std::copysign(0.0f, narrow);
  return std::bit_cast<uint32_t>(narrow);
}

uint64_t convert(const Kinds &types, uint64_t bits, const Instruction &i) {
  auto [to, from] = types;
  if (isFloat(from)) {
    double value = readFloat(from, bits);
    if (i.flags & ftz && from.kind == Type::real && from.size == 32 &&
        std::fpclassify(float(value)) == FP_SUBNORMAL)
      value = std::copysign(0.0, value);
    if (i.flags & integral)
      value = roundWhole(value, i.mode);
    if (isFloat(to))
      return makeFloat(to, value, i);
    // Out of range: the nearest number; not a number: 0.
    bool isSigned = to.kind == Type::sint;
    if (std::isnan(value))
      return to.size == 64 ? uint64_t(1) << 63 : 0;
    double limit = std::ldexp(1.0, int(to.size) - (isSigned ? 1 : 0));
    uint64_t most = to.size == 64 && !isSigned
                        ? UINT64_MAX
                        : (uint64_t(1) << (to.size - (isSigned ? 1 : 0))) - 1;
    if (value >= limit)
      return most;
    if (isSigned)
      return value < -limit ? uint64_t(-int64_t(most) - 1)
                            : uint64_t(int64_t(value));
    return value < 0 ? 0 : uint64_t(value);
  }
  bool isSigned = from.kind == Type::sint;
  uint32_t unused = 64 - from.size;
  bits = isSigned ? uint64_t(int64_t(bits << unused) >> unused)
                  : bits << unused >> unused;
  if (!isFloat(to)) {
    if (i.flags & saturate) {
      __int128 value = isSigned ? __int128(int64_t(bits)) : __int128(bits);
      bool toSigned = to.kind == Type::sint;
      __int128 most = (__int128(1) << (to.size - (toSigned ? 1 : 0))) - 1;
      __int128 least = toSigned ? -most - 1 : 0;
      value = value < least ? least : value > most ? most : value;
      return uint64_t(value);
    }
    return bits;
  }
  // All roundings of 64-bit integers: by the host.
  int how = i.mode == 1   ? FE_TOWARDZERO
            : i.mode == 2 ? FE_DOWNWARD
            : i.mode == 3 ? FE_UPWARD
                          : FE_TONEAREST;
  if (to.kind == Type::real && to.size == 64) {
    fesetround(how);
    volatile int64_t s = int64_t(bits);
    volatile uint64_t u = bits;
    volatile double value = isSigned ? double(s) : double(u);
    fesetround(FE_TONEAREST);
    return std::bit_cast<uint64_t>(double(value));
  }
  if (to.kind == Type::real) {
    fesetround(how);
    volatile int64_t s = int64_t(bits);
    volatile uint64_t u = bits;
    volatile float value = isSigned ? float(s) : float(u);
    fesetround(FE_TONEAREST);
    return std::bit_cast<uint32_t>(float(value));
  }
  // Beyond 53 bits a small float is decided long before the last of them.
  return makeFloat(to, isSigned ? double(int64_t(bits)) : double(bits), i);
}

uint64_t sign(Type type, uint64_t bits) {
  if (type.kind != Type::sint || type.size >= 64)
    return bits;
  uint32_t unused = 64 - type.size;
  return uint64_t(int64_t(bits << unused) >> unused);
}

void convertAny(Warp &warp, const Instruction &i, uint32_t mask) {
  Kinds types = decodeTypes(i.target);
  const Operand &to = i.operands[0], &from = i.operands[1];
  const uint8_t *a = warp.get<uint8_t>(from);
  uint8_t *d = warp.get<uint8_t>(to);
  uint64_t inside =
      types.to.size == 64 ? UINT64_MAX : (uint64_t(1) << types.to.size) - 1;
  forLanes(mask, [&](uint32_t lane) {
    uint64_t bits = 0;
    memcpy(&bits, a + lane * from.bytes, from.bytes);
    bits = sign(types.to, convert(types, bits, i) & inside);
    memcpy(d + lane * to.bytes, &bits, to.bytes);
  });
}

/// Two elements: the first operand becomes the upper one.
void convertTwo(Warp &warp, const Instruction &i, uint32_t mask) {
  Kinds types = decodeTypes(i.target);
  const Operand &to = i.operands[0];
  const uint32_t *a = warp.get<uint32_t>(i.operands[1]),
                 *b = warp.get<uint32_t>(i.operands[2]);
  uint8_t *d = warp.get<uint8_t>(to);
  forLanes(mask, [&](uint32_t lane) {
    uint64_t bits = convert(types, a[lane], i) << types.to.size |
                    convert(types, b[lane], i);
    memcpy(d + lane * to.bytes, &bits, to.bytes);
  });
}
/// A pair to a pair.
void convertPair(Warp &warp, const Instruction &i, uint32_t mask) {
  Kinds types = decodeTypes(i.target);
  const Operand &to = i.operands[0], &from = i.operands[1];
  const uint8_t *a = warp.get<uint8_t>(from);
  uint8_t *d = warp.get<uint8_t>(to);
  forLanes(mask, [&](uint32_t lane) {
    uint64_t bits = 0;
    memcpy(&bits, a + lane * from.bytes, from.bytes);
    uint64_t one = (uint64_t(1) << types.from.size) - 1;
    bits = convert(types, bits >> types.from.size & one, i) << types.to.size |
           convert(types, bits & one, i);
    memcpy(d + lane * to.bytes, &bits, to.bytes);
  });
}

/// number: what is added to an address.
void convertAddress(Warp &warp, const Instruction &i, uint32_t mask) {
  const Operand &to = i.operands[0], &from = i.operands[1];
  forLanes(mask, [&](uint32_t lane) {
    uint64_t bits = 0;
    memcpy(&bits, warp.get<uint8_t>(from) + lane * from.bytes, from.bytes);
    bits += i.number;
    memcpy(warp.get<uint8_t>(to) + lane * to.bytes, &bits, to.bytes);
  });
}
void isInSpace(Warp &warp, const Instruction &i, uint32_t mask) {
  const uint64_t *a = warp.get<uint64_t>(i.operands[1]);
  uint32_t holds = 0;
  forLanes(mask, [&](uint32_t lane) {
    Space space = a[lane] - sharedWindow < windowBytes  ? Space::shared
                  : a[lane] - localWindow < windowBytes ? Space::local
                                                        : Space::global;
    holds |= uint32_t(space == i.space) << lane;
  });
  uint32_t &to = warp.predicate(i.operands[0]);
  to = (to & ~mask) | holds;
}

template <class From> Handler chooseTo(uint32_t bytes) {
  return bytes == 2   ? convertInts<uint16_t, From>
         : bytes == 4 ? convertInts<uint32_t, From>
                      : convertInts<uint64_t, From>;
}
} // namespace

void decodeConversion(Decoding &decoding, const Statement &s, Instruction &i) {
  std::string_view name = s.opcode[0];
  auto hasSpace = [&](std::string_view space) {
    for (std::string_view word : s.opcode)
      if (word == space || word == std::string(space) + "::cta")
        return true;
    return false;
  };
  if (name == "cvta" || name == "isspacep") {
    if (s.operands.size() != 2)
      return decoding.fail("'" + std::string(name) + "' has 2 operands");
    uint64_t window = hasSpace("shared")  ? sharedWindow
                      : hasSpace("local") ? localWindow
                                          : 0;
    i.space = hasSpace("shared")  ? Space::shared
              : hasSpace("local") ? Space::local
                                  : Space::global;
    i.operands[1] = decoding.anyWidth(s.operands[1].text, {Type::uint, 64});
    if (name == "isspacep") {
      i.operands[0] = decoding.operand(s.operands[0], {Type::pred, 1});
      i.run = isInSpace;
      return;
    }
    i.operands[0] = decoding.anyWidth(s.operands[0].text, {Type::uint, 64});
    i.number = s.has("to") ? 0 - window : window;
    i.run = convertAddress;
    return;
  }
  if (name != "cvt")
    return;
  Type from = readType(s.opcode.back()),
       to = readType(s.opcode[s.opcode.size() - 2]);
  if (!to.size || !from.size)
    return decoding.fail("a conversion has two types");
  i.flags = (s.has("ftz") ? ftz : 0) | (s.has("sat") ? saturate : 0) |
            (s.has("relu") ? relu : 0) |
            (s.has("satfinite") ? saturateFinite : 0);
  static constexpr std::string_view roundings[] = {
      "rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi"};
  for (uint32_t k = 0; k < std::size(roundings); ++k)
    if (s.has(roundings[k])) {
      i.mode = k > 4 ? k - 5 : k;
      if (k > 4)
        i.flags |= integral;
    }
  if (i.mode == 4 && to.kind == Type::tf32)
    i.mode = 0;
  if (isFloat(from) && !isFloat(to))
    i.flags |= integral;
  if (to.isPair) {
    Type one = {to.kind, to.size / 2};
    i.operands[0] = decoding.anyWidth(s.operands.at(0).text, to);
    if (s.operands.size() == 3) {
      i.operands[1] = decoding.operand(s.operands[1], from);
      i.operands[2] = decoding.operand(s.operands[2], from);
      i.target = encodeTypes(one, from);
      i.run = convertTwo;
    } else if (from.isPair && s.operands.size() == 2) {
      i.operands[1] = decoding.anyWidth(s.operands[1].text, from);
      i.target = encodeTypes(one, {from.kind, from.size / 2});
      i.run = convertPair;
    } else {
      decoding.fail("a conversion to a pair has 3 operands, or a pair");
    }
    return;
  }
  if (s.operands.size() != 2)
    return decoding.fail("'cvt' has 2 operands");
  i.operands[0] = decoding.anyWidth(s.operands[0].text, to);
  i.operands[1] = decoding.anyWidth(s.operands[1].text, from);
  i.target = encodeTypes(to, from);
  i.run = convertAny;
  bool isPlain = !i.flags && !isFloat(to) && !isFloat(from) &&
                 i.operands[1].bytes == from.bytes();
  if (!isPlain || i.operands[0].bytes != to.bytes() || to.size < 16)
    return;
  bool isSigned = from.kind == Type::sint;
  switch (from.size) {
  case 16:
    i.run = isSigned ? chooseTo<int16_t>(to.bytes())
                     : chooseTo<uint16_t>(to.bytes());
    break;
  case 32:
    i.run = isSigned ? chooseTo<int32_t>(to.bytes())
                     : chooseTo<uint32_t>(to.bytes());
    break;
  case 64:
    i.run = isSigned ? chooseTo<int64_t>(to.bytes())
                     : chooseTo<uint64_t>(to.bytes());
    break;
  default:
    break;
  }
}

} // namespace alula::ptx

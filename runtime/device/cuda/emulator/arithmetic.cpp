// Integers, bits, comparisons, moves.

#include "runtime/device/cuda/emulator/decode.h"
#include "runtime/device/cuda/emulator/machine.h"
#include "runtime/device/cuda/emulator/small_floats.h"

#include <algorithm>
#include <cstring>

namespace alula::ptx {
namespace {

template <class T, class F>
void unary(Warp &warp, const Instruction &i, uint32_t mask) {
  T *to = warp.get<T>(i.operands[0]);
  const T *a = warp.get<T>(i.operands[1]);
  forLanes(mask, [&](uint32_t lane) { to[lane] = T(F()(a[lane])); });
}
template <class T, class F>
void binary(Warp &warp, const Instruction &i, uint32_t mask) {
  T *to = warp.get<T>(i.operands[0]);
  const T *a = warp.get<T>(i.operands[1]), *b = warp.get<T>(i.operands[2]);
  forLanes(mask, [&](uint32_t lane) { to[lane] = T(F()(a[lane], b[lane])); });
}
template <class T, class F>
void ternary(Warp &warp, const Instruction &i, uint32_t mask) {
  T *to = warp.get<T>(i.operands[0]);
  const T *a = warp.get<T>(i.operands[1]), *b = warp.get<T>(i.operands[2]),
          *c = warp.get<T>(i.operands[3]);
  forLanes(mask, [&](uint32_t lane) {
    to[lane] = T(F()(a[lane], b[lane], c[lane]));
  });
}

template <class T> using Unsigned = std::make_unsigned_t<T>;
template <class T> struct Wider;
template <> struct Wider<int16_t> {
  using type = int32_t;
};
template <> struct Wider<uint16_t> {
  using type = uint32_t;
};
template <> struct Wider<int32_t> {
  using type = int64_t;
};
template <> struct Wider<uint32_t> {
  using type = uint64_t;
};
template <> struct Wider<int64_t> {
  using type = __int128;
};
template <> struct Wider<uint64_t> {
  using type = unsigned __int128;
};

struct Move {
  template <class T> T operator()(T a) const { return a; }
};
struct Add {
  template <class T> T operator()(T a, T b) const {
    return T(Unsigned<T>(a) + Unsigned<T>(b));
  }
};
struct Sub {
  template <class T> T operator()(T a, T b) const {
    return T(Unsigned<T>(a) - Unsigned<T>(b));
  }
};
template <class T> T multiplyLow(T a, T b) {
  return T(uint64_t(a) * uint64_t(b));
}
template <class T> T multiplyHigh(T a, T b) {
  using W = typename Wider<T>::type;
  return T((W(a) * W(b)) >> (8 * sizeof(T)));
}
struct MulLow {
  template <class T> T operator()(T a, T b) const { return multiplyLow(a, b); }
};
struct MulHigh {
  template <class T> T operator()(T a, T b) const { return multiplyHigh(a, b); }
};
struct MadLow {
  template <class T> T operator()(T a, T b, T c) const {
    return Add()(multiplyLow(a, b), c);
  }
};
struct MadHigh {
  template <class T> T operator()(T a, T b, T c) const {
    return Add()(multiplyHigh(a, b), c);
  }
};
struct Div {
  template <class T> T operator()(T a, T b) const {
    if (b == 0)
      return T(-1);
    if constexpr (std::is_signed_v<T>)
      if (b == T(-1))
        return T(0 - Unsigned<T>(a));
    return T(a / b);
  }
};
struct Rem {
  template <class T> T operator()(T a, T b) const {
    if (b == 0)
      return a;
    if constexpr (std::is_signed_v<T>)
      if (b == T(-1))
        return 0;
    return T(a % b);
  }
};
struct Min {
  template <class T> T operator()(T a, T b) const { return a < b ? a : b; }
};
struct Max {
  template <class T> T operator()(T a, T b) const { return a < b ? b : a; }
};
struct Neg {
  template <class T> T operator()(T a) const { return T(0 - Unsigned<T>(a)); }
};
struct Abs {
  template <class T> T operator()(T a) const {
    return a < 0 ? T(0 - Unsigned<T>(a)) : a;
  }
};
struct And {
  template <class T> T operator()(T a, T b) const { return a & b; }
};
struct Or {
  template <class T> T operator()(T a, T b) const { return a | b; }
};
struct Xor {
  template <class T> T operator()(T a, T b) const { return a ^ b; }
};
struct Not {
  template <class T> T operator()(T a) const { return T(~a); }
};
struct CNot {
  template <class T> T operator()(T a) const { return a == 0; }
};
struct Sad {
  template <class T> T operator()(T a, T b, T c) const {
    return T(c + (a < b ? b - a : a - b));
  }
};
struct ReverseBits {
  template <class T> T operator()(T a) const {
    T to = 0;
    for (unsigned i = 0; i < 8 * sizeof(T); ++i)
      to = T(to << 1 | (a >> i & 1));
    return to;
  }
};
struct Prmt {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    uint64_t bytes = a | uint64_t(b) << 32;
    uint32_t to = 0;
    for (int i = 0; i < 4; ++i) {
      uint32_t choice = c >> (4 * i) & 15;
      auto byte = uint8_t(bytes >> (8 * (choice & 7)));
      if (choice & 8)
        byte = byte & 0x80 ? 0xFF : 0;
      to |= uint32_t(byte) << (8 * i);
    }
    return to;
  }
};

template <class T>
void mulWide(Warp &warp, const Instruction &i, uint32_t mask) {
  using W = typename Wider<T>::type;
  W *to = warp.get<W>(i.operands[0]);
  const T *a = warp.get<T>(i.operands[1]), *b = warp.get<T>(i.operands[2]);
  forLanes(mask, [&](uint32_t lane) { to[lane] = W(a[lane]) * W(b[lane]); });
}
template <class T>
void madWide(Warp &warp, const Instruction &i, uint32_t mask) {
  using W = typename Wider<T>::type;
  W *to = warp.get<W>(i.operands[0]);
  const T *a = warp.get<T>(i.operands[1]), *b = warp.get<T>(i.operands[2]);
  const W *c = warp.get<W>(i.operands[3]);
  forLanes(mask, [&](uint32_t lane) {
    to[lane] = W(Unsigned<W>(W(a[lane]) * W(b[lane])) + Unsigned<W>(c[lane]));
  });
}

/// Shifts clamp: what is shifted by more than there is leaves zeros or signs.
template <class T, bool IsLeft>
void shift(Warp &warp, const Instruction &i, uint32_t mask) {
  constexpr uint32_t bits = 8 * sizeof(T);
  T *to = warp.get<T>(i.operands[0]);
  const T *a = warp.get<T>(i.operands[1]);
  const uint32_t *by = warp.get<uint32_t>(i.operands[2]);
  forLanes(mask, [&](uint32_t lane) {
    if constexpr (IsLeft)
      to[lane] = by[lane] >= bits ? T(0) : T(Unsigned<T>(a[lane]) << by[lane]);
    else
      to[lane] = T(a[lane] >> std::min(by[lane], bits - 1));
    if constexpr (!IsLeft && !std::is_signed_v<T>)
      if (by[lane] >= bits)
        to[lane] = 0;
  });
}

/// mode: 1 left, 2 wrap
void funnelShift(Warp &warp, const Instruction &i, uint32_t mask) {
  uint32_t *to = warp.get<uint32_t>(i.operands[0]);
  const uint32_t *a = warp.get<uint32_t>(i.operands[1]),
                 *b = warp.get<uint32_t>(i.operands[2]),
                 *c = warp.get<uint32_t>(i.operands[3]);
  forLanes(mask, [&](uint32_t lane) {
    uint32_t by = i.mode & 2 ? c[lane] & 31 : std::min(c[lane], 32u);
    uint64_t both = a[lane] | uint64_t(b[lane]) << 32;
    to[lane] = i.mode & 1 ? uint32_t(both << by >> 32) : uint32_t(both >> by);
    if (i.mode & 1 && by == 32)
      to[lane] = a[lane];
  });
}

template <class T>
void extractBits(Warp &warp, const Instruction &i, uint32_t mask) {
  T *to = warp.get<T>(i.operands[0]);
  const T *a = warp.get<T>(i.operands[1]);
  const uint32_t *b = warp.get<uint32_t>(i.operands[2]),
                 *c = warp.get<uint32_t>(i.operands[3]);
  constexpr uint32_t size = 8 * sizeof(T);
  forLanes(mask, [&](uint32_t lane) {
    uint32_t position = b[lane] & 255, length = c[lane] & 255;
    Unsigned<T> bits = position < size ? Unsigned<T>(a[lane]) >> position : 0;
    bool isSet = false;
    if constexpr (std::is_signed_v<T>)
      isSet =
          length &&
          Unsigned<T>(a[lane]) >> std::min(position + length - 1, size - 1) & 1;
    Unsigned<T> inside =
        length >= size ? ~Unsigned<T>(0) : (Unsigned<T>(1) << length) - 1;
    if (position + length > size && position < size)
      inside = ~Unsigned<T>(0) >> position;
    else if (position >= size)
      inside = 0;
    to[lane] = T((bits & inside) | (isSet ? ~inside : 0));
  });
}
template <class T>
void insertBits(Warp &warp, const Instruction &i, uint32_t mask) {
  T *to = warp.get<T>(i.operands[0]);
  const T *a = warp.get<T>(i.operands[1]), *b = warp.get<T>(i.operands[2]);
  const uint32_t *c = warp.get<uint32_t>(i.operands[3]),
                 *d = warp.get<uint32_t>(i.operands[4]);
  constexpr uint32_t size = 8 * sizeof(T);
  forLanes(mask, [&](uint32_t lane) {
    uint32_t position = c[lane] & 255, length = d[lane] & 255;
    T inside = length >= size ? T(~T(0)) : T((T(1) << length) - 1);
    inside = position < size ? T(inside << position) : T(0);
    T moved = position < size ? T(a[lane] << position) : T(0);
    to[lane] = T((b[lane] & ~inside) | (moved & inside));
  });
}

template <class T>
void countBits(Warp &warp, const Instruction &i, uint32_t mask) {
  uint32_t *to = warp.get<uint32_t>(i.operands[0]);
  const T *a = warp.get<T>(i.operands[1]);
  forLanes(mask,
           [&](uint32_t lane) { to[lane] = uint32_t(std::popcount(a[lane])); });
}
template <class T>
void countZeros(Warp &warp, const Instruction &i, uint32_t mask) {
  uint32_t *to = warp.get<uint32_t>(i.operands[0]);
  const T *a = warp.get<T>(i.operands[1]);
  forLanes(mask, [&](uint32_t lane) {
    to[lane] = uint32_t(std::countl_zero(a[lane]));
  });
}
/// mode 1: how far it may be shifted.
template <class T>
void findBit(Warp &warp, const Instruction &i, uint32_t mask) {
  uint32_t *to = warp.get<uint32_t>(i.operands[0]);
  const T *a = warp.get<T>(i.operands[1]);
  constexpr uint32_t size = 8 * sizeof(T);
  forLanes(mask, [&](uint32_t lane) {
    Unsigned<T> bits = Unsigned<T>(a[lane]);
    if constexpr (std::is_signed_v<T>)
      if (a[lane] < 0)
        bits = ~bits;
    auto zeros = uint32_t(std::countl_zero(bits));
    to[lane] = zeros == size ? UINT32_MAX : i.mode ? zeros : size - 1 - zeros;
  });
}

void lookUp3(Warp &warp, const Instruction &i, uint32_t mask) {
  uint32_t *to = warp.get<uint32_t>(i.operands[0]);
  const uint32_t *a = warp.get<uint32_t>(i.operands[1]),
                 *b = warp.get<uint32_t>(i.operands[2]),
                 *c = warp.get<uint32_t>(i.operands[3]);
  forLanes(mask, [&](uint32_t lane) {
    uint32_t bits = 0;
    for (uint32_t row = 0; row < 8; ++row)
      if (i.mode >> row & 1)
        bits |= (row & 4 ? a[lane] : ~a[lane]) &
                (row & 2 ? b[lane] : ~b[lane]) & (row & 1 ? c[lane] : ~c[lane]);
    to[lane] = bits;
  });
}

/// mode bit 0: a is signed, 1: b is; bit 2: dp2a, bit 3: its high half.
void dotBytes(Warp &warp, const Instruction &i, uint32_t mask) {
  uint32_t *to = warp.get<uint32_t>(i.operands[0]);
  const uint32_t *a = warp.get<uint32_t>(i.operands[1]),
                 *b = warp.get<uint32_t>(i.operands[2]),
                 *c = warp.get<uint32_t>(i.operands[3]);
  forLanes(mask, [&](uint32_t lane) {
    uint32_t sum = c[lane];
    uint32_t count = i.mode & 4 ? 2 : 4;
    for (uint32_t k = 0; k < count; ++k) {
      int32_t x, y;
      uint32_t place = i.mode & 8 ? k + 2 : k;
      if (count == 2)
        x = i.mode & 1 ? int16_t(a[lane] >> (16 * k))
                       : uint16_t(a[lane] >> (16 * k));
      else
        x = i.mode & 1 ? int8_t(a[lane] >> (8 * k))
                       : uint8_t(a[lane] >> (8 * k));
      y = i.mode & 2 ? int8_t(b[lane] >> (8 * place))
                     : uint8_t(b[lane] >> (8 * place));
      sum += uint32_t(x * y);
    }
    to[lane] = sum;
  });
}

/// mode bit 0: takes the carry, 1: leaves it; 2: subtracts; 3: multiplies and
/// adds, 4: the high half of it.
template <class T>
void addCarry(Warp &warp, const Instruction &i, uint32_t mask) {
  using W = unsigned __int128;
  T *to = warp.get<T>(i.operands[0]);
  const T *a = warp.get<T>(i.operands[1]), *b = warp.get<T>(i.operands[2]);
  const T *c = i.mode & 8 ? warp.get<T>(i.operands[3]) : b;
  forLanes(mask, [&](uint32_t lane) {
    W x = a[lane], y = b[lane];
    if (i.mode & 8) {
      x = i.mode & 16 ? multiplyHigh(a[lane], b[lane])
                      : multiplyLow(a[lane], b[lane]);
      y = c[lane];
    }
    W carry = i.mode & 1 ? warp.carry >> lane & 1 : 0;
    W sum = i.mode & 4 ? x - y - carry : x + y + carry;
    to[lane] = T(sum);
    if (i.mode & 2) {
      bool isCarried = sum >> (8 * sizeof(T)) & 1;
      warp.carry = (warp.carry & ~(1u << lane)) | uint32_t(isCarried) << lane;
    }
  });
}

// ---- Comparisons ----

enum Comparison : uint32_t {
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  equ,
  neu,
  ltu,
  leu,
  gtu,
  geu,
  num,
  isNan
};

template <class T> bool compare(uint32_t how, T a, T b) {
  bool isUnordered = false;
  if constexpr (!std::is_integral_v<T>)
    isUnordered = std::isnan(double(a)) || std::isnan(double(b));
  switch (how) {
  case eq:
    return a == b;
  case ne:
    return a != b && !isUnordered;
  case lt:
    return a < b;
  case le:
    return a <= b;
  case gt:
    return a > b;
  case ge:
    return a >= b;
  case equ:
    return isUnordered || a == b;
  case neu:
    return isUnordered || a != b;
  case ltu:
    return isUnordered || a < b;
  case leu:
    return isUnordered || a <= b;
  case gtu:
    return isUnordered || a > b;
  case geu:
    return isUnordered || a >= b;
  case num:
    return !isUnordered;
  default:
    return isUnordered;
  }
}

template <class T> T flush(T a) {
  if constexpr (std::is_same_v<T, float>)
    return std::fpclassify(a) == FP_SUBNORMAL ? std::copysign(0.0f, a) : a;
  return a;
}

template <class T>
uint32_t compareLanes(Warp &warp, const Instruction &i, uint32_t mask,
                      unsigned first) {
  const T *a = warp.get<T>(i.operands[first]),
          *b = warp.get<T>(i.operands[first + 1]);
  uint32_t holds = 0;
  if (i.flags & 1)
    forLanes(mask, [&](uint32_t lane) {
      holds |= uint32_t(compare(i.mode, flush(a[lane]), flush(b[lane])))
               << lane;
    });
  else
    forLanes(mask, [&](uint32_t lane) {
      holds |= uint32_t(compare(i.mode, a[lane], b[lane])) << lane;
    });
  return holds;
}

/// target: 0 no other predicate, 1 and, 2 or, 3 xor; number 1: it is negated.
uint32_t combine(Warp &warp, const Instruction &i, uint32_t holds,
                 unsigned at) {
  if (!i.target)
    return holds;
  uint32_t other = warp.predicate(i.operands[at]);
  if (i.number)
    other = ~other;
  return i.target == 1   ? holds & other
         : i.target == 2 ? holds | other
                         : holds ^ other;
}

template <class T>
void setPredicate(Warp &warp, const Instruction &i, uint32_t mask) {
  uint32_t holds = compareLanes<T>(warp, i, mask, 1);
  uint32_t to = combine(warp, i, holds, 3),
           inverse = combine(warp, i, ~holds, 3);
  uint32_t &first = warp.predicate(i.operands[0]);
  first = (first & ~mask) | (to & mask);
  if (i.listSizes[0]) {
    uint32_t &second = warp.predicate(i.operands[4]);
    second = (second & ~mask) | (inverse & mask);
  }
}

/// set: all ones, or 1.0 (bytes 1).
template <class T>
void setValue(Warp &warp, const Instruction &i, uint32_t mask) {
  uint32_t holds = combine(warp, i, compareLanes<T>(warp, i, mask, 1), 3);
  uint32_t *to = warp.get<uint32_t>(i.operands[0]);
  forLanes(mask, [&](uint32_t lane) {
    to[lane] = !(holds >> lane & 1) ? 0 : i.bytes ? 0x3F800000 : UINT32_MAX;
  });
}

template <class T>
void select(Warp &warp, const Instruction &i, uint32_t mask) {
  T *to = warp.get<T>(i.operands[0]);
  const T *a = warp.get<T>(i.operands[1]), *b = warp.get<T>(i.operands[2]);
  uint32_t holds = warp.predicate(i.operands[3]);
  forLanes(mask, [&](uint32_t lane) {
    to[lane] = holds >> lane & 1 ? a[lane] : b[lane];
  });
}
template <class T>
void selectBySign(Warp &warp, const Instruction &i, uint32_t mask) {
  uint32_t *to = warp.get<uint32_t>(i.operands[0]);
  const uint32_t *a = warp.get<uint32_t>(i.operands[1]),
                 *b = warp.get<uint32_t>(i.operands[2]);
  const T *c = warp.get<T>(i.operands[3]);
  forLanes(mask,
           [&](uint32_t lane) { to[lane] = c[lane] >= 0 ? a[lane] : b[lane]; });
}

/// mode: 0 move, 1 and, 2 or, 3 xor, 4 not
void computePredicate(Warp &warp, const Instruction &i, uint32_t mask) {
  uint32_t a = warp.predicate(i.operands[1]);
  uint32_t b = i.mode >= 1 && i.mode <= 3 ? warp.predicate(i.operands[2]) : 0;
  uint32_t result = i.mode == 0   ? a
                    : i.mode == 1 ? a & b
                    : i.mode == 2 ? a | b
                    : i.mode == 3 ? a ^ b
                                  : ~a;
  uint32_t &to = warp.predicate(i.operands[0]);
  to = (to & ~mask) | (result & mask);
}

/// A register from several smaller ones, or the other way round.
void pack(Warp &warp, const Instruction &i, uint32_t mask) {
  const Operand *list = &warp.block->launch->module->lists[i.lists[0]];
  forLanes(mask, [&](uint32_t lane) {
    uint64_t bits = 0;
    for (unsigned k = 0; k < i.listSizes[0]; ++k) {
      uint64_t part = 0;
      memcpy(&part, warp.get<uint8_t>(list[k]) + lane * list[k].bytes, i.bytes);
      bits |= part << (8 * i.bytes * k);
    }
    memcpy(warp.get<uint8_t>(i.operands[0]) + lane * i.operands[0].bytes, &bits,
           i.operands[0].bytes);
  });
}
void unpack(Warp &warp, const Instruction &i, uint32_t mask) {
  const Operand *list = &warp.block->launch->module->lists[i.lists[0]];
  forLanes(mask, [&](uint32_t lane) {
    uint64_t bits = 0;
    memcpy(&bits, warp.get<uint8_t>(i.operands[1]) + lane * i.operands[1].bytes,
           i.operands[1].bytes);
    for (unsigned k = 0; k < i.listSizes[0]; ++k) {
      uint64_t part = bits >> (8 * i.bytes * k);
      memcpy(warp.get<uint8_t>(list[k]) + lane * list[k].bytes, &part,
             list[k].bytes);
    }
  });
}
/// Packed integers of 16 bits.
template <class T, class F>
void pairwise(Warp &warp, const Instruction &i, uint32_t mask) {
  uint32_t *to = warp.get<uint32_t>(i.operands[0]);
  const uint32_t *a = warp.get<uint32_t>(i.operands[1]),
                 *b = warp.get<uint32_t>(i.operands[2]);
  forLanes(mask, [&](uint32_t lane) {
    auto low = uint16_t(F()(T(a[lane]), T(b[lane])));
    auto high = uint16_t(F()(T(a[lane] >> 16), T(b[lane] >> 16)));
    to[lane] = low | uint32_t(high) << 16;
  });
}

// ---- Choice ----

template <template <class> class Make> Handler bySize(Type type) {
  bool isSigned = type.kind == Type::sint;
  switch (type.size) {
  case 16:
    return isSigned ? Make<int16_t>::run : Make<uint16_t>::run;
  case 32:
    return isSigned ? Make<int32_t>::run : Make<uint32_t>::run;
  case 64:
    return isSigned ? Make<int64_t>::run : Make<uint64_t>::run;
  default:
    return nullptr;
  }
}
template <class F> struct Binary {
  template <class T> struct Of {
    static constexpr Handler run = binary<T, F>;
  };
};
template <class F> struct Unary {
  template <class T> struct Of {
    static constexpr Handler run = unary<T, F>;
  };
};
template <class F> struct Ternary {
  template <class T> struct Of {
    static constexpr Handler run = ternary<T, F>;
  };
};
template <class T> struct ShiftLeft {
  static constexpr Handler run = shift<T, true>;
};
template <class T> struct ShiftRight {
  static constexpr Handler run = shift<T, false>;
};
template <class T> struct Extract {
  static constexpr Handler run = extractBits<T>;
};

bool isInteger(Type type) {
  return type.kind == Type::uint || type.kind == Type::sint ||
         type.kind == Type::bits;
}

Handler compareBy(Type type, bool isValue) {
#define BY(T) return isValue ? setValue<T> : setPredicate<T>
  switch (type.kind) {
  case Type::sint:
    if (type.size == 16)
      BY(int16_t);
    if (type.size == 32)
      BY(int32_t);
    if (type.size == 64)
      BY(int64_t);
    return nullptr;
  case Type::uint:
  case Type::bits:
    if (type.size == 16)
      BY(uint16_t);
    if (type.size == 32)
      BY(uint32_t);
    if (type.size == 64)
      BY(uint64_t);
    return nullptr;
  case Type::real:
    if (type.size == 32)
      BY(float);
    BY(double);
  case Type::half:
    if (type.isPair)
      return nullptr;
    BY(Half);
  case Type::bfloat:
    if (type.isPair)
      return nullptr;
    BY(BFloat);
  default:
    return nullptr;
  }
#undef BY
}

struct Named {
  std::string_view name;
  Handler (*choose)(Type);
  unsigned operands;
};
} // namespace

void decodeArithmetic(Decoding &decoding, const Statement &s, Instruction &i) {
  std::string_view name = s.opcode[0];
  Type type = readType(s.opcode.back());
  const std::vector<Written> &written = s.operands;
  auto count = [&](size_t wanted) {
    if (written.size() == wanted)
      return true;
    decoding.fail("'" + std::string(name) + "' has " + std::to_string(wanted) +
                  " operands");
    return false;
  };
  auto take = [&](std::initializer_list<Type> types) {
    unsigned at = 0;
    if (!count(types.size()))
      return;
    for (Type each : types)
      i.operands[at] = decoding.operand(written[at], each), ++at;
  };
  const Type u32 = {Type::uint, 32}, pred = {Type::pred, 1};

  if (name == "setp" || name == "set") {
    static constexpr std::string_view names[] = {
        "eq",  "ne",  "lt",  "le",  "gt",  "ge", "equ", "neu", "ltu",
        "leu", "gtu", "geu", "num", "nan", "lo", "ls",  "hi",  "hs"};
    if (s.opcode.size() < 3 || (written.size() != 3 && written.size() != 4))
      return decoding.fail("a comparison has 3 or 4 operands");
    auto found = std::find(std::begin(names), std::end(names), s.opcode[1]);
    if (found == std::end(names))
      return decoding.fail("'" + std::string(s.opcode[1]) +
                           "' is no comparison");
    i.mode = uint32_t(found - names);
    if (i.mode > isNan)
      i.mode = i.mode - isNan - 1 + lt;
    i.flags = s.has("ftz");
    i.target = s.has("and") ? 1 : s.has("or") ? 2 : s.has("xor") ? 3 : 0;
    i.run = compareBy(type, name == "set");
    i.operands[1] = decoding.operand(written[1], type);
    i.operands[2] = decoding.operand(written[2], type);
    if (i.target) {
      if (!count(4))
        return;
      i.operands[3] = decoding.operand(written[3], pred);
      i.number = written[3].isNegated;
    }
    if (name == "set") {
      Type to = {};
      for (std::string_view word : s.opcode)
        if (word != s.opcode.back() && readType(word).size)
          to = readType(word);
      if (!to.size)
        to = type;
      i.bytes = to.kind == Type::real;
      i.operands[0] = decoding.operand(written[0], {to.kind, 32});
    } else {
      i.operands[0] = decoding.operand(written[0], pred);
      if (!written[0].second.empty()) {
        i.operands[4] = decoding.operandOf(written[0].second, pred);
        i.listSizes[0] = 1;
      }
    }
    return;
  }
  if (name == "selp") {
    take({type, type, type, pred});
    i.run = type.size == 16   ? select<uint16_t>
            : type.size == 32 ? select<uint32_t>
            : type.size == 64 ? select<uint64_t>
                              : nullptr;
    return;
  }
  if (name == "slct") {
    Type by = type, of = readType(s.opcode[1]);
    if (of.size != 32)
      return;
    take({of, of, of, by});
    i.run = by.kind == Type::real ? selectBySign<float> : selectBySign<int32_t>;
    return;
  }
  if (type.kind == Type::pred) {
    static constexpr std::string_view names[] = {"mov", "and", "or", "xor",
                                                 "not"};
    auto found = std::find(std::begin(names), std::end(names), name);
    if (found == std::end(names))
      return;
    i.mode = uint32_t(found - names);
    i.run = computePredicate;
    if (i.mode >= 1 && i.mode <= 3)
      take({pred, pred, pred});
    else
      take({pred, pred});
    return;
  }
  if (name == "mov") {
    if (!count(2))
      return;
    if (written[0].kind == Written::list) {
      i.bytes =
          uint8_t(type.bytes() / std::max<size_t>(written[0].words.size(), 1));
      decoding.list(i, 0, written[0], {Type::bits, i.bytes * 8u}, true);
      i.operands[1] = decoding.operand(written[1], type);
      i.run = unpack;
    } else if (written[1].kind == Written::list) {
      i.bytes =
          uint8_t(type.bytes() / std::max<size_t>(written[1].words.size(), 1));
      decoding.list(i, 0, written[1], {Type::bits, i.bytes * 8u}, true);
      i.operands[0] = decoding.operand(written[0], type);
      i.run = pack;
    } else {
      // Special registers have 4 bytes, whatever they are moved as.
      i.operands[1] = decoding.anyWidth(written[1].text, type);
      i.operands[0] = decoding.operand(written[0], type);
      if (i.operands[1].bytes != type.bytes()) {
        if (i.operands[1].bytes != 4 || type.size != 64)
          return decoding.fail("a move between different widths");
        i.run = [](Warp &warp, const Instruction &mine, uint32_t mask) {
          uint64_t *to = warp.get<uint64_t>(mine.operands[0]);
          const uint32_t *from = warp.get<uint32_t>(mine.operands[1]);
          forLanes(mask, [&](uint32_t lane) { to[lane] = from[lane]; });
        };
        return;
      }
      i.run = bySize<Unary<Move>::Of>({Type::bits, type.size});
    }
    return;
  }
  bool isPair16 = s.opcode.back() == "u16x2" || s.opcode.back() == "s16x2";
  if (isPair16) {
    bool isSigned = s.opcode.back()[0] == 's';
    take({u32, u32, u32});
    i.run = name == "add" ? pairwise<uint16_t, Add>
            : name == "min"
                ? (isSigned ? pairwise<int16_t, Min> : pairwise<uint16_t, Min>)
            : name == "max"
                ? (isSigned ? pairwise<int16_t, Max> : pairwise<uint16_t, Max>)
                : nullptr;
    return;
  }
  if (!isInteger(type))
    return;
  if (s.has("cc") || name == "addc" || name == "subc" || name == "madc") {
    bool isMad = name.starts_with("mad");
    i.mode = (name.back() == 'c' ? 1 : 0) | (s.has("cc") ? 2 : 0) |
             (name.starts_with("sub") ? 4 : 0) | (isMad ? 8 : 0) |
             (s.has("hi") ? 16 : 0);
    if (isMad)
      take({type, type, type, type});
    else
      take({type, type, type});
    i.run = type.size == 32 ? addCarry<uint32_t> : addCarry<uint64_t>;
    if (isMad && type.kind == Type::sint && s.has("hi"))
      decoding.fail("a signed high product with carry is not known");
    return;
  }
  if ((name == "mul" || name == "mad") && s.has("wide")) {
    Type wide = {type.kind, type.size * 2};
    bool isSigned = type.kind == Type::sint;
    if (name == "mul") {
      take({wide, type, type});
      i.run = type.size == 16
                  ? (isSigned ? mulWide<int16_t> : mulWide<uint16_t>)
                  : (isSigned ? mulWide<int32_t> : mulWide<uint32_t>);
    } else {
      take({wide, type, type, wide});
      i.run = type.size == 16
                  ? (isSigned ? madWide<int16_t> : madWide<uint16_t>)
                  : (isSigned ? madWide<int32_t> : madWide<uint32_t>);
    }
    return;
  }
  if (name == "mul24" || name == "mad24")
    return;
  if (name == "shl" || name == "shr") {
    take({type, type, u32});
    i.run = name == "shl" ? bySize<ShiftLeft>(type) : bySize<ShiftRight>(type);
    return;
  }
  if (name == "shf") {
    take({u32, u32, u32, u32});
    i.mode = (s.has("l") ? 1 : 0) | (s.has("wrap") ? 2 : 0);
    i.run = funnelShift;
    return;
  }
  if (name == "bfe") {
    take({type, type, u32, u32});
    i.run = bySize<Extract>(type);
    return;
  }
  if (name == "bfi") {
    take({type, type, type, u32, u32});
    i.run = type.size == 32 ? insertBits<uint32_t> : insertBits<uint64_t>;
    return;
  }
  if (name == "popc" || name == "clz" || name == "bfind") {
    take({u32, type});
    bool isSigned = type.kind == Type::sint, isWide = type.size == 64;
    i.mode = s.has("shiftamt");
    i.run =
        name == "popc"  ? (isWide ? countBits<uint64_t> : countBits<uint32_t>)
        : name == "clz" ? (isWide ? countZeros<uint64_t> : countZeros<uint32_t>)
        : isSigned      ? (isWide ? findBit<int64_t> : findBit<int32_t>)
                        : (isWide ? findBit<uint64_t> : findBit<uint32_t>);
    return;
  }
  if (name == "lop3") {
    if (!count(5))
      return;
    for (unsigned k = 0; k < 4; ++k)
      i.operands[k] = decoding.operand(written[k], u32);
    uint64_t table = 0;
    if (!readNumber(written[4].text, u32, table))
      return decoding.fail("the table of lop3 must be a number");
    i.mode = uint32_t(table);
    i.run = lookUp3;
    return;
  }
  if (name == "prmt") {
    if (s.opcode.size() != 2)
      return;
    take({u32, u32, u32, u32});
    i.run = ternary<uint32_t, Prmt>;
    return;
  }
  if (name == "dp4a" || name == "dp2a") {
    take({u32, u32, u32, u32});
    Type a = readType(s.opcode[s.opcode.size() - 2]);
    i.mode = (a.kind == Type::sint ? 1 : 0) |
             (type.kind == Type::sint ? 2 : 0) | (name == "dp2a" ? 4 : 0) |
             (s.has("hi") ? 8 : 0);
    i.run = dotBytes;
    return;
  }
  bool isHigh = s.has("hi");
  const Named families[] = {
      {"add", bySize<Binary<Add>::Of>, 3},
      {"sub", bySize<Binary<Sub>::Of>, 3},
      {"mul", isHigh ? bySize<Binary<MulHigh>::Of> : bySize<Binary<MulLow>::Of>,
       3},
      {"mad",
       isHigh ? bySize<Ternary<MadHigh>::Of> : bySize<Ternary<MadLow>::Of>, 4},
      {"div", bySize<Binary<Div>::Of>, 3},
      {"rem", bySize<Binary<Rem>::Of>, 3},
      {"min", bySize<Binary<Min>::Of>, 3},
      {"max", bySize<Binary<Max>::Of>, 3},
      {"neg", bySize<Unary<Neg>::Of>, 2},
      {"abs", bySize<Unary<Abs>::Of>, 2},
      {"and", bySize<Binary<And>::Of>, 3},
      {"or", bySize<Binary<Or>::Of>, 3},
      {"xor", bySize<Binary<Xor>::Of>, 3},
      {"not", bySize<Unary<Not>::Of>, 2},
      {"cnot", bySize<Unary<CNot>::Of>, 2},
      {"sad", bySize<Ternary<Sad>::Of>, 4},
      {"brev", bySize<Unary<ReverseBits>::Of>, 2}};
  for (const Named &family : families)
    if (family.name == name) {
      if (!count(family.operands))
        return;
      for (unsigned k = 0; k < family.operands; ++k)
        i.operands[k] = decoding.operand(written[k], type);
      i.run = family.choose(type);
      return;
    }
}

} // namespace alula::ptx

// Arithmetic of floats.

#include "runtime/device/cuda/emulator/decode.h"
#include "runtime/device/cuda/emulator/machine.h"
#include "runtime/device/cuda/emulator/small_floats.h"

#include <algorithm>
#include <cfenv>
#include <cstring>

namespace alula::ptx {
namespace {

enum Flag : uint32_t {
  ftz = 1,
  saturate = 2,
  nanWins = 4,
  relu = 8,
  directed = 16
};

/// What arithmetic is done in, and what of it stays.
template <class T> struct Number {
  using Wide = double;
  static double get(T a) { return a; }
  static T make(double a) { return T::make(a); }
};
template <> struct Number<float> {
  using Wide = float;
  static float get(float a) { return a; }
  static float make(float a) { return a; }
};
template <> struct Number<double> {
  using Wide = double;
  static double get(double a) { return a; }
  static double make(double a) { return a; }
};

template <class W> W flush(W a) {
  return std::fpclassify(float(a)) == FP_SUBNORMAL ? std::copysign(W(0), a) : a;
}
template <class W> W finish(W a, uint32_t flags) {
  if (flags & ftz)
    a = flush(a);
  if (flags & saturate)
    a = std::isnan(a) || a < 0 ? W(0) : a > 1 ? W(1) : a;
  if (flags & relu)
    a = std::isnan(a) ? a : a < 0 ? W(0) : a;
  return a;
}

struct FAdd {
  template <class W> W operator()(W a, W b, uint32_t) const { return a + b; }
};
struct FSub {
  template <class W> W operator()(W a, W b, uint32_t) const { return a - b; }
};
struct FMul {
  template <class W> W operator()(W a, W b, uint32_t) const { return a * b; }
};
struct FDiv {
  template <class W> W operator()(W a, W b, uint32_t) const { return a / b; }
};
struct FMin {
  template <class W> W operator()(W a, W b, uint32_t flags) const {
    if (std::isnan(a) || std::isnan(b))
      return flags & nanWins ? W(NAN) : std::isnan(a) ? b : a;
    if (a == b)
      return std::signbit(a) ? a : b;
    return a < b ? a : b;
  }
};
struct FMax {
  template <class W> W operator()(W a, W b, uint32_t flags) const {
    if (std::isnan(a) || std::isnan(b))
      return flags & nanWins ? W(NAN) : std::isnan(a) ? b : a;
    if (a == b)
      return std::signbit(a) ? b : a;
    return a > b ? a : b;
  }
};
/// The sign of the first operand, the size of the second.
struct CopySign {
  template <class W> W operator()(W a, W b, uint32_t) const {
    return std::copysign(b, a);
  }
};
struct FSqrt {
  template <class W> W operator()(W a) const { return std::sqrt(a); }
};
struct RSqrt {
  template <class W> W operator()(W a) const {
    return W(1 / std::sqrt((long double)a));
  }
};
struct Reciprocal {
  template <class W> W operator()(W a) const { return 1 / a; }
};
struct Exp2 {
  template <class W> W operator()(W a) const { return W(std::exp2(double(a))); }
};
struct Log2 {
  template <class W> W operator()(W a) const { return W(std::log2(double(a))); }
};
struct Sine {
  template <class W> W operator()(W a) const { return W(std::sin(double(a))); }
};
struct Cosine {
  template <class W> W operator()(W a) const { return W(std::cos(double(a))); }
};
struct Tanh {
  template <class W> W operator()(W a) const { return W(std::tanh(double(a))); }
};

template <class T, class F> T compute2(T a, T b, uint32_t flags) {
  using N = Number<T>;
  auto x = N::get(a), y = N::get(b);
  if (flags & ftz)
    x = flush(x), y = flush(y);
  return N::make(finish(F()(x, y, flags), flags));
}
template <class T, class F> T compute1(T a, uint32_t flags) {
  using N = Number<T>;
  auto x = N::get(a);
  if (flags & ftz)
    x = flush(x);
  return N::make(finish(F()(x), flags));
}
template <class T> T computeFma(T a, T b, T c, uint32_t flags) {
  using N = Number<T>;
  auto x = N::get(a), y = N::get(b), z = N::get(c);
  if (flags & ftz)
    x = flush(x), y = flush(y), z = flush(z);
  return N::make(finish(std::fma(x, y, z), flags));
}

int getRounding(uint32_t mode) {
  return mode == 1   ? FE_TOWARDZERO
         : mode == 2 ? FE_DOWNWARD
         : mode == 3 ? FE_UPWARD
                     : FE_TONEAREST;
}
/// Runs with the instruction's rounding.
template <class F> void rounded(const Instruction &i, F function) {
  if (!i.mode)
    return function();
  fesetround(getRounding(i.mode));
  function();
  fesetround(FE_TONEAREST);
}

template <class T, class F>
void binary(Warp &warp, const Instruction &i, uint32_t mask) {
  T *to = warp.get<T>(i.operands[0]);
  const T *a = warp.get<T>(i.operands[1]), *b = warp.get<T>(i.operands[2]);
  if (!i.flags && !i.mode)
    return forLanes(mask, [&](uint32_t lane) {
      to[lane] = compute2<T, F>(a[lane], b[lane], 0);
    });
  rounded(i, [&] {
    forLanes(mask, [&](uint32_t lane) {
      to[lane] = compute2<T, F>(a[lane], b[lane], i.flags);
    });
  });
}
template <class T, class F>
void unary(Warp &warp, const Instruction &i, uint32_t mask) {
  T *to = warp.get<T>(i.operands[0]);
  const T *a = warp.get<T>(i.operands[1]);
  rounded(i, [&] {
    forLanes(mask, [&](uint32_t lane) {
      to[lane] = compute1<T, F>(a[lane], i.flags);
    });
  });
}
template <class T> void fma(Warp &warp, const Instruction &i, uint32_t mask) {
  T *to = warp.get<T>(i.operands[0]);
  const T *a = warp.get<T>(i.operands[1]), *b = warp.get<T>(i.operands[2]),
          *c = warp.get<T>(i.operands[3]);
  rounded(i, [&] {
    forLanes(mask, [&](uint32_t lane) {
      to[lane] = computeFma(a[lane], b[lane], c[lane], i.flags);
    });
  });
}

template <class T> T half(uint32_t both, unsigned which) {
  return {uint16_t(both >> (16 * which))};
}
template <class T> uint32_t join(T low, T high) {
  return low.bits | uint32_t(high.bits) << 16;
}

template <class T, class F>
void binaryPair(Warp &warp, const Instruction &i, uint32_t mask) {
  uint32_t *to = warp.get<uint32_t>(i.operands[0]);
  const uint32_t *a = warp.get<uint32_t>(i.operands[1]),
                 *b = warp.get<uint32_t>(i.operands[2]);
  forLanes(mask, [&](uint32_t lane) {
    to[lane] =
        join(compute2<T, F>(half<T>(a[lane], 0), half<T>(b[lane], 0), i.flags),
             compute2<T, F>(half<T>(a[lane], 1), half<T>(b[lane], 1), i.flags));
  });
}
template <class T, class F>
void unaryPair(Warp &warp, const Instruction &i, uint32_t mask) {
  uint32_t *to = warp.get<uint32_t>(i.operands[0]);
  const uint32_t *a = warp.get<uint32_t>(i.operands[1]);
  forLanes(mask, [&](uint32_t lane) {
    to[lane] = join(compute1<T, F>(half<T>(a[lane], 0), i.flags),
                    compute1<T, F>(half<T>(a[lane], 1), i.flags));
  });
}
template <class T>
void fmaPair(Warp &warp, const Instruction &i, uint32_t mask) {
  uint32_t *to = warp.get<uint32_t>(i.operands[0]);
  const uint32_t *a = warp.get<uint32_t>(i.operands[1]),
                 *b = warp.get<uint32_t>(i.operands[2]),
                 *c = warp.get<uint32_t>(i.operands[3]);
  forLanes(mask, [&](uint32_t lane) {
    to[lane] = join(computeFma(half<T>(a[lane], 0), half<T>(b[lane], 0),
                               half<T>(c[lane], 0), i.flags),
                    computeFma(half<T>(a[lane], 1), half<T>(b[lane], 1),
                               half<T>(c[lane], 1), i.flags));
  });
}

/// Changes signs alone; number: the bits that change. mode 0 flips, 1 clears.
template <class T> void sign(Warp &warp, const Instruction &i, uint32_t mask) {
  T *to = warp.get<T>(i.operands[0]);
  const T *a = warp.get<T>(i.operands[1]);
  forLanes(mask, [&](uint32_t lane) {
    T bits = i.mode ? T(a[lane] & ~T(i.number)) : T(a[lane] ^ T(i.number));
    if (i.flags & ftz && sizeof(T) == 4)
      bits = T(
          std::bit_cast<uint32_t>(flush(std::bit_cast<float>(uint32_t(bits)))));
    to[lane] = bits;
  });
}

/// testp; mode: 0 finite, 1 infinite, 2 number, 3 notanumber, 4 normal, 5
/// subnormal
template <class T> void test(Warp &warp, const Instruction &i, uint32_t mask) {
  const T *a = warp.get<T>(i.operands[1]);
  uint32_t holds = 0;
  forLanes(mask, [&](uint32_t lane) {
    T x = a[lane];
    bool is = i.mode == 0   ? std::isfinite(x)
              : i.mode == 1 ? std::isinf(x)
              : i.mode == 2 ? !std::isnan(x)
              : i.mode == 3 ? std::isnan(x)
              : i.mode == 4 ? std::isnormal(x)
                            : std::fpclassify(x) == FP_SUBNORMAL;
    holds |= uint32_t(is) << lane;
  });
  uint32_t &to = warp.predicate(i.operands[0]);
  to = (to & ~mask) | holds;
}

template <class F> Handler choose2(Type type) {
  switch (type.kind) {
  case Type::real:
    return type.size == 32 ? binary<float, F> : binary<double, F>;
  case Type::half:
    return type.isPair ? binaryPair<Half, F> : binary<Half, F>;
  case Type::bfloat:
    return type.isPair ? binaryPair<BFloat, F> : binary<BFloat, F>;
  default:
    return nullptr;
  }
}
template <class F> Handler choose1(Type type) {
  switch (type.kind) {
  case Type::real:
    return type.size == 32 ? unary<float, F> : unary<double, F>;
  case Type::half:
    return type.isPair ? unaryPair<Half, F> : unary<Half, F>;
  case Type::bfloat:
    return type.isPair ? unaryPair<BFloat, F> : unary<BFloat, F>;
  default:
    return nullptr;
  }
}
Handler chooseFma(Type type) {
  switch (type.kind) {
  case Type::real:
    return type.size == 32 ? fma<float> : fma<double>;
  case Type::half:
    return type.isPair ? fmaPair<Half> : fma<Half>;
  case Type::bfloat:
    return type.isPair ? fmaPair<BFloat> : fma<BFloat>;
  default:
    return nullptr;
  }
}

} // namespace

void decodeFloats(Decoding &decoding, const Statement &s, Instruction &i) {
  std::string_view name = s.opcode[0];
  Type type = readType(s.opcode.back());
  bool isFloat = type.kind == Type::real || type.kind == Type::half ||
                 type.kind == Type::bfloat;
  if (!isFloat)
    return;
  auto take = [&](unsigned count) {
    if (s.operands.size() != count)
      return decoding.fail("'" + std::string(name) + "' has " +
                           std::to_string(count) + " operands");
    for (unsigned k = 0; k < count; ++k)
      i.operands[k] = decoding.operand(s.operands[k], type);
  };
  i.flags = (s.has("ftz") ? ftz : 0) | (s.has("sat") ? saturate : 0) |
            (s.has("NaN") ? nanWins : 0) | (s.has("relu") ? relu : 0);
  if (type.kind != Type::real)
    i.flags &= ~uint32_t(ftz);
  i.mode = s.has("rz") ? 1 : s.has("rm") ? 2 : s.has("rp") ? 3 : 0;
  if (i.mode && type.kind != Type::real)
    return decoding.fail("this rounding is for f32 and f64");
  if (name == "fma" || name == "mad") {
    take(4);
    i.run = chooseFma(type);
    return;
  }
  if (name == "neg" || name == "abs") {
    take(2);
    uint64_t bit = uint64_t(1) << (type.size - 1);
    i.number = type.isPair ? 0x80008000 : bit;
    i.mode = name == "abs";
    i.run = type.size == 16   ? sign<uint16_t>
            : type.size == 32 ? sign<uint32_t>
                              : sign<uint64_t>;
    return;
  }
  if (name == "testp") {
    static constexpr std::string_view names[] = {
        "finite", "infinite", "number", "notanumber", "normal", "subnormal"};
    auto found = std::find(std::begin(names), std::end(names), s.opcode[1]);
    if (found == std::end(names) || s.operands.size() != 2)
      return decoding.fail("no such test");
    i.mode = uint32_t(found - names);
    i.operands[0] = decoding.operand(s.operands[0], {Type::pred, 1});
    i.operands[1] = decoding.operand(s.operands[1], type);
    i.run = type.size == 32 ? test<float> : test<double>;
    return;
  }
  static constexpr struct {
    std::string_view name;
    Handler (*choose)(Type);
    unsigned count;
  } families[] = {
      {"add", choose2<FAdd>, 3},          {"sub", choose2<FSub>, 3},
      {"mul", choose2<FMul>, 3},          {"div", choose2<FDiv>, 3},
      {"min", choose2<FMin>, 3},          {"max", choose2<FMax>, 3},
      {"copysign", choose2<CopySign>, 3}, {"sqrt", choose1<FSqrt>, 2},
      {"rsqrt", choose1<RSqrt>, 2},       {"rcp", choose1<Reciprocal>, 2},
      {"ex2", choose1<Exp2>, 2},          {"lg2", choose1<Log2>, 2},
      {"sin", choose1<Sine>, 2},          {"cos", choose1<Cosine>, 2},
      {"tanh", choose1<Tanh>, 2}};
  for (const auto &family : families)
    if (family.name == name) {
      take(family.count);
      i.run = family.choose(type);
      return;
    }
}

} // namespace alula::ptx

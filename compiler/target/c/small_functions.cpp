// What LLVM has one word for and C has none. U, S and N are the type of the
// helper without and with sign and its bits.

#include "compiler/target/c/small_functions.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace alula::c;

const char *const alula::c::prelude = R"(#include <stddef.h>
#include <stdint.h>

/* Products and sums are rounded one after the other. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif
#if defined(__FAST_MATH__)
#error "the results of this file need IEEE's arithmetic: not with -ffast-math"
#endif
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the constants of this file are for machines whose first byte is lowest"
#endif

/* Memory has no type: what was written as one may be read as another. */
#if defined(__GNUC__)
#define ALULA_MEMORY(type) type __attribute__((__may_alias__))
#define ALULA_IS_FREE 1
#else
#define ALULA_MEMORY(type) type
#define ALULA_IS_FREE 0
#endif
typedef ALULA_MEMORY(uint8_t) m_u8;
typedef ALULA_MEMORY(uint16_t) m_u16;
typedef ALULA_MEMORY(uint32_t) m_u32;
typedef ALULA_MEMORY(uint64_t) m_u64;
typedef ALULA_MEMORY(float) m_f32;
typedef ALULA_MEMORY(double) m_f64;
typedef char *ptr;
typedef ALULA_MEMORY(ptr) m_ptr;
)";

namespace {
struct Helper {
  const char *name;
  /// Others that it calls, of the same type.
  const char *needs;
  const char *text;
};

constexpr Helper helpers[] = {
    {"copy_bytes", "",
     "static void copy_bytes(void *to, const void *from, size_t n) {\n"
     "  unsigned char *out = (unsigned char *)to;\n"
     "  const unsigned char *in = (const unsigned char *)from;\n"
     "  size_t i;\n"
     "  for (i = 0; i < n; ++i)\n    out[i] = in[i];\n}\n"},
    {"move_bytes", "",
     "static void move_bytes(void *to, const void *from, size_t n) {\n"
     "  unsigned char *out = (unsigned char *)to;\n"
     "  const unsigned char *in = (const unsigned char *)from;\n"
     "  size_t i;\n"
     "  if ((uintptr_t)out - (uintptr_t)in >= n)\n"
     "    for (i = 0; i < n; ++i)\n      out[i] = in[i];\n"
     "  else\n    for (i = n; i > 0; --i)\n      out[i - 1] = in[i - 1];\n}\n"},
    {"set_bytes", "",
     "static void set_bytes(void *to, uint8_t value, size_t n) {\n"
     "  unsigned char *out = (unsigned char *)to;\n"
     "  size_t i;\n"
     "  for (i = 0; i < n; ++i)\n    out[i] = value;\n}\n"},
    // Where compilers say nothing of memory's types, bytes are copied.
    {"load", "",
     "static T load_K(const char *p) {\n"
     "#if ALULA_IS_FREE\n  return *(const m_K *)(const void *)p;\n#else\n"
     "  T x;\n  size_t i;\n  for (i = 0; i < sizeof x; ++i)\n"
     "    ((char *)&x)[i] = p[i];\n  return x;\n#endif\n}\n"},
    {"store", "",
     "static void store_K(char *p, T x) {\n"
     "#if ALULA_IS_FREE\n  *(m_K *)(void *)p = x;\n#else\n"
     "  size_t i;\n  for (i = 0; i < sizeof x; ++i)\n"
     "    p[i] = ((const char *)&x)[i];\n#endif\n}\n"},
    {"load_any", "copy_bytes",
     "static T load_any_K(const char *p) {\n"
     "  T x;\n  copy_bytes(&x, p, sizeof x);\n  return x;\n}\n"},
    {"store_any", "copy_bytes",
     "static void store_any_K(char *p, T x) {\n"
     "  copy_bytes(p, &x, sizeof x);\n}\n"},
    {"of_bits", "",
     "static T of_bits_K(U bits) {\n"
     "  union {\n    U bits;\n    T x;\n  } both;\n"
     "  both.bits = bits;\n  return both.x;\n}\n"},
    {"to_bits", "",
     "static U to_bits_K(T x) {\n"
     "  union {\n    U bits;\n    T x;\n  } both;\n"
     "  both.x = x;\n  return both.bits;\n}\n"},
    {"fabs", "of_bits to_bits",
     "static T fabs_K(T x) {\n"
     "  return of_bits_K(to_bits_K(x) & ((U)-1 >> 1));\n}\n"},
    {"copysign", "of_bits to_bits",
     "static T copysign_K(T x, T y) {\n"
     "  U most = (U)-1 >> 1;\n"
     "  return of_bits_K((to_bits_K(x) & most) | (to_bits_K(y) & ~most));\n"
     "}\n"},
    // -0 is less than 0.
    {"is_less", "to_bits",
     "static int is_less_K(T x, T y) {\n"
     "  return x < y || (x == y && to_bits_K(x) > to_bits_K(y));\n}\n"},
    {"maximum", "is_less",
     "static T maximum_K(T x, T y) {\n"
     "  return x != x ? x : y != y ? y : is_less_K(x, y) ? y : x;\n}\n"},
    {"minimum", "is_less",
     "static T minimum_K(T x, T y) {\n"
     "  return x != x ? x : y != y ? y : is_less_K(x, y) ? x : y;\n}\n"},
    {"maxnum", "is_less",
     "static T maxnum_K(T x, T y) {\n"
     "  return x != x ? y : y != y ? x : is_less_K(x, y) ? y : x;\n}\n"},
    {"minnum", "is_less",
     "static T minnum_K(T x, T y) {\n"
     "  return x != x ? y : y != y ? x : is_less_K(x, y) ? x : y;\n}\n"},
    // Signalling NaN, quiet NaN, then from -infinity to infinity.
    {"is_class", "to_bits",
     "static int is_class_K(T x, uint32_t classes) {\n"
     "  U bits = to_bits_K(x), most = (U)-1 >> 1, rest = bits & most;\n"
     "  U infinite = (U)(N == 32 ? 0x7f800000ull : 0x7ff0000000000000ull);\n"
     "  U normal = infinite & (U)(0u - infinite);\n"
     "  int number;\n"
     "  if (rest > infinite)\n"
     "    return (classes & (rest & normal >> 1 ? 2u : 1u)) != 0;\n"
     "  number = rest == infinite ? 3 : rest >= normal ? 2 : rest != 0;\n"
     "  return (classes >> (bits > most ? 5 - number : 6 + number) & 1u) != "
     "0;\n"
     "}\n"},
    {"ctpop", "",
     "static U ctpop_K(U x) {\n"
     "  U n = 0;\n  for (; x; x &= (U)(x - 1u))\n    ++n;\n  return n;\n}\n"},
    {"ctlz", "",
     "static U ctlz_K(U x) {\n"
     "  U n = 0;\n  if (!x)\n    return N;\n"
     "  for (; !(x >> (N - 1)); x = (U)(x << 1))\n    ++n;\n  return n;\n}\n"},
    {"cttz", "",
     "static U cttz_K(U x) {\n"
     "  U n = 0;\n  if (!x)\n    return N;\n"
     "  for (; !(x & 1u); x = (U)(x >> 1))\n    ++n;\n  return n;\n}\n"},
    {"bswap", "",
     "static U bswap_K(U x) {\n"
     "  U y = 0;\n  int i;\n  for (i = 0; i < N; i += 8)\n"
     "    y = (U)((y << 8) | ((x >> i) & 255u));\n  return y;\n}\n"},
    {"bitreverse", "",
     "static U bitreverse_K(U x) {\n"
     "  U y = 0;\n  int i;\n  for (i = 0; i < N; ++i)\n"
     "    y = (U)((y << 1) | ((x >> i) & 1u));\n  return y;\n}\n"},
    {"fshl", "",
     "static U fshl_K(U x, U y, U n) {\n"
     "  n = (U)(n & (N - 1u));\n"
     "  return n ? (U)((x << n) | (y >> (N - n))) : x;\n}\n"},
    {"fshr", "",
     "static U fshr_K(U x, U y, U n) {\n"
     "  n = (U)(n & (N - 1u));\n"
     "  return n ? (U)((x << (N - n)) | (y >> n)) : y;\n}\n"},
    {"smax", "",
     "static U smax_K(U x, U y) {\n"
     "  return (S)x > (S)y ? x : y;\n}\n"},
    {"smin", "",
     "static U smin_K(U x, U y) {\n"
     "  return (S)x < (S)y ? x : y;\n}\n"},
    {"umax", "", "static U umax_K(U x, U y) {\n  return x > y ? x : y;\n}\n"},
    {"umin", "", "static U umin_K(U x, U y) {\n  return x < y ? x : y;\n}\n"},
    {"abs", "",
     "static U abs_K(U x) {\n"
     "  return (S)x < 0 ? (U)(0u - x) : x;\n}\n"},
    {"uadd_sat", "",
     "static U uadd_sat_K(U x, U y) {\n"
     "  U sum = (U)(x + y);\n"
     "  return sum < x ? (U)-1 : sum;\n}\n"},
    {"usub_sat", "",
     "static U usub_sat_K(U x, U y) {\n"
     "  return x < y ? 0 : (U)(x - y);\n}\n"},
    {"sadd_sat", "",
     "static U sadd_sat_K(U x, U y) {\n"
     "  U sum = (U)(x + y);\n"
     "  if (!(((x ^ sum) & (y ^ sum)) >> (N - 1)))\n    return sum;\n"
     "  return (U)(((U)-1 >> 1) + (x >> (N - 1)));\n}\n"},
    {"ssub_sat", "",
     "static U ssub_sat_K(U x, U y) {\n"
     "  U rest = (U)(x - y);\n"
     "  if (!(((x ^ y) & (x ^ rest)) >> (N - 1)))\n    return rest;\n"
     "  return (U)(((U)-1 >> 1) + (x >> (N - 1)));\n}\n"},
    // A division that C leaves open has any result.
    {"sdiv", "",
     "static U sdiv_K(U x, U y) {\n"
     "  if (!(U)(y + 1u))\n    return (U)(0u - x);\n"
     "  return (U)((S)x / (S)y);\n}\n"},
    {"srem", "",
     "static U srem_K(U x, U y) {\n"
     "  if (!(U)(y + 1u))\n    return 0;\n"
     "  return (U)((S)x % (S)y);\n}\n"},
    {"ashr", "",
     "static U ashr_K(U x, U n) {\n"
     "  U sign = (U)(0u - (x >> (N - 1)));\n"
     "  n = (U)(n & (N - 1u));\n"
     "  return (U)(((U)(x ^ sign) >> n) ^ sign);\n}\n"},
    // Too large ones end at the ends; NaN is 0.
    {"to_signed_of_f32", "",
     "static U to_signed_of_f32_K(float x) {\n"
     "  float most = 2.0f * (float)((U)1 << (N - 2));\n"
     "  if (x != x)\n    return 0;\n"
     "  if (x >= most)\n    return (U)-1 >> 1;\n"
     "  if (x < -most)\n    return (U)((U)1 << (N - 1));\n"
     "  return (U)(S)x;\n}\n"},
    {"to_unsigned_of_f32", "",
     "static U to_unsigned_of_f32_K(float x) {\n"
     "  float most = 4.0f * (float)((U)1 << (N - 2));\n"
     "  if (!(x > 0.0f))\n    return 0;\n"
     "  return x >= most ? (U)-1 : (U)x;\n}\n"},
    {"to_signed_of_f64", "",
     "static U to_signed_of_f64_K(double x) {\n"
     "  double most = 2.0 * (double)((U)1 << (N - 2));\n"
     "  if (x != x)\n    return 0;\n"
     "  if (x >= most)\n    return (U)-1 >> 1;\n"
     "  if (x <= -most - 1.0)\n    return (U)((U)1 << (N - 1));\n"
     "  return (U)(S)x;\n}\n"},
    {"to_unsigned_of_f64", "",
     "static U to_unsigned_of_f64_K(double x) {\n"
     "  double most = 4.0 * (double)((U)1 << (N - 2));\n"
     "  if (!(x > 0.0))\n    return 0;\n"
     "  return x >= most ? (U)-1 : (U)x;\n}\n"},
    // Halves are their bits.
    {"of_half", "",
     "static float of_half(uint16_t code) {\n"
     "  union {\n    uint32_t bits;\n    float x;\n  } both;\n"
     "  uint32_t rest = code & 0x7fffu;\n"
     "  both.bits = rest << 13;\n"
     "  if (rest >= 0x7c00u) {\n    both.bits += 0x70000000u;\n"
     "    if (rest > 0x7c00u)\n      both.bits |= 0x400000u;\n"
     "  } else if (rest >= 0x400u) {\n    both.bits += 0x38000000u;\n"
     "  } else {\n    both.x = (float)rest * 5.9604644775390625e-8f;\n  }\n"
     "  both.bits |= (uint32_t)(code & 0x8000u) << 16;\n"
     "  return both.x;\n}\n"},
    {"to_half", "",
     "static uint16_t to_half(float value) {\n"
     "  union {\n    uint32_t bits;\n    float x;\n  } both;\n"
     "  uint32_t sign, rest;\n"
     "  both.x = value;\n"
     "  sign = both.bits >> 16 & 0x8000u;\n"
     "  rest = both.bits & 0x7fffffffu;\n"
     "  if (rest > 0x7f800000u)\n"
     "    return (uint16_t)(sign | 0x7e00u | (rest >> 13 & 0x3ffu));\n"
     "  if (rest >= 0x47800000u)\n    return (uint16_t)(sign | 0x7c00u);\n"
     "  if (rest < 0x38800000u) {\n"
     "    both.bits = rest;\n    both.x += 0.5f;\n"
     "    return (uint16_t)(sign | (both.bits - 0x3f000000u));\n  }\n"
     "  rest += 0xfffu + (rest >> 13 & 1u);\n"
     "  return (uint16_t)(sign | (rest - 0x38000000u) >> 13);\n}\n"},
    // Integers of 128 bits.
    {"wide", "",
     "typedef struct {\n  uint64_t low, high;\n} u128;\n"
     "static u128 wide(uint64_t high, uint64_t low) {\n"
     "  u128 x;\n  x.low = low;\n  x.high = high;\n  return x;\n}\n"},
    {"wide_add", "wide",
     "static u128 wide_add(u128 a, u128 b) {\n"
     "  uint64_t low = a.low + b.low;\n"
     "  return wide(a.high + b.high + (low < a.low), low);\n}\n"},
    {"wide_sub", "wide",
     "static u128 wide_sub(u128 a, u128 b) {\n"
     "  return wide(a.high - b.high - (a.low < b.low), a.low - b.low);\n}\n"},
    {"wide_and", "wide",
     "static u128 wide_and(u128 a, u128 b) {\n"
     "  return wide(a.high & b.high, a.low & b.low);\n}\n"},
    {"wide_or", "wide",
     "static u128 wide_or(u128 a, u128 b) {\n"
     "  return wide(a.high | b.high, a.low | b.low);\n}\n"},
    {"wide_xor", "wide",
     "static u128 wide_xor(u128 a, u128 b) {\n"
     "  return wide(a.high ^ b.high, a.low ^ b.low);\n}\n"},
    {"wide_shl", "wide",
     "static u128 wide_shl(u128 x, u128 by) {\n"
     "  unsigned n = (unsigned)by.low & 127u;\n"
     "  if (n >= 64)\n    return wide(x.low << (n - 64), 0);\n"
     "  return n ? wide(x.high << n | x.low >> (64 - n), x.low << n) : x;\n"
     "}\n"},
    {"wide_lshr", "wide",
     "static u128 wide_lshr(u128 x, u128 by) {\n"
     "  unsigned n = (unsigned)by.low & 127u;\n"
     "  if (n >= 64)\n    return wide(0, x.high >> (n - 64));\n"
     "  return n ? wide(x.high >> n, x.low >> n | x.high << (64 - n)) : x;\n"
     "}\n"},
    {"wide_mul", "wide",
     "static u128 wide_mul(u128 a, u128 b) {\n"
     "  uint64_t al = (uint32_t)a.low, ah = a.low >> 32;\n"
     "  uint64_t bl = (uint32_t)b.low, bh = b.low >> 32;\n"
     "  uint64_t low = al * bl, middle = ah * bl + (low >> 32);\n"
     "  uint64_t other = al * bh + (uint32_t)middle;\n"
     "  return wide(ah * bh + (middle >> 32) + (other >> 32) +\n"
     "                  a.high * b.low + a.low * b.high,\n"
     "              other << 32 | (uint32_t)low);\n}\n"},
    {"wide_ult", "wide",
     "static int wide_ult(u128 a, u128 b) {\n"
     "  return a.high < b.high || (a.high == b.high && a.low < b.low);\n}\n"},
    {"wide_eq", "wide",
     "static int wide_eq(u128 a, u128 b) {\n"
     "  return a.high == b.high && a.low == b.low;\n}\n"},
};

const Helper *find(StringRef name) {
  for (const Helper &helper : helpers)
    if (name == helper.name)
      return &helper;
  return nullptr;
}

/// Words of one letter in capitals.
std::string replaceWords(StringRef text, StringRef kind) {
  StringRef bits = kind.drop_front(kind == "ptr" ? 3 : 1);
  std::string type = kind == "f32"   ? "float"
                     : kind == "f64" ? "double"
                     : kind == "ptr" ? "ptr"
                                     : ("uint" + bits + "_t").str();
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    bool isWord =
        (i == 0 || !isAlnum(text[i - 1])) &&
        (i + 1 == text.size() || (!isAlnum(text[i + 1]) && text[i + 1] != '_'));
    char c = isWord ? text[i] : 0;
    if (c == 'K')
      result += kind;
    else if (c == 'T')
      result += type;
    else if (c == 'U')
      result += ("uint" + bits + "_t").str();
    else if (c == 'S')
      result += ("int" + bits + "_t").str();
    else if (c == 'N')
      result += bits;
    else
      result += text[i];
  }
  return result;
}
} // namespace

std::string Helpers::use(StringRef name, StringRef type) {
  const Helper *helper = find(name);
  if (!helper)
    return "";
  bool isTyped = StringRef(helper->text).contains("_K(");
  std::string full = isTyped ? (name + "_" + type).str() : name.str();
  if (!done.insert(full).second)
    return full;
  SmallVector<StringRef> needs;
  StringRef(helper->needs).split(needs, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef need : needs)
    use(need, type);
  text += isTyped ? replaceWords(helper->text, type) : helper->text;
  return full;
}

#include "runtime/device/cpu/features.h"

#include <cstdint>
#include <cstdio>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__linux__)
#include <sys/auxv.h>
#endif

namespace alula::runtime {
namespace {

struct Feature {
  const char *name;
  bool (*has)();
};

#if defined(__x86_64__)

enum Register { eax, ebx, ecx, edx };

bool hasBit(uint32_t leaf, uint32_t subleaf, Register reg, int bit) {
  uint32_t regs[4];
  return __get_cpuid_count(leaf, subleaf, &regs[0], &regs[1], &regs[2],
                           &regs[3]) &&
         (regs[reg] >> bit & 1);
}

/// Whether the system saves the registers in this mask of XCR0.
bool isSaved(uint64_t mask) {
  if (!hasBit(1, 0, ecx, 27))
    return false;
  uint32_t low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return ((uint64_t(high) << 32 | low) & mask) == mask;
}

constexpr uint64_t none = 0, ymm = 0x6, zmm = 0xE6, tiles = 0x60000;

#define F(name, leaf, subleaf, reg, bit, state)                                \
  {name, [] {                                                                  \
     return hasBit(leaf, subleaf, reg, bit) &&                                 \
            (state == none || isSaved(state));                                 \
   }},
constexpr Feature features[] = {
    F("x87", 1, 0, edx, 0, none) F("cx8", 1, 0, edx, 8, none) F(
        "cmov", 1, 0, edx, 15, none) F("mmx", 1, 0, edx, 23, none)
        F("fxsr", 1, 0, edx, 24, none) F("sse", 1, 0, edx, 25, none) F(
            "sse2", 1, 0, edx, 26, none) F("sse3", 1, 0, ecx, 0, none)
            F("pclmul", 1, 0, ecx, 1, none) F("ssse3", 1, 0, ecx, 9, none) F(
                "fma", 1,
                0, ecx,
                12, ymm) F("cx16", 1, 0, ecx, 13, none)
                F("sse4.1", 1, 0, ecx, 19, none) F(
                    "sse4.2",
                    1, 0,
                    ecx, 20, none) F("movbe", 1, 0, ecx, 22, none)
                    F("popcnt", 1, 0, ecx, 23, none) F(
                        "aes", 1,
                        0,
                        ecx, 25, none) F("xsave", 1, 0, ecx, 26, none)
                        F("avx", 1, 0, ecx, 28,
                          ymm) F("f16c", 1, 0, ecx, 29,
                                 ymm) F("bmi", 7, 0, ebx, 3, none)
                            F("avx2", 7, 0, ebx, 5, ymm) F(
                                "bmi2",
                                7, 0,
                                ebx,
                                8, none) F("avx512f", 7, 0, ebx, 16, zmm)
                                F("avx512dq", 7, 0, ebx, 17,
                                  zmm) F("avx512ifma", 7, 0, ebx, 21,
                                         zmm) F("avx512cd", 7, 0, ebx, 28, zmm)
                                    F("avx512bw", 7, 0, ebx, 30, zmm) F(
                                        "avx512vl",
                                        7, 0,
                                        ebx,
                                        31,
                                        zmm) F("avx512vbmi", 7, 0, ecx, 1, zmm)
                                        F("avx512vbmi2", 7, 0, ecx, 6, zmm) F(
                                            "gfni",
                                            7, 0,
                                            ecx,
                                            8,
                                            none) F("vaes", 7, 0, ecx, 9, ymm)
                                            F("vpclmulqdq", 7, 0, ecx, 10,
                                              ymm) F("avx512vnni", 7, 0, ecx,
                                                     11, zmm)
                                                F("avx512bitalg", 7, 0, ecx, 12,
                                                  zmm) F("avx512vpopcntdq",
                                                         7, 0, ecx, 14, zmm)
                                                    F("amx-bf16", 7, 0, edx, 22,
                                                      tiles) F("avx512fp16", 7,
                                                               0,
                                                               edx, 23, zmm)
                                                        F("amx-tile", 7, 0, edx,
                                                          24,
                                                          tiles) F("amx-int8",
                                                                   7, 0,
                                                                   edx, 25,
                                                                   tiles)
                                                            F("avxvnni", 7, 1,
                                                              eax, 4,
                                                              ymm) F("avx512bf1"
                                                                     "6",
                                                                     7, 1, eax,
                                                                     5, zmm)
                                                                F("sahf",
                                                                  0x80000001, 0,
                                                                  ecx, 0, none)
                                                                    F("lzcnt",
                                                                      0x80000001,
                                                                      0, ecx, 5,
                                                                      none)};
#undef F

#elif defined(__aarch64__)

#if defined(__linux__)
/// Bits of the kernel's AT_HWCAP and AT_HWCAP2.
#define F(name, word, bit)                                                     \
  {name, [] { return (getauxval(word) >> bit & 1) != 0; }},
constexpr Feature features[] = {
    F("fp-armv8", AT_HWCAP, 0) F("neon", AT_HWCAP, 1) F("crc", AT_HWCAP, 7)
        F("lse", AT_HWCAP, 8) F("fullfp16", AT_HWCAP, 10) F("rdm", AT_HWCAP, 12)
            F("dotprod", AT_HWCAP, 20) F("fp16fml", AT_HWCAP, 23)
                F("sve", AT_HWCAP, 22) F("sve2", AT_HWCAP2, 1)
                    F("i8mm", AT_HWCAP2, 13) F("bf16", AT_HWCAP2, 14)};
#undef F
#else
constexpr Feature features[] = {{"fp-armv8", [] { return true; }},
                                {"neon", [] { return true; }}};
#endif

#elif defined(__riscv) && defined(__linux__)

/// AT_HWCAP has one bit for each single-letter extension.
#define F(name)                                                                \
  {name, [] { return (getauxval(AT_HWCAP) >> (*name - 'a') & 1) != 0; }},
constexpr Feature features[] = {F("a") F("c") F("d") F("f") F("i") F("m")
                                    F("v")};
#undef F

#else

constexpr Feature features[] = {{"", [] { return false; }}};

#endif

} // namespace

const char *getHostTarget() {
#if defined(__x86_64__)
  return "x86_64";
#elif defined(__aarch64__)
  return "aarch64";
#elif defined(__riscv) && __riscv_xlen == 64
  return "riscv64";
#else
  return "";
#endif
}

bool hasFeature(const char *name) {
  for (const Feature &feature : features)
    if (strcmp(feature.name, name) == 0)
      return feature.has();
  return false;
}

void listFeatures(char *text, size_t size) {
  size_t used = 0;
  text[0] = 0;
  for (const Feature &feature : features) {
    if (!feature.has())
      continue;
    int more = snprintf(text + used, size - used, "%s%s", used ? " " : "",
                        feature.name);
    if (more < 0 || size_t(more) >= size - used)
      return;
    used += size_t(more);
  }
}

const char *getBestMachine() {
#if defined(__x86_64__)
  // What each level has more than the one below it.
  static const struct {
    const char *name, *features[10];
  } levels[] = {
      {"x86-64-v2",
       {"cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"}},
      {"x86-64-v3",
       {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"}},
      {"x86-64-v4",
       {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"}},
  };
  const char *best = "x86-64";
  for (const auto &level : levels) {
    for (const char *feature : level.features)
      if (feature && !hasFeature(feature))
        return best;
    best = level.name;
  }
  return best;
#else
  return getHostTarget();
#endif
}

} // namespace alula::runtime

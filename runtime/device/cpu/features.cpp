#include "runtime/device/cpu/features.h"

#include <atomic>
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
  uint8_t word, bit;
  /// What the system must save of the registers.
  uint32_t states;
};

#if defined(__x86_64__)

constexpr uint32_t none = 0, ymm = 0x6, zmm = 0xE6, tiles = 0x60000;

constexpr Feature features[] = {
    {"x87", Processor::edx1, 0, none},
    {"cx8", Processor::edx1, 8, none},
    {"cmov", Processor::edx1, 15, none},
    {"mmx", Processor::edx1, 23, none},
    {"fxsr", Processor::edx1, 24, none},
    {"sse", Processor::edx1, 25, none},
    {"sse2", Processor::edx1, 26, none},
    {"sse3", Processor::ecx1, 0, none},
    {"pclmul", Processor::ecx1, 1, none},
    {"ssse3", Processor::ecx1, 9, none},
    {"fma", Processor::ecx1, 12, ymm},
    {"cx16", Processor::ecx1, 13, none},
    {"sse4.1", Processor::ecx1, 19, none},
    {"sse4.2", Processor::ecx1, 20, none},
    {"movbe", Processor::ecx1, 22, none},
    {"popcnt", Processor::ecx1, 23, none},
    {"aes", Processor::ecx1, 25, none},
    {"xsave", Processor::ecx1, 26, none},
    {"avx", Processor::ecx1, 28, ymm},
    {"f16c", Processor::ecx1, 29, ymm},
    {"bmi", Processor::ebx7, 3, none},
    {"avx2", Processor::ebx7, 5, ymm},
    {"bmi2", Processor::ebx7, 8, none},
    {"avx512f", Processor::ebx7, 16, zmm},
    {"avx512dq", Processor::ebx7, 17, zmm},
    {"avx512ifma", Processor::ebx7, 21, zmm},
    {"avx512cd", Processor::ebx7, 28, zmm},
    {"avx512bw", Processor::ebx7, 30, zmm},
    {"avx512vl", Processor::ebx7, 31, zmm},
    {"avx512vbmi", Processor::ecx7, 1, zmm},
    {"avx512vbmi2", Processor::ecx7, 6, zmm},
    {"gfni", Processor::ecx7, 8, none},
    {"vaes", Processor::ecx7, 9, ymm},
    {"vpclmulqdq", Processor::ecx7, 10, ymm},
    {"avx512vnni", Processor::ecx7, 11, zmm},
    {"avx512bitalg", Processor::ecx7, 12, zmm},
    {"avx512vpopcntdq", Processor::ecx7, 14, zmm},
    {"amx-bf16", Processor::edx7, 22, tiles},
    {"avx512fp16", Processor::edx7, 23, zmm},
    {"amx-tile", Processor::edx7, 24, tiles},
    {"amx-int8", Processor::edx7, 25, tiles},
    {"avxvnni", Processor::eax7Of1, 4, ymm},
    {"avx512bf16", Processor::eax7Of1, 5, zmm},
    {"sahf", Processor::ecxExtended, 0, none},
    {"lzcnt", Processor::ecxExtended, 5, none},
};

#elif defined(__aarch64__)

#if defined(__linux__)
constexpr Feature features[] = {
    {"fp-armv8", 0, 0, 0}, {"neon", 0, 1, 0},      {"crc", 0, 7, 0},
    {"lse", 0, 8, 0},      {"fullfp16", 0, 10, 0}, {"rdm", 0, 12, 0},
    {"dotprod", 0, 20, 0}, {"fp16fml", 0, 23, 0},  {"sve", 0, 22, 0},
    {"sve2", 1, 1, 0},     {"i8mm", 1, 13, 0},     {"bf16", 1, 14, 0},
};
#else
constexpr Feature features[] = {{"fp-armv8", 0, 0, 0}, {"neon", 0, 1, 0}};
#endif

#elif defined(__riscv) && defined(__linux__)

/// AT_HWCAP has one bit for each single-letter extension.
constexpr Feature features[] = {
    {"a", 0, 0, 0},         {"c", 0, 'c' - 'a', 0}, {"d", 0, 'd' - 'a', 0},
    {"f", 0, 'f' - 'a', 0}, {"i", 0, 'i' - 'a', 0}, {"m", 0, 'm' - 'a', 0},
    {"v", 0, 'v' - 'a', 0},
};

#else

constexpr Feature features[] = {{"", 1, 31, 0}};

#endif

bool has(const Processor &processor, const Feature &feature) {
  return (processor.words[feature.word] >> feature.bit & 1) &&
         (processor.savedStates & feature.states) == feature.states;
}

Processor askProcessor() {
  Processor processor = {};
#if defined(__x86_64__)
  uint32_t a, b, c, d;
  uint32_t *words = processor.words;
  if (__get_cpuid(1, &a, &b, &words[Processor::ecx1],
                  &words[Processor::edx1]) &&
      (words[Processor::ecx1] >> 27 & 1)) {
    uint32_t low, high;
    asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    processor.savedStates = uint64_t(high) << 32 | low;
  }
  // How many subleaves there are comes with the first.
  if (__get_cpuid_count(7, 0, &a, &words[Processor::ebx7],
                        &words[Processor::ecx7], &words[Processor::edx7]) &&
      a >= 1)
    __get_cpuid_count(7, 1, &words[Processor::eax7Of1], &b, &c, &d);
  __get_cpuid(0x80000001, &a, &b, &words[Processor::ecxExtended], &d);
#elif defined(__linux__)
  processor.words[0] = uint32_t(getauxval(AT_HWCAP));
  processor.words[1] = uint32_t(getauxval(AT_HWCAP2));
#else
  processor.words[0] = 3;
#endif
  return processor;
}

} // namespace

Processor getProcessor() {
  // A hypervisor takes as long to answer as loading a small program does. Who
  // asks at the same time hears the same.
  static std::atomic<uint32_t> words[Processor::wordCount];
  static std::atomic<uint64_t> savedStates;
  static std::atomic<bool> isKnown;
  Processor processor;
  if (!isKnown.load(std::memory_order_acquire)) {
    processor = askProcessor();
    for (unsigned i = 0; i < Processor::wordCount; ++i)
      words[i].store(processor.words[i], std::memory_order_relaxed);
    savedStates.store(processor.savedStates, std::memory_order_relaxed);
    isKnown.store(true, std::memory_order_release);
    return processor;
  }
  for (unsigned i = 0; i < Processor::wordCount; ++i)
    processor.words[i] = words[i].load(std::memory_order_relaxed);
  processor.savedStates = savedStates.load(std::memory_order_relaxed);
  return processor;
}

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

bool hasFeature(const Processor &processor, const char *name) {
  for (const Feature &feature : features)
    if (strcmp(feature.name, name) == 0)
      return has(processor, feature);
  return false;
}

void listFeatures(const Processor &processor, char *text, size_t size) {
  size_t used = 0;
  text[0] = 0;
  for (const Feature &feature : features) {
    if (!has(processor, feature))
      continue;
    int more = snprintf(text + used, size - used, "%s%s", used ? " " : "",
                        feature.name);
    if (more < 0 || size_t(more) >= size - used)
      return;
    used += size_t(more);
  }
}

const char *getBestMachine(const Processor &processor) {
#if defined(__x86_64__)
  // What each level has more than the one below it.
  static const struct {
    const char *name, *features[10];
  } levels[] = {
      {"x86-64-v2",
       {"cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"}},
      {"x86-64-v3",
       {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe",
        "xsave"}},
      {"x86-64-v4",
       {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"}},
  };
  const char *best = "x86-64";
  for (const auto &level : levels) {
    for (const char *feature : level.features)
      if (feature && !hasFeature(processor, feature))
        return best;
    best = level.name;
  }
  return best;
#else
  (void)processor;
  return getHostTarget();
#endif
}

} // namespace alula::runtime

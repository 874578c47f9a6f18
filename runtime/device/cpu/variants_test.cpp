// The variant that each of many processors runs, by what CPUID answers there:
// qemu, which runtime/conformance/test_processors.py asks, knows no AVX-512.

#include "runtime/device/cpu/variants.h"

#include "artifact/writer.h"

#include "gtest/gtest.h"

#if defined(__x86_64__)
#include <cpuid.h>

using namespace alula;
using namespace alula::runtime;

namespace {

/// All variants that the compiler knows for x86-64, best first.
std::string makeArtifact() {
  artifact::ArtifactWriter file;
  file.addKernel({"k", {ALULA_ACCESS_READ, ALULA_ACCESS_WRITE}, 0, 0});
  auto add = [&](const char *name, std::vector<std::string> features) {
    file.addVariant({name,
                     "x86_64",
                     std::move(features),
                     ALULA_IMAGE_RAW,
                     std::string(8, 'k'),
                     {0}});
  };
  std::vector<std::string> v1 = {"cmov", "cx8",  "fxsr", "mmx",
                                 "sse",  "sse2", "x87"};
  auto with = [](std::vector<std::string> list,
                 std::initializer_list<const char *> more) {
    list.insert(list.end(), more.begin(), more.end());
    return list;
  };
  auto v2 =
      with(v1, {"cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"});
  auto v3 = with(v2, {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt",
                      "movbe", "xsave"});
  auto v4 =
      with(v3, {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"});
  add("x86-64-v4-bf16", with(v4, {"avx512vnni", "avx512bf16"}));
  add("x86-64-v4-vnni", with(v4, {"avx512vnni"}));
  add("x86-64-v4", v4);
  add("x86-64-v3-vnni", with(v3, {"avxvnni"}));
  add("x86-64-v3", v3);
  add("x86-64-v2", v2);
  add("x86-64", v1);
  artifact::Diagnostic diagnostic;
  return file.finish(diagnostic);
}

struct Named {
  const char *name;
  Processor processor;
  const char *best;
};

constexpr uint64_t sse = 3, avx = 7, avx512 = 0xE7, amx = 0x600E7;

// Words of CPUID by generation, each with what it has more than one before it.
// The bits are those of the compiler's cpuid.h, not of the table under test.
constexpr uint32_t edx1 =
    1 | bit_CMPXCHG8B | bit_CMOV | bit_MMX | bit_FXSAVE | bit_SSE | bit_SSE2;
constexpr uint32_t core2 = bit_SSE3 | bit_SSSE3 | bit_CMPXCHG16B | bit_SSE41;
constexpr uint32_t nehalem = core2 | bit_SSE42 | bit_POPCNT;
constexpr uint32_t westmere = nehalem | bit_AESNI | bit_PCLMULQDQ;
constexpr uint32_t sandyBridge = westmere | bit_XSAVE | bit_OSXSAVE | bit_AVX;
constexpr uint32_t ivyBridge = sandyBridge | bit_F16C;
constexpr uint32_t haswell = ivyBridge | bit_FMA | bit_MOVBE;
constexpr uint32_t haswell7 = bit_BMI | bit_AVX2 | bit_BMI2;
constexpr uint32_t skylakeX7 = haswell7 | bit_AVX512F | bit_AVX512DQ |
                               bit_AVX512CD | bit_AVX512BW | bit_AVX512VL;
constexpr uint32_t cannonLake7 = skylakeX7 | bit_AVX512IFMA;
constexpr uint32_t iceLakeC = bit_AVX512VBMI | bit_AVX512VBMI2 | bit_GFNI |
                              bit_VAES | bit_VPCLMULQDQ | bit_AVX512VNNI |
                              bit_AVX512BITALG | bit_AVX512VPOPCNTDQ;
constexpr uint32_t zen3C = bit_VAES | bit_VPCLMULQDQ;
constexpr uint32_t alderLakeC = zen3C | bit_GFNI;
constexpr uint32_t sapphireD =
    bit_AMXBF16 | bit_AMXTILE | bit_AMXINT8 | bit_AVX512FP16;
constexpr uint32_t sahf = bit_LAHF_LM, lzcnt = bit_LAHF_LM | bit_ABM;
constexpr uint32_t vnni1 = bit_AVXVNNI, bf161 = bit_AVX512BF16;

// edx1, ecx1, ebx7, ecx7, edx7, eax7Of1, ecxExtended; XCR0
const Named processors[] = {
    {"K8", {{edx1, bit_SSE3 | bit_CMPXCHG16B, 0, 0, 0, 0, sahf}, 0}, "x86-64"},
    {"Core 2", {{edx1, core2, 0, 0, 0, 0, sahf}, 0}, "x86-64"},
    {"Nehalem", {{edx1, nehalem, 0, 0, 0, 0, sahf}, 0}, "x86-64-v2"},
    {"Westmere", {{edx1, westmere, 0, 0, 0, 0, sahf}, 0}, "x86-64-v2"},
    {"Goldmont",
     {{edx1, westmere | bit_MOVBE | bit_XSAVE | bit_OSXSAVE, 0, 0, 0, 0, sahf},
      sse},
     "x86-64-v2"},
    {"Sandy Bridge", {{edx1, sandyBridge, 0, 0, 0, 0, sahf}, avx}, "x86-64-v2"},
    {"Ivy Bridge", {{edx1, ivyBridge, 0, 0, 0, 0, sahf}, avx}, "x86-64-v2"},
    {"Piledriver",
     {{edx1, ivyBridge | bit_FMA, bit_BMI, 0, 0, 0, lzcnt}, avx},
     "x86-64-v2"},
    {"Haswell", {{edx1, haswell, haswell7, 0, 0, 0, lzcnt}, avx}, "x86-64-v3"},
    {"Skylake", {{edx1, haswell, haswell7, 0, 0, 0, lzcnt}, avx}, "x86-64-v3"},
    {"Knights Landing",
     {{edx1, haswell, haswell7 | bit_AVX512F | bit_AVX512CD, 0, 0, 0, lzcnt},
      avx512},
     "x86-64-v3"},
    {"Zen", {{edx1, haswell, haswell7, 0, 0, 0, lzcnt}, avx}, "x86-64-v3"},
    {"Zen 3",
     {{edx1, haswell, haswell7, zen3C, 0, 0, lzcnt}, avx},
     "x86-64-v3"},
    {"Alder Lake",
     {{edx1, haswell, haswell7, alderLakeC, 0, vnni1, lzcnt}, avx},
     "x86-64-v3-vnni"},
    {"Skylake-X",
     {{edx1, haswell, skylakeX7, 0, 0, 0, lzcnt}, avx512},
     "x86-64-v4"},
    {"Cannon Lake",
     {{edx1, haswell, cannonLake7, bit_AVX512VBMI, 0, 0, lzcnt}, avx512},
     "x86-64-v4"},
    {"Cascade Lake",
     {{edx1, haswell, skylakeX7, bit_AVX512VNNI, 0, 0, lzcnt}, avx512},
     "x86-64-v4-vnni"},
    {"Cooper Lake",
     {{edx1, haswell, skylakeX7, bit_AVX512VNNI, 0, bf161, lzcnt}, avx512},
     "x86-64-v4-bf16"},
    {"Ice Lake",
     {{edx1, haswell, cannonLake7, iceLakeC, 0, 0, lzcnt}, avx512},
     "x86-64-v4-vnni"},
    {"Rocket Lake",
     {{edx1, haswell, cannonLake7, iceLakeC, 0, 0, lzcnt}, avx512},
     "x86-64-v4-vnni"},
    {"Sapphire Rapids",
     {{edx1, haswell, cannonLake7, iceLakeC, sapphireD, vnni1 | bf161, lzcnt},
      amx},
     "x86-64-v4-bf16"},
    {"Zen 4",
     {{edx1, haswell, cannonLake7, iceLakeC, 0, bf161, lzcnt}, avx512},
     "x86-64-v4-bf16"},
    {"Zen 5",
     {{edx1, haswell, cannonLake7, iceLakeC, 0, vnni1 | bf161, lzcnt}, avx512},
     "x86-64-v4-bf16"},
    // Systems and hypervisors that keep some of it from programs.
    {"Sapphire Rapids whose system does not save zmm registers",
     {{edx1, haswell, cannonLake7, iceLakeC, sapphireD, vnni1 | bf161, lzcnt},
      avx},
     "x86-64-v3-vnni"},
    {"Zen 4 whose system does not save the upper zmm registers",
     {{edx1, haswell, cannonLake7, iceLakeC, 0, bf161, lzcnt}, 0x67},
     "x86-64-v3"},
    {"Skylake-X whose system saves no ymm registers",
     {{edx1, haswell, skylakeX7, 0, 0, 0, lzcnt}, sse},
     "x86-64-v2"},
    {"Haswell whose CPUID ends before leaf 7",
     {{edx1, haswell, 0, 0, 0, 0, lzcnt}, avx},
     "x86-64-v2"},
    {"Zen 4 without the leaf of LZCNT",
     {{edx1, haswell, cannonLake7, iceLakeC, 0, bf161, sahf}, avx512},
     "x86-64-v2"},
};

class Variants : public testing::TestWithParam<Named> {
protected:
  void SetUp() override {
    bytes = makeArtifact();
    artifact::Diagnostic diagnostic;
    memory.resize(bytes.size() / 8 + 1);
    memcpy(memory.data(), bytes.data(), bytes.size());
    ASSERT_TRUE(artifact::openArtifact(memory.data(), bytes.size(), {}, file,
                                       diagnostic))
        << diagnostic.text;
  }
  const char *getName(uint32_t variant) {
    return file.getString(file.variants[variant].name);
  }
  std::string bytes;
  std::vector<uint64_t> memory;
  artifact::Artifact file;
};

TEST_P(Variants, bestIsTaken) {
  const Processor &processor = GetParam().processor;
  uint32_t found = findVariant(file, processor, nullptr);
  ASSERT_LT(found, file.variants.size);
  EXPECT_STREQ(getName(found), GetParam().best);
  // One that is named is taken if it fits, and no other in its place.
  for (uint32_t i = 0; i < file.variants.size; ++i) {
    bool fits = !findMissing(file, file.variants[i], processor);
    EXPECT_EQ(findVariant(file, processor, getName(i)),
              fits ? i : file.variants.size);
    if (i < found)
      EXPECT_FALSE(fits) << getName(i);
  }
}

TEST_P(Variants, targetThatIsAdvisedFits) {
  // Of the levels alone: the advice names no extras.
  std::string best = GetParam().best;
  best = best.substr(0, best.find('-', strlen("x86-64-")));
  EXPECT_EQ(getBestMachine(GetParam().processor), best);
}

TEST_P(Variants, listNamesWhatThereIs) {
  char text[512];
  listFeatures(GetParam().processor, text, sizeof text);
  std::string list = std::string(" ") + text + " ";
  for (const char *name : {"sse2", "avx2", "avx512f", "avx512bf16", "amx-int8"})
    EXPECT_EQ(list.find(std::string(" ") + name + " ") != std::string::npos,
              hasFeature(GetParam().processor, name));
}

INSTANTIATE_TEST_SUITE_P(Processors, Variants, testing::ValuesIn(processors),
                         [](const testing::TestParamInfo<Named> &info) {
                           std::string name = info.param.name;
                           for (char &c : name)
                             if (!isalnum(c))
                               c = '_';
                           return name;
                         });

TEST(Features, thisMachinesAreCpuids) {
  Processor processor = getProcessor();
  __builtin_cpu_init();
  EXPECT_EQ(hasFeature(processor, "avx2"), __builtin_cpu_supports("avx2") != 0);
  EXPECT_EQ(hasFeature(processor, "avx512vnni"),
            __builtin_cpu_supports("avx512vnni") != 0);
  EXPECT_EQ(hasFeature(processor, "sse4.2"),
            __builtin_cpu_supports("sse4.2") != 0);
  EXPECT_FALSE(hasFeature(processor, "no such thing"));
}

} // namespace
#endif

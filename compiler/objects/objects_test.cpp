// The parts that read what others wrote, on good and on damaged input.

#include "compiler/objects/elf_object.h"
#include "compiler/objects/file_kind.h"
#include "compiler/objects/ptx_text.h"
#include "compiler/objects/target_key.h"

#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>

#include <random>

using namespace alula::objects;

namespace {
std::optional<unsigned> match(const char *text, const TargetKey &key) {
  auto pattern = TargetPattern::parse(text);
  EXPECT_TRUE(bool(pattern)) << text;
  return pattern ? pattern->match(key) : std::nullopt;
}

std::string readSample() {
  auto buffer = llvm::MemoryBuffer::getFile(ALULA_SAMPLE_OBJECT);
  return buffer ? (*buffer)->getBuffer().str() : "";
}

constexpr const char *sampleText = R"(
// a comment with { and .entry
/* another .version 1.0 */
.version 8.4
.target sm_90a, debug
.address_size 64
.extern .func (.param .b32 func_retval0) vprintf (.param .b64 a, .param .b64 b);
.extern .func other (.param .b64 a);
.global .align 1 .b8 $str[3] = {37, 100, 0};
.entry hidden(.param .u64 a) { ret; }
.visible .entry both(
  .param .u64 .ptr .global .align 4 a,
  .param .align 8 .b8 b[16],
  .param .s32 n
)
.maxntid 128, 1, 1
.reqntid 64, 2
{ .reg .b32 %r<2>; { ret; } }
.visible .entry none() { ret; }
)";
} // namespace

TEST(TargetPattern, SaysMore) {
  TargetKey key{"cpu", "x86-64-v3", "x86_64", {"avx2", "fma"}, 32};
  EXPECT_EQ(match("", key), 0u);
  EXPECT_EQ(match("cpu", key), 1u);
  EXPECT_EQ(match("cpu:x86_64", key), 2u);
  EXPECT_EQ(match("cpu:x86-64-v3", key), 3u);
  EXPECT_EQ(match("cpu:x86_64+avx2+fma,vector_bytes=32", key), 5u);
  EXPECT_EQ(match("cuda", key), std::nullopt);
  EXPECT_EQ(match("cpu:aarch64", key), std::nullopt);
  EXPECT_EQ(match("cpu+avx512f", key), std::nullopt);
  EXPECT_EQ(match("cpu,vector_bytes=64", key), std::nullopt);
}

TEST(Ptx, IsReadWithItsComments) {
  Problems problems;
  PtxText text = readPtx(sampleText, problems);
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(text.major, 8u);
  EXPECT_EQ(text.minor, 4u);
  EXPECT_EQ(text.target, "sm_90a");
  EXPECT_EQ(text.addressBits, 64u);
  EXPECT_EQ(text.externs, (std::vector<std::string>{"vprintf", "other"}));
  ASSERT_EQ(text.entries.size(), 2u);
  const PtxEntry &both = text.entries["both"];
  EXPECT_EQ(both.parameters, (std::vector<std::string>{"u64", "bytes", "s32"}));
  EXPECT_EQ(both.block, (std::array<int64_t, 3>{64, 2, 1}));
  EXPECT_TRUE(text.entries["none"].parameters.empty());
}

TEST(Ptx, DevicesThatRunIt) {
  auto fits = [](const char *target, const char *device) {
    PtxText text;
    text.addressBits = 64;
    text.target = target;
    Problems problems;
    checkPtx(text, device, problems);
    return problems.empty();
  };
  EXPECT_TRUE(fits("sm_80", "sm_90"));
  EXPECT_FALSE(fits("sm_100", "sm_90"));
  // a: this device alone; f: its family.
  EXPECT_TRUE(fits("sm_90a", "sm_90a"));
  EXPECT_FALSE(fits("sm_90a", "sm_100a"));
  EXPECT_TRUE(fits("sm_100f", "sm_103"));
  EXPECT_FALSE(fits("sm_100f", "sm_120"));
  EXPECT_FALSE(fits("", "sm_90"));
}

TEST(Ptx, TruncatedAnywhere) {
  std::string good = sampleText;
  for (size_t size = 0; size < good.size(); ++size) {
    Problems problems;
    PtxText text = readPtx(llvm::StringRef(good).take_front(size), problems);
    PtxWish wish{"both", 1, 2, std::nullopt};
    checkPtx(text, "sm_90", problems);
    checkPtxEntry(text, wish, problems);
    EXPECT_FALSE(problems.empty()) << size;
  }
}

TEST(ElfObject, OtherNames) {
  std::string bytes = readSample();
  std::string architecture = getArchitecture(bytes);
  Problems problems;
  ElfSymbols symbols = checkElfObject(bytes, architecture, problems);
  ASSERT_TRUE(symbols.functions.count("look_up"));
  EXPECT_TRUE(symbols.undefined.count("scale"));
  llvm::StringMap<std::string> names;
  names["look_up"] = "main_0";
  names["scale"] = "scale.main_0";
  auto renamed = renameSymbols(bytes, names);
  ASSERT_TRUE(bool(renamed));
  ElfSymbols again = checkElfObject(*renamed, architecture, problems);
  EXPECT_TRUE(again.functions.count("main_0"));
  EXPECT_FALSE(again.functions.count("look_up"));
  EXPECT_TRUE(again.undefined.count("scale.main_0"));
  EXPECT_FALSE(again.undefined.count("scale"));
}

TEST(ElfObject, AnyDamage) {
  const std::string good = readSample();
  ASSERT_FALSE(good.empty());
  std::mt19937 random(1);
  int survivors = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = good;
    for (unsigned n = random() % 4 + 1; n; --n)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    if (i % 8 == 0)
      bytes.resize(random() % bytes.size());
    (void)describeFile(bytes);
    (void)inferPattern(bytes);
    Problems problems;
    ElfSymbols symbols = checkElfObject(bytes, "x86_64", problems);
    if (!problems.empty())
      continue;
    ++survivors;
    llvm::StringMap<std::string> names;
    for (const std::string &name : symbols.defined)
      names[name] = name + ".x";
    auto renamed = renameSymbols(bytes, names);
    if (!renamed)
      llvm::consumeError(renamed.takeError());
  }
  // Most places of a file don't matter.
  EXPECT_GT(survivors, 5000);
}

// What LLVM calls by name in images that stand alone: which it is, and what it
// computes on an x86 without the instructions.

#include "compiler/target/cpu/library.h"
#include "compiler/target/cpu/link_image.h"
#include "compiler/target/cpu/test_kernels.h"
#include "compiler/target/cpu/verify_image.h"

#include "llvm/BinaryFormat/ELF.h"
#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <random>
#include <unistd.h>

using namespace alula::cpu;

namespace {
constexpr const char *callsMemory = R"(
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
define void @kernel(ptr %out, i64 %n) {
  call void @llvm.memset.p0.i64(ptr %out, i8 7, i64 %n, i1 false)
  ret void
})";

/// Functions of numbers that LLVM calls by name where there is no instruction.
std::string makeBuiltinCalls() {
  std::string ir;
  struct Type {
    const char *ir, *suffix;
  };
  for (auto [type, suffix] : {Type{"float", "f32"}, Type{"double", "f64"}}) {
    std::string t = type, s = suffix;
    for (std::string name :
         {"floor", "ceil", "trunc", "rint", "nearbyint", "round", "roundeven"})
      ir += "declare " + t + " @llvm." + name + "." + s + "(" + t +
            ")\ndefine " + t + " @" + name + "_" + s + "(" + t +
            " %x) {\n  %r = call " + t + " @llvm." + name + "." + s + "(" + t +
            " %x)\n  ret " + t + " %r\n}\n";
    ir += "declare " + t + " @llvm.fma." + s + "(" + t + ", " + t + ", " + t +
          ")\ndefine " + t + " @fma_" + s + "(" + t + " %x, " + t + " %y, " +
          t + " %z) {\n  %r = call " + t + " @llvm.fma." + s + "(" + t +
          " %x, " + t + " %y, " + t + " %z)\n  ret " + t + " %r\n}\n";
    ir += "define " + t + " @rem_" + s + "(" + t + " %x, " + t +
          " %y) {\n  %r = frem " + t + " %x, %y\n  ret " + t + " %r\n}\n";
    for (std::string small : {"half", "bfloat"})
      ir += "define i32 @" + small + "_" + s + "(" + t +
            " %x) {\n  %h = fptrunc " + t + " %x to " + small +
            "\n  %b = bitcast " + small +
            " %h to i16\n  %r = zext i16 %b to i32\n  ret i32 %r\n}\n";
  }
  return ir + R"(
define float @widen(i32 %x) {
  %c = trunc i32 %x to i16
  %h = bitcast i16 %c to half
  %r = fpext half %h to float
  ret float %r
}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
define void @copy(ptr %to, ptr %from, i64 %n) {
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %n, i1 false)
  ret void
}
define void @move(ptr %to, ptr %from, i64 %n) {
  call void @llvm.memmove.p0.p0.i64(ptr %to, ptr %from, i64 %n, i1 false)
  ret void
})";
}

std::vector<std::string> getBuiltinEntries() {
  std::vector<std::string> entries = {"widen", "copy", "move"};
  for (std::string suffix : {"_f32", "_f64"})
    for (std::string name :
         {"floor", "ceil", "trunc", "rint", "nearbyint", "round", "roundeven",
          "fma", "rem", "half", "bfloat"})
      entries.push_back(name + suffix);
  return entries;
}

llvm::Expected<std::string> makeBuiltinImage(const Machine &machine) {
  auto object = compile(makeBuiltinCalls().c_str(), machine);
  if (!object)
    return object.takeError();
  auto undefined = findUndefined(*object);
  if (!undefined)
    return undefined.takeError();
  auto builtins = getBuiltinsObject(machine, *undefined);
  if (!builtins)
    return builtins.takeError();
  return linkImage({*object, *builtins}, getBuiltinEntries(), machine);
}
} // namespace

TEST(Builtins, AreLinkedWithoutWhatIsNotCalled) {
  for (const char *name : everyMachine) {
    Machine machine = llvm::cantFail(findMachine(name));
    auto object = compile(callsMemory, machine);
    ASSERT_TRUE(bool(object)) << toText(object.takeError());
    auto undefined = findUndefined(*object);
    ASSERT_TRUE(bool(undefined)) << toText(undefined.takeError());
    EXPECT_EQ(*undefined, std::vector<std::string>{"memset"}) << name;
    auto builtins = getBuiltinsObject(machine, *undefined);
    ASSERT_TRUE(bool(builtins)) << toText(builtins.takeError());
    auto image = linkImage({*object, *builtins}, {"kernel"}, machine);
    ASSERT_TRUE(bool(image)) << name << ": " << toText(image.takeError());
    EXPECT_LT(image->size(), 4096u) << name;
  }
}

TEST(Image, IsWhatArtifactsCarry) {
  auto image = makeBuiltinImage(llvm::cantFail(findMachine("x86-64")));
  ASSERT_TRUE(bool(image)) << toText(image.takeError());
  std::vector<std::string> entries = getBuiltinEntries();
  EXPECT_EQ(toText(verifyImage(*image, entries)), "");
  EXPECT_EQ(toText(verifyImage(*image, {"other"})),
            "image of kernels: has no function 'other'");
  EXPECT_NE(toText(verifyImage("garbage", entries)), "");
  EXPECT_NE(toText(verifyImage(image->substr(0, 100), entries)), "");

  using namespace llvm::ELF;
  auto *header = reinterpret_cast<Elf64_Ehdr *>(image->data());
  auto *segments = reinterpret_cast<Elf64_Phdr *>(image->data() + header->e_phoff);
  auto change = [&](auto isWanted, auto &&apply) {
    std::string copy = *image;
    auto *changed = reinterpret_cast<Elf64_Phdr *>(copy.data() + header->e_phoff);
    for (unsigned i = 0; i < header->e_phnum; ++i)
      if (isWanted(segments[i]))
        apply(copy, changed[i]);
    return toText(verifyImage(copy, entries));
  };
  auto isDynamic = [](Elf64_Phdr &s) { return s.p_type == PT_DYNAMIC; };
  EXPECT_EQ(change([](Elf64_Phdr &s) { return s.p_type == PT_LOAD; },
                   [](std::string &, Elf64_Phdr &s) {
                     s.p_flags = PF_R | PF_W | PF_X;
                   }),
            "image of kernels: has memory that is written and run");
  EXPECT_EQ(change(isDynamic,
                   [](std::string &, Elf64_Phdr &s) { s.p_type = PT_INTERP; }),
            "image of kernels: wants a loader of its own");
  EXPECT_EQ(change(isDynamic,
                   [](std::string &copy, Elf64_Phdr &s) {
                     // The tag of the first entry.
                     Elf64_Sxword needed = DT_NEEDED;
                     memcpy(copy.data() + s.p_offset, &needed, sizeof needed);
                   }),
            "image of kernels: needs another library");

  std::string missing = *image;
  auto *sections =
      reinterpret_cast<Elf64_Shdr *>(missing.data() + header->e_shoff);
  for (unsigned i = 0; i < header->e_shnum; ++i)
    if (sections[i].sh_type == SHT_DYNSYM)
      reinterpret_cast<Elf64_Sym *>(missing.data() + sections[i].sh_offset)[1]
          .st_shndx = SHN_UNDEF;
  EXPECT_EQ(toText(verifyImage(missing, entries)).rfind("image of kernels: needs '", 0),
            0u);
}

namespace {
/// The builtins as kernels of the oldest machine call them.
class OldMachine : public ::testing::Test {
protected:
  void SetUp() override {
#ifndef __x86_64__
    GTEST_SKIP() << "the images are for x86-64";
#endif
    auto image = makeBuiltinImage(llvm::cantFail(findMachine("x86-64")));
    ASSERT_TRUE(bool(image)) << toText(image.takeError());
    std::string path = ::testing::TempDir() + "alula-builtins-XXXXXX";
    int file = mkstemp(path.data());
    ASSERT_EQ(write(file, image->data(), image->size()),
              ssize_t(image->size()));
    close(file);
    handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    unlink(path.c_str());
    ASSERT_TRUE(handle) << dlerror();
  }
  void TearDown() override {
    if (handle)
      dlclose(handle);
  }
  template <typename F> F *find(const std::string &name) {
    return reinterpret_cast<F *>(dlsym(handle, name.c_str()));
  }
  void *handle = nullptr;
  std::mt19937_64 random;

  /// Any code, or a number of ordinary size, or next to another one's size.
  double draw(double near = 1) {
    uint64_t bits = random();
    switch (bits % 3) {
    case 0:
      return std::bit_cast<double>(random());
    case 1:
      return std::ldexp(double(int64_t(random())) * 0x1p-60,
                        int(random() % 60) - 30);
    default:
      return near * (double(int64_t(random())) * 0x1p-62);
    }
  }
};

template <typename T> bool isSame(T a, T b) {
  return (std::isnan(a) && std::isnan(b)) ||
         (a == b && std::signbit(a) == std::signbit(b));
}
} // namespace

TEST(Builtins, HoldAllThatIsCalled) {
  for (const char *name : everyMachine) {
    auto image = makeBuiltinImage(llvm::cantFail(findMachine(name)));
    EXPECT_TRUE(bool(image)) << name << ": " << toText(image.takeError());
  }
}

TEST_F(OldMachine, RoundsToIntegers) {
  using F64 = double(double);
  using F32 = float(float);
  struct {
    const char *name;
    F64 *expected64;
    F32 *expected32;
  } rows[] = {{"floor", std::floor, std::floor},
              {"ceil", std::ceil, std::ceil},
              {"trunc", std::trunc, std::trunc},
              {"rint", std::rint, std::rint},
              {"nearbyint", std::nearbyint, std::nearbyint},
              {"round", std::round, std::round},
              {"roundeven", std::nearbyint, std::nearbyint}};
  std::vector<double> inputs = {
      0.0,       -0.0,      0.5,          -0.5,
      1.5,       2.5,       -2.5,         INFINITY,
      -INFINITY, NAN,       0x1p52 + 0.5, 0x1.fffffffffffffp51,
      0x1p23,    8388607.5, -8388607.5,   0.49999999999999994};
  for (int i = 0; i < 20000; ++i)
    inputs.push_back(draw());
  for (auto [name, expected64, expected32] : rows) {
    auto *f64 = find<F64>(std::string(name) + "_f64");
    auto *f32 = find<F32>(std::string(name) + "_f32");
    for (double x : inputs) {
      ASSERT_TRUE(isSame(f64(x), expected64(x))) << name << " of " << x;
      ASSERT_TRUE(isSame(f32(float(x)), expected32(float(x))))
          << name << " of " << float(x);
    }
  }
}

TEST_F(OldMachine, MultipliesAndAddsWithOneRounding) {
  auto *f64 = find<double(double, double, double)>("fma_f64");
  auto *f32 = find<float(float, float, float)>("fma_f32");
  for (int i = 0; i < 300000; ++i) {
    double x = draw(), y = draw(), z = draw(x * y);
    // Half of the time what is left of the product.
    if (i & 1)
      z = -x * y * (1 + double(random() % 5 - 2) * 0x1p-52);
    ASSERT_TRUE(isSame(f64(x, y, z), std::fma(x, y, z)))
        << std::hexfloat << x << " " << y << " " << z << ": " << f64(x, y, z)
        << " for " << std::fma(x, y, z);
    float a = float(x), b = float(y), c = float(z);
    ASSERT_TRUE(isSame(f32(a, b, c), std::fma(a, b, c)))
        << std::hexfloat << a << " " << b << " " << c;
  }
  // Results that are denormal, on a tie, and just beyond the largest.
  for (int i = 0; i < 300000; ++i) {
    double x = std::ldexp(double(random() % 64 + 1), -540);
    double y = std::ldexp(double(int64_t(random())), -600 + int(random() % 80));
    double z = std::bit_cast<double>(random() >> (10 + random() % 50));
    ASSERT_TRUE(isSame(f64(x, y, z), std::fma(x, y, z)))
        << std::hexfloat << x << " " << y << " " << z << ": " << f64(x, y, z)
        << " for " << std::fma(x, y, z);
    x = std::ldexp(x, 1000), y = std::ldexp(y, 1080), z = draw(0x1p1023);
    ASSERT_TRUE(isSame(f64(x, y, z), std::fma(x, y, z)))
        << std::hexfloat << x << " " << y << " " << z;
  }
}

TEST_F(OldMachine, HasRemaindersWithoutError) {
  auto *f64 = find<double(double, double)>("rem_f64");
  auto *f32 = find<float(float, float)>("rem_f32");
  for (int i = 0; i < 100000; ++i) {
    double x = draw(), y = draw(x);
    ASSERT_TRUE(isSame(f64(x, y), std::fmod(x, y))) << x << " " << y;
    ASSERT_TRUE(isSame(f32(float(x), float(y)), std::fmod(float(x), float(y))))
        << x << " " << y;
  }
}

TEST_F(OldMachine, RoundsToHalvesOnce) {
  auto *f64 = find<int(double)>("half_f64");
  auto *f32 = find<int(float)>("half_f32");
  auto *widen = find<float(int)>("widen");
  auto *brain64 = find<int(double)>("bfloat_f64");
  auto *brain32 = find<int(float)>("bfloat_f32");
  for (int code = 0; code < 1 << 16; ++code) {
    float x = widen(code);
    if (std::isnan(x))
      continue;
    ASSERT_EQ(f32(x), code);
    ASSERT_EQ(f64(x), code);
    float brain = std::bit_cast<float>(uint32_t(code) << 16);
    if (std::isnan(brain))
      continue;
    ASSERT_EQ(brain32(brain), code);
    ASSERT_EQ(brain64(brain), code);
  }
  // Next to the middle of 1 and the number after it: f32 is blind there.
  EXPECT_EQ(f64(1 + 0x1p-11), 0x3c00);
  EXPECT_EQ(f64(1 + 0x1p-11 + 0x1p-40), 0x3c01);
  EXPECT_EQ(f64(0x1p-25), 0);
  EXPECT_EQ(f64(0x1p-25 + 0x1p-70), 1);
  EXPECT_EQ(f64(65519.99), 0x7bff);
  EXPECT_EQ(f64(65520), 0x7c00);
  EXPECT_EQ(brain64(1 + 0x1p-8 + 0x1p-40), 0x3f81);
  EXPECT_EQ(brain64(1 + 0x1p-8), 0x3f80);
}

TEST_F(OldMachine, MovesMemory) {
  auto *copy = find<void(char *, const char *, int64_t)>("copy");
  auto *move = find<void(char *, const char *, int64_t)>("move");
  for (int64_t size : {0, 1, 7, 31, 64, 1000}) {
    for (int64_t shift : {-9, -1, 0, 1, 9}) {
      std::vector<char> bytes(1100), expected;
      for (char &byte : bytes)
        byte = char(random());
      expected = bytes;
      std::memmove(&expected[50 + shift], &expected[50], size_t(size));
      std::vector<char> copied(bytes.size());
      copy(copied.data(), bytes.data(), int64_t(bytes.size()));
      ASSERT_EQ(copied, bytes);
      move(&bytes[size_t(50 + shift)], &bytes[50], size);
      ASSERT_EQ(bytes, expected);
    }
  }
}

// Kernel images: what the reader refuses, what the loader picks.

#include "runtime/conformance/suite.h"

using namespace alula;
using namespace alula::runtime;

namespace {

std::string readImage(const std::string &bytes,
                      const char *target = getHostName()) {
  // A copy of exactly the size lets AddressSanitizer see every overrun.
  std::unique_ptr<uint8_t[]> copy(new uint8_t[bytes.size()]);
  memcpy(copy.get(), bytes.data(), bytes.size());
  ElfImage image;
  Diagnostic diagnostic;
  uint64_t address;
  if (!readElfImage(copy.get(), bytes.size(), target, image, diagnostic) ||
      !findElfSymbol(copy.get(), bytes.size(), "add_f32", address, diagnostic))
    return diagnostic.text;
  return "ok";
}

/// The offset of the program header of this type, which must be there.
size_t findProgramHeader(const std::string &image, uint32_t type) {
  uint64_t offset;
  memcpy(&offset, &image[32], 8);
  for (;; offset += 56)
    if (memcmp(&image[offset], &type, 4) == 0)
      return offset;
}

TEST(Images, WhatIsRefused) {
  const std::string good = readFile(ALULA_TEST_KERNELS);
  EXPECT_EQ(readImage(good), "ok");
  EXPECT_EQ(readImage("\x7F"
                      "ELF"),
            "kernel image: too short for an ELF file");
  std::string bytes = good;
  bytes[4] = 1;
  EXPECT_EQ(readImage(bytes),
            "kernel image: not a 64-bit little-endian ELF file");
  bytes = good;
  bytes[16] = 1;
  EXPECT_EQ(readImage(bytes),
            "kernel image: not position-independent (ET_DYN)");
  EXPECT_EQ(readImage(good, "m68k").substr(0, 32),
            "kernel image: is for ELF machine");
  bytes = good;
  bytes[findProgramHeader(bytes, 1) + 4] |= 2;
  EXPECT_EQ(readImage(bytes), "kernel image: has writable data");
  bytes = good;
  bytes[findProgramHeader(bytes, 1)] = 7;
  EXPECT_EQ(readImage(bytes),
            "kernel image: has an interpreter or thread-local data");
  bytes = good;
  bytes[findProgramHeader(bytes, 1) + 39] = 1; // its size in the file
  EXPECT_EQ(readImage(bytes),
            "kernel image: segments overlap or leave the file");
  // The first dynamic entry becomes another one.
  struct {
    char tag;
    const char *text;
  } entries[] = {{1, "kernel image: needs another library"},
                 {8, "kernel image: has relocations"},
                 {25, "kernel image: has initializers"}};
  for (auto [tag, text] : entries) {
    bytes = good;
    uint64_t offset;
    memcpy(&offset, &bytes[findProgramHeader(bytes, 2) + 8], 8);
    bytes[offset] = tag;
    EXPECT_EQ(readImage(bytes), text);
  }
}

TEST(Images, DamageIsSafe) {
  const std::string good = readFile(ALULA_TEST_KERNELS);
  // What is still read must not lead out of the bytes; ASan watches. The last
  // bytes are section headers that nobody asks for.
  for (size_t size = 0; size < good.size(); ++size)
    readImage(good.substr(0, size));
  for (size_t i = 0; i < good.size(); ++i)
    for (int flip : {1, 2, 16, 128, 255}) {
      std::string bytes = good;
      bytes[i] = char(bytes[i] ^ flip);
      readImage(bytes);
    }
}

TEST(Images, AWriterRefusesThemToo) {
  ArtifactWriter file;
  file.addKernel({"no_such_kernel", {}, 0, 0});
  VariantSpec variant;
  variant.target = getHostName();
  variant.image = readFile(ALULA_TEST_KERNELS);
  Diagnostic diagnostic;
  EXPECT_FALSE(file.addElfVariant(variant, diagnostic));
  EXPECT_STREQ(diagnostic.text,
               "kernel image: no exported symbol 'no_such_kernel'");
  variant.image = "x";
  EXPECT_FALSE(file.addElfVariant(variant, diagnostic));
}

/// An artifact with three variants; the machine has not what the first needs.
TEST(Images, TheFirstThatFitsIsTaken) {
  std::vector<VariantSpec> variants(3);
  const char *names[] = {"future", "now", "old"};
  for (size_t i = 0; i < 3; ++i) {
    variants[i].name = names[i];
    variants[i].target = getHostName();
    variants[i].image = readFile(ALULA_TEST_KERNELS);
  }
  variants[0].features = {"warp-drive"};
  auto load = [&](std::vector<VariantSpec> list, const char *wanted) {
    ArtifactWriter file;
    file.addKernel({"fail_with", {}, 1, 0});
    Diagnostic diagnostic;
    for (const VariantSpec &variant : list)
      EXPECT_TRUE(file.addElfVariant(variant, diagnostic)) << diagnostic.text;
    std::string bytes = file.finish(diagnostic);
    Error error;
    Instance instance = Instance::create(nullptr, error);
    alula_load_options options = {};
    options.struct_bytes = sizeof options;
    options.variant = wanted;
    Executable model = Executable::loadMemory(instance, bytes.data(),
                                              bytes.size(), error, &options);
    return std::string(error ? error.message()
                             : alula_executable_get_variant(model.get()));
  };
  EXPECT_EQ(load(variants, nullptr), "now");
  EXPECT_EQ(load(variants, "old"), "old");
  EXPECT_EQ(
      load(variants, "future").substr(0, 65),
      "no variant fits this machine: 'future' needs warp-drive; this is ");
  EXPECT_EQ(load({}, nullptr), "the artifact has no variant");
}

TEST(Images, EntriesMustBeCode) {
  ArtifactWriter file;
  file.addKernel({"fail_with", {}, 1, 0});
  VariantSpec variant;
  variant.target = getHostName();
  variant.image = readFile(ALULA_TEST_KERNELS);
  variant.entries = {0}; // the ELF header
  file.addVariant(variant);
  Diagnostic diagnostic;
  std::string bytes = file.finish(diagnostic);
  Error error;
  Instance instance = Instance::create(nullptr, error);
  Executable::loadMemory(instance, bytes.data(), bytes.size(), error);
  EXPECT_STREQ(error.message(),
               "kernel image: entry of kernel 'fail_with' is not in code");
}

#if defined(__x86_64__)
TEST(Images, RawBytes) {
  // mov eax, 7; ret
  const char code[] = "\x90\x90\xB8\x07\x00\x00\x00\xC3";
  ArtifactWriter file;
  uint32_t kernel = file.addKernel({"seven", {}, 0, 0});
  file.addVariant(
      {"raw", "x86_64", {"sse2"}, ALULA_IMAGE_RAW, std::string(code, 8), {2}});
  FunctionWriter &f = file.addFunction("main");
  Operand one = f.immediate(1);
  f.dispatch(kernel, one, one, one, {});
  Diagnostic diagnostic;
  std::string bytes = file.finish(diagnostic);
  Error error;
  Instance instance = Instance::create(nullptr, error);
  Executable model =
      Executable::loadMemory(instance, bytes.data(), bytes.size(), error);
  ASSERT_FALSE(error) << error.message();
  model.call(0, {}, error);
  EXPECT_STREQ(error.message(),
               "function 'main': kernel 'seven' failed with code 7");
}
#endif

} // namespace

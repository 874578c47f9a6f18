// What is written reads back; every damaged file gives an error.

#include "artifact/cuda_image.h"
#include "artifact/cuda_image_writer.h"
#include "artifact/hash.h"
#include "artifact/printer.h"
#include "artifact/safetensors.h"
#include "artifact/sample_test.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

using namespace alula::artifact;

namespace {

/// Reads and verifies; "ok" or the error.
std::string check(const std::string &bytes) {
  // A copy of exactly the size lets AddressSanitizer see every overrun.
  std::unique_ptr<uint64_t[]> copy(new uint64_t[bytes.size() / 8 + 1]);
  auto *at = reinterpret_cast<char *>(copy.get());
  memcpy(at, bytes.data(), bytes.size());
  Artifact artifact;
  Diagnostic diagnostic;
  if (!openArtifact(at, bytes.size(), {}, artifact, diagnostic) ||
      !verifyArtifact(artifact, diagnostic)) {
    EXPECT_NE(diagnostic.code, ALULA_STATUS_OK);
    EXPECT_NE(diagnostic.text[0], 0);
    return diagnostic.text;
  }
  // What verifies must also print.
  printText(artifact);
  return "ok";
}

/// Makes all hashes right again.
void fixHashes(std::string &bytes) {
  alula_file_header header;
  if (bytes.size() < sizeof header)
    return;
  memcpy(&header, bytes.data(), sizeof header);
  size_t head = sizeof header;
  for (uint32_t i = 0; i < header.section_count &&
                       head + sizeof(alula_file_section) <= bytes.size();
       ++i, head += sizeof(alula_file_section)) {
    alula_file_section section;
    memcpy(&section, &bytes[head], sizeof section);
    if (section.offset <= bytes.size() &&
        section.bytes <= bytes.size() - section.offset)
      section.hash = hashBytes(&bytes[section.offset], section.bytes);
    memcpy(&bytes[head], &section, sizeof section);
  }
  header.hash = 0;
  memcpy(bytes.data(), &header, sizeof header);
  header.hash = hashBytes(bytes.data(), head);
  memcpy(bytes.data(), &header, sizeof header);
}

TEST(Hash, PublishedVectors) {
  EXPECT_EQ(hashBytes("", 0), 0xEF46DB3751D8E999);
  EXPECT_EQ(hashBytes("a", 1), 0xD24EC4F1A98C6E5B);
  EXPECT_EQ(hashBytes("abc", 3), 0x44BC2CF5AD770999);
  const char *text = "The quick brown fox jumps over the lazy dog";
  EXPECT_EQ(hashBytes(text, strlen(text)), 0x0B242D361FDA71BC);
}

TEST(Artifact, SameCallsSameBytes) {
  std::string first = makeSample();
  ASSERT_FALSE(first.empty());
  EXPECT_EQ(first, makeSample());
  EXPECT_EQ(check(first), "ok");
}

TEST(Artifact, Text) {
  std::string bytes = makeSample();
  Artifact artifact;
  Diagnostic diagnostic;
  ASSERT_TRUE(
      openArtifact(bytes.data(), bytes.size(), {}, artifact, diagnostic));
  std::string text = printText(artifact);
  text.erase(0, text.find('\n') + 1);
  EXPECT_EQ(text, R"(compiler = "test"
global 0 "counter": i32 mutable
global 1 "weights": 4xf32 = constant 0
constant 0: 16 bytes
kernel 0 @add: 3 bindings, 1 constants, 128 scratch bytes
variant 0 "x86-64-v3": x86_64, kernel abi 1, raw image of 20 bytes, needs avx2 fma
variant 1 "x86-64": x86_64, kernel abi 1, raw image of 8 bytes, needs nothing more

function @step("x": 4xf32) -> ("y": 4xf32 in argument 0) registers 0 arena 0 {
  %0 = argument 0
  %1 = constant 0
^0:
  dispatch @add grid(1, 1, 1) bindings(read %0, read %1, write %0) constants(4)
}

exported function @scale("rows": bx4xf32) -> ("rows": bx4xf32) registers 2 arena 0 {
  %0 = local
  %1 = local read_only
  %2 = argument 0
  %3 = result 0
^0:
  r0 = argument_dim 0, 0
  r1 = mul r0, 16
  bind_result 0, r0
  alloc %0, r1
  fill %0, 0, r1, 4, 0
  view %1, %2, 0, 16
  copy %3, 0, %2, 0, r1
  free %0
}

exported function @main("x": 4xf32, "n": i32) -> ("y": 4xf32) registers 6 arena 128 {
  %0 = arena [0, +16)
  %1 = arena [64, +16)
  %2 = argument 0
  %3 = argument 1
  %4 = result 0
  %5 = global 0
^0:
  check_global "counter"
  copy %0, 0, %2, 0, 16
  r0 = load i32, %3, 0
  r1 = ge r0, 0
  assert r1, "n must not be negative, it is {0}", r0
  while ^1, r3, ^2
  r5 = select r3, 1, 0
  case r5, ^5, ^6
  define_global "counter"
  copy %4, 0, %0, 0, 16
^1:
  r3 = lt r2, r0
^2:
  call @step(%0) -> (%0)
  swap %0, %1
  r2 = add r2, 1
  r4 = and r2, 1
  if r4, ^3, ^4
^3:
  store i32, %5, 0, r2
^4:
^5:
^6:
}
)");
}

TEST(Artifact, CustomCallText) {
  std::string bytes = makeControlSample();
  Artifact artifact;
  Diagnostic diagnostic;
  ASSERT_TRUE(
      openArtifact(bytes.data(), bytes.size(), {}, artifact, diagnostic));
  std::string text = printText(artifact);
  auto expect = [&](const char *line) {
    EXPECT_NE(text.find(line), text.npos) << line << "\n" << text;
  };
  expect("artifact version 1.1, ");
  expect("constant 0: 16 bytes, 4xf32 in \"w.safetensors\" as \"w\"\n");
  expect("custom call 0 \"scale\": (nx2xf32, i64) -> (nx2xf32), api version 4, "
         "config \"\\u0000\\u001f\\u00ff\\\"\", attributes "
         "\"{\\\"by\\\": 2}\"\n");
  expect("custom call 1 \"log\": (i64) -> (), api version 1, side effect\n");
  expect("  custom_call \"scale\"(%2, %1) -> (%2) dims(r0, r0)\n");
  expect("  custom_call \"log\"(%1) -> ()\n");
}

TEST(Artifact, ImportsAndPtx) {
  std::string bytes = makeImportSample();
  Artifact artifact;
  Diagnostic diagnostic;
  ASSERT_TRUE(
      openArtifact(bytes.data(), bytes.size(), {}, artifact, diagnostic));
  EXPECT_EQ(artifact.minor, 2);
  std::string text = printText(artifact), json = printJson(artifact);
  auto expect = [](const std::string &all, const char *line) {
    EXPECT_NE(all.find(line), all.npos) << line << "\n" << all;
  };
  expect(text, "import 0 \"fast_mul\" optional\nimport 1 \"slow_mul\"\n");
  expect(text, "PTX image of 9 bytes, needs nothing more\n"
               "  @mul: ptx mul.ptx sha256:00\n");
  expect(json, "{\"name\": \"fast_mul\", \"optional\": true}");
  expect(json, "\"image\": \"ptx\"");
  expect(json, "\"origins\": {\"mul\": \"ptx mul.ptx sha256:00\"}");
}

/// An artifact of one kernel, whose image `change` has changed.
std::string makeCudaSample(void (*change)(std::string &image)) {
  ArtifactWriter file;
  uint32_t vector = file.addType(ALULA_DTYPE_F32, {4});
  uint32_t add =
      file.addKernel({"add", {ALULA_ACCESS_READ, ALULA_ACCESS_WRITE}, 1, 256});
  CudaImageWriter writer;
  EXPECT_EQ(writer.addModule(".version 7.0", 80, false), 0u);
  writer.addCubin("cubin", 86, false);
  EXPECT_EQ(writer.addModule(".version 8.0", 90, true), 1u);
  EXPECT_EQ(writer.addModule(".version 7.0", 80, false), 0u);
  CudaLaunchSpec first, second;
  first.entry = "add_first";
  first.arguments = {{ALULA_CUDA_ARGUMENT_BINDING, 8, 0, 16},
                     {ALULA_CUDA_ARGUMENT_SCRATCH, 8, 0, 128},
                     {ALULA_CUDA_ARGUMENT_CONSTANT, 4, 0, 0}};
  first.block[0] = 256;
  first.sharedBytes = 4096;
  second.entry = "add";
  second.module = 1;
  second.arguments = {{ALULA_CUDA_ARGUMENT_BINDING, 8, 1, 0}};
  second.grid[0] = 2;
  second.gridAxis[0] = 1;
  writer.addKernel({first, second});
  VariantSpec variant;
  variant.name = "cuda:sm_80";
  variant.target = "cuda";
  variant.features = {"sm_80"};
  variant.kind = ALULA_IMAGE_CUDA;
  variant.image = writer.finish(variant.entries);
  change(variant.image);
  file.addVariant(std::move(variant));
  FunctionWriter &main = file.addFunction("main");
  main.addArgument("x", vector);
  main.addResult("y", vector);
  Operand one = main.immediate(1);
  main.dispatch(add, one, one, one, {main.argument(0), main.result(0)}, {one});
  Diagnostic diagnostic;
  std::string bytes = file.finish(diagnostic);
  EXPECT_FALSE(bytes.empty()) << diagnostic.text;
  return bytes;
}

TEST(Artifact, CudaImage) {
  std::string bytes = makeCudaSample([](std::string &) {});
  EXPECT_EQ(bytes, makeCudaSample([](std::string &) {}));
  Artifact artifact;
  Diagnostic diagnostic;
  ASSERT_TRUE(
      openArtifact(bytes.data(), bytes.size(), {}, artifact, diagnostic));
  EXPECT_EQ(artifact.minor, 4);
  EXPECT_NE(printText(artifact).find("CUDA image of "), std::string::npos);
  EXPECT_NE(printJson(artifact).find("\"image\": \"cuda\""), std::string::npos);
  CudaImage image;
  const alula_file_variant &variant = artifact.variants[0];
  ASSERT_TRUE(readCudaImage(artifact, variant, image, diagnostic))
      << diagnostic.text;
  const alula_cuda_kernel &kernel = image.getKernel(artifact, variant, 0);
  ASSERT_EQ(kernel.launch_count, 2u);
  const alula_cuda_launch &first = image.launches[kernel.first_launch];
  const alula_cuda_launch &second = image.launches[kernel.first_launch + 1];
  EXPECT_STREQ(image.getEntry(first), "add_first");
  EXPECT_STREQ(image.getEntry(second), "add");
  EXPECT_EQ(first.block[0], 256u);
  EXPECT_EQ(first.shared_bytes, 4096u);
  EXPECT_EQ(second.grid_axis[0], 1u);
  EXPECT_EQ(image.arguments[first.first_argument + 1].value, 128u);
  ASSERT_EQ(image.modules.size, 2u);
  ASSERT_EQ(image.modules[0].code_count, 2u);
  const alula_cuda_code *codes = image.codes.data;
  EXPECT_STREQ(reinterpret_cast<const char *>(image.bytes + codes[0].offset),
               ".version 7.0");
  EXPECT_EQ(memcmp(image.bytes + codes[1].offset, "cubin", 5), 0);
  EXPECT_EQ(codes[1].chip, 86u);
  EXPECT_EQ(codes[2].flags, uint32_t(ALULA_CUDA_CODE_EXACT));
}

TEST(Artifact, DamagedCudaImage) {
  auto check = [](void (*change)(std::string &image)) -> std::string {
    std::string bytes = makeCudaSample(change);
    Artifact artifact;
    Diagnostic diagnostic;
    CudaImage image;
    EXPECT_TRUE(
        openArtifact(bytes.data(), bytes.size(), {}, artifact, diagnostic));
    EXPECT_FALSE(
        readCudaImage(artifact, artifact.variants[0], image, diagnostic));
    return diagnostic.text;
  };
  // 32 bytes of header, a kernel, 2 modules of 8, 3 codes of 32, launches
  // of 72.
  EXPECT_EQ(check([](std::string &image) { image[1] = 'x'; }),
            "image of 'cuda:sm_80': has no header");
  EXPECT_EQ(check([](std::string &image) { image[27] = 1; }),
            "image of 'cuda:sm_80': is too short for its tables");
  EXPECT_EQ(check([](std::string &image) { image[36] = 3; }),
            "image of 'cuda:sm_80': kernel 'add' has launches that are not "
            "there");
  EXPECT_EQ(check([](std::string &image) { image[44] = 0; }),
            "image of 'cuda:sm_80': module 0 has no code");
  EXPECT_EQ(check([](std::string &image) { image[56] = 7; }),
            "image of 'cuda:sm_80': code 0 has the unknown kind 7");
  EXPECT_EQ(check([](std::string &image) { image[56 + 16] ^= 8; }),
            "image of 'cuda:sm_80': code 0 is out of place");
  EXPECT_EQ(check([](std::string &image) { image[56 + 24] = 3; }),
            "image of 'cuda:sm_80': code 0 is a text without an end");
  EXPECT_EQ(check([](std::string &image) { image[152 + 4] = 2; }),
            "image of 'cuda:sm_80': launch 0 of kernel 'add' names what is not "
            "there");
  EXPECT_EQ(check([](std::string &image) {
              image[152 + 40] = 0;
              image[152 + 41] = 0;
            }),
            "image of 'cuda:sm_80': launch 0 of kernel 'add' has an impossible "
            "grid");
  EXPECT_EQ(check([](std::string &image) { image[296 + 2] = 4; }),
            "image of 'cuda:sm_80': launch 0 of kernel 'add': argument 0 is "
            "wrong");
  EXPECT_EQ(check([](std::string &image) { image[296 + 32 + 4] = 1; }),
            "image of 'cuda:sm_80': launch 0 of kernel 'add': argument 2 is "
            "wrong");
}

/// A kernel whose launches are those.
std::string makeCallSample(const std::vector<CudaLaunchSpec> &launches) {
  ArtifactWriter file;
  uint32_t vector = file.addType(ALULA_DTYPE_F32, {4});
  uint32_t add =
      file.addKernel({"add", {ALULA_ACCESS_READ, ALULA_ACCESS_WRITE}, 0, 0});
  CudaImageWriter writer;
  writer.addModule(".version 7.0", 80, false);
  writer.addKernel(launches);
  VariantSpec variant;
  variant.name = variant.target = "cuda";
  variant.kind = ALULA_IMAGE_CUDA;
  variant.image = writer.finish(variant.entries);
  file.addVariant(std::move(variant));
  FunctionWriter &main = file.addFunction("main");
  main.addArgument("x", vector);
  main.addResult("y", vector);
  Operand one = main.immediate(1);
  main.dispatch(add, one, one, one, {main.argument(0), main.result(0)}, {});
  Diagnostic diagnostic;
  return file.finish(diagnostic);
}

TEST(Artifact, CallsInCudaImages) {
  auto read = [](const std::vector<CudaLaunchSpec> &launches,
                 uint16_t minor) -> std::string {
    std::string bytes = makeCallSample(launches);
    Artifact artifact;
    Diagnostic diagnostic;
    CudaImage image;
    EXPECT_TRUE(
        openArtifact(bytes.data(), bytes.size(), {}, artifact, diagnostic));
    EXPECT_EQ(artifact.minor, minor);
    return readCudaImage(artifact, artifact.variants[0], image, diagnostic)
               ? ""
               : diagnostic.text;
  };
  CudaLaunchSpec own;
  own.entry = "add";
  std::vector<alula_cuda_argument> both = {
      {ALULA_CUDA_ARGUMENT_BINDING, 8, 0, 0},
      {ALULA_CUDA_ARGUMENT_BINDING, 8, 1, 0}};
  EXPECT_EQ(read({own}, 4), "");
  EXPECT_EQ(read({CudaLaunchSpec::makeCall("other x", 1, both), own}, 5), "");
  EXPECT_EQ(read({CudaLaunchSpec::makeCall("other x", 0, {}), own}, 5), "");
  EXPECT_EQ(read({own, CudaLaunchSpec::makeCall("other x", 1, both)}, 5),
            "image of 'cuda': launch 1 of kernel 'add' is a call for launches "
            "that are not there");
  CudaLaunchSpec wrong = CudaLaunchSpec::makeCall("other x", 1, both);
  wrong.module = 0;
  EXPECT_EQ(read({wrong, own}, 5),
            "image of 'cuda': launch 0 of kernel 'add' names what is not "
            "there");
  both[1] = {ALULA_CUDA_ARGUMENT_FAILURE, 8, 0, 0};
  EXPECT_EQ(read({CudaLaunchSpec::makeCall("other x", 1, both), own}, 5),
            "image of 'cuda': launch 0 of kernel 'add': argument 1 is none of "
            "a call");
}

TEST(Artifact, Collectives) {
  std::string bytes = makeCollectiveSample();
  EXPECT_EQ(bytes, makeCollectiveSample());
  Artifact artifact;
  Diagnostic diagnostic;
  ASSERT_TRUE(
      openArtifact(bytes.data(), bytes.size(), {}, artifact, diagnostic));
  EXPECT_EQ(artifact.minor, 3);
  // Equal groups are one table.
  EXPECT_EQ(artifact.groupTables.size, 2u);
  std::string text = printText(artifact), json = printJson(artifact);
  auto expect = [](const std::string &all, const char *line) {
    EXPECT_NE(all.find(line), all.npos) << line << "\n" << all;
  };
  expect(text, "collective #0 all_reduce sum of 4 f32, groups [[1, 0]] of 2, "
               "channel 7\n");
  expect(text,
         "collective #4 collective_permute of 4 f32, groups [[0, 1]] of 2");
  expect(text, "  r0 = participant\n");
  expect(text, "  r1 = collective_start #0 all_reduce, %0, %1\n"
               "  r2 = collective_start #1 reduce_scatter, %0, %3\n"
               "  collective_done r2\n");
  expect(json, "\"all_to_all of 2 f32, groups [[1, 0]] of 2, channel 7\"");
}

TEST(Artifact, CollectiveErrors) {
  using Groups = std::vector<std::vector<uint32_t>>;
  auto errorOf = [](uint32_t participants, const Groups &groups,
                    CollectiveSpec spec) {
    ArtifactWriter file;
    spec.groups += file.addGroups(participants, groups);
    file.addCollective(spec);
    Diagnostic diagnostic;
    file.finish(diagnostic);
    return std::string(diagnostic.text);
  };
  CollectiveSpec sum = {.kind = ALULA_COLLECTIVE_ALL_REDUCE,
                        .reduction = ALULA_REDUCTION_SUM,
                        .dtype = ALULA_DTYPE_F32,
                        .groups = 0,
                        .count = 4};
  EXPECT_EQ(errorOf(3, {{0, 1}, {2}}, sum), "");
  EXPECT_EQ(errorOf(0, {}, sum), "group table 0: 0 participants");
  EXPECT_EQ(errorOf(2, {{0}, {}}, sum),
            "group table 0: group 1 is empty or too long");
  EXPECT_EQ(errorOf(2, {{0, 2}}, sum), "group table 0: participant 2 of 2");
  EXPECT_EQ(errorOf(2, {{0, 1}, {1}}, sum),
            "collective 0 (all_reduce): not with the groups of table 0");
  EXPECT_EQ(errorOf(2, {{0, 0}}, sum),
            "collective 0 (all_reduce): not with the groups of table 0");
  auto with = [&](auto change) {
    CollectiveSpec spec = sum;
    change(spec);
    return spec;
  };
  EXPECT_EQ(errorOf(2, {{0}}, with([](auto &s) { s.groups = 1; })),
            "collective 0 (all_reduce): group table 1 is out of range");
  EXPECT_EQ(errorOf(2, {{0}},
                    with([](auto &s) { s.kind = alula_collective_kind(7); })),
            "collective 0: unknown kind 7");
  EXPECT_EQ(errorOf(2, {{0}},
                    with([](auto &s) { s.reduction = ALULA_REDUCTION_XOR; })),
            "collective 0 (all_reduce): reduction 7 of element type 16");
  EXPECT_EQ(errorOf(2, {{0}}, with([](auto &s) {
                      s.kind = ALULA_COLLECTIVE_ALL_GATHER;
                    })),
            "collective 0 (all_gather): reduction 1 of element type 16");
  EXPECT_EQ(errorOf(2, {{0}}, with([](auto &s) { s.count = 1ull << 62; })),
            "collective 0 (all_reduce): more than 2^48 bytes");
  CollectiveSpec gather = {.kind = ALULA_COLLECTIVE_ALL_GATHER,
                           .dtype = ALULA_DTYPE_I1,
                           .groups = 0,
                           .count = 4};
  EXPECT_EQ(errorOf(3, {{0}, {1}, {2}}, gather), "");
  EXPECT_EQ(errorOf(3, {{0, 1}, {2}}, gather),
            "collective 0 (all_gather): not with the groups of table 0");
  EXPECT_EQ(errorOf(3, {}, gather), "collective 0 (all_gather): no groups");
  gather.dtype = ALULA_DTYPE_I4;
  EXPECT_EQ(errorOf(1, {{0}}, gather),
            "collective 0 (all_gather): reduction 0 of element type 33");
  CollectiveSpec permute = {.kind = ALULA_COLLECTIVE_PERMUTE,
                            .dtype = ALULA_DTYPE_I32,
                            .groups = 0,
                            .count = 4};
  EXPECT_EQ(errorOf(2, {{0, 1}, {1, 0}}, permute), "");
  EXPECT_EQ(errorOf(2, {{0, 0}}, permute), "");
  EXPECT_EQ(errorOf(2, {}, permute), "");
  const char *wrong =
      "collective 0 (collective_permute): not with the groups of table 0";
  EXPECT_EQ(errorOf(2, {{0, 1}, {0, 0}}, permute), wrong);
  EXPECT_EQ(errorOf(2, {{0, 1}, {1, 1}}, permute), wrong);
  EXPECT_EQ(errorOf(3, {{0, 1, 2}}, permute), wrong);
}

TEST(Artifact, ImportErrors) {
  Diagnostic diagnostic;
  ArtifactWriter wrongOrder;
  wrongOrder.addImport("b", false);
  wrongOrder.addImport("a", false);
  EXPECT_EQ(wrongOrder.finish(diagnostic), "");
  EXPECT_STREQ(diagnostic.text, "import 1 'a': names must ascend");
  ArtifactWriter unnamed;
  unnamed.addImport("", false);
  EXPECT_EQ(unnamed.finish(diagnostic), "");
  EXPECT_STREQ(diagnostic.text, "import 0: wrong name or flags");
  ArtifactWriter endless;
  endless.addVariant({"cuda:sm_80", "cuda", {}, ALULA_IMAGE_PTX, "ptx", {}});
  EXPECT_EQ(endless.finish(diagnostic), "");
  EXPECT_STREQ(diagnostic.text, "variant 0: PTX must end with a zero byte");
}

class Damage : public testing::TestWithParam<std::string (*)()> {};
INSTANTIATE_TEST_SUITE_P(Samples, Damage,
                         testing::Values(makeSample, makeControlSample,
                                         makeImportSample, makeCollectiveSample,
                                         makeBundleSample));

TEST_P(Damage, EveryByteAndEveryTruncation) {
  const std::string good = GetParam()();
  ASSERT_EQ(check(good), "ok");
  std::string bytes = good;
  size_t tries = 0, errors = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (int flip = 1; flip < 256; ++flip, ++tries) {
      bytes[i] = char(good[i] ^ flip);
      errors += check(bytes) != "ok";
    }
    bytes[i] = good[i];
  }
  for (size_t size = 0; size < good.size(); ++size, ++tries)
    errors += check(good.substr(0, size)) != "ok";
  printf("%zu bytes, %zu damaged files, %zu errors\n", good.size(), tries,
         errors);
  EXPECT_EQ(errors, tries);
}

TEST_P(Damage, BehindTheHash) {
  // With right hashes a changed file may be a good one: a number, a name. What
  // counts is that nothing crashes and that it is never half verified.
  const std::string good = GetParam()();
  size_t tries = 0, errors = 0;
  for (size_t i = 0; i < good.size(); ++i)
    for (int value : {0, 1, 2, 4, 8, 16, 32, 64, 127, 128, 255}) {
      std::string bytes = good;
      bytes[i] = char(good[i] ^ value);
      if (value == 0)
        bytes[i] = 0;
      fixHashes(bytes);
      ++tries;
      errors += check(bytes) != "ok";
    }
  for (size_t size = 0; size < good.size(); ++size) {
    std::string bytes = good.substr(0, size);
    if (size >= sizeof(alula_file_header)) {
      uint64_t fileBytes = size;
      memcpy(&bytes[offsetof(alula_file_header, file_bytes)], &fileBytes, 8);
    }
    fixHashes(bytes);
    ++tries;
    EXPECT_NE(check(bytes), "ok") << size;
    ++errors;
  }
  printf("%zu files with right hashes, %zu errors\n", tries, errors);
}

TEST(Artifact, HeaderErrors) {
  std::string good = makeSample(), bytes = good;
  EXPECT_EQ(check(""),
            "artifact is truncated: 0 bytes, the header alone takes 64");
  bytes[0] = 'x';
  EXPECT_EQ(check(bytes), "not an Alula artifact: wrong magic number");
  bytes = good;
  bytes[8] = 2;
  EXPECT_EQ(check(bytes), "artifact has format version 2.0, this library reads "
                          "1.0 to 1.6");
  bytes = good;
  bytes[10] = 7;
  EXPECT_EQ(check(bytes), "artifact has format version 1.7, this library reads "
                          "1.0 to 1.6");
  EXPECT_EQ(check(good + "x"),
            "artifact says it has " + std::to_string(good.size()) +
                " bytes, but there are " + std::to_string(good.size() + 1));
  bytes = good;
  bytes.back() ^= 1;
  EXPECT_EQ(check(bytes),
            "artifact is damaged: the hash of section 'data' differs");
  bytes = good;
  bytes[70] ^= 1;
  EXPECT_EQ(check(bytes), "artifact is damaged: the header's hash differs");
}

/// The verifier's answer to a function that `build` fills.
template <class Build> std::string verify(Build build) {
  ArtifactWriter file;
  uint32_t type = file.addType(ALULA_DTYPE_F32, {4});
  uint32_t dynamic = file.addType(ALULA_DTYPE_F32, {Dim::dynamic()});
  file.addConstant("0123456789abcdef", 16);
  file.addGlobal("g", type, /*isMutable=*/false);
  file.addKernel({"k", {ALULA_ACCESS_WRITE}, 1, 0});
  file.addCustomCall({.name = "c",
                      .operandTypes = {dynamic},
                      .resultTypes = {type},
                      .config = "",
                      .attributes = ""});
  FunctionWriter &callee = file.addFunction("callee", false);
  callee.addArgument("x", type);
  callee.addResult("y", type, 0);
  FunctionWriter &function = file.addFunction("f");
  function.addArgument("x", type);
  function.addArgument("d", dynamic);
  function.addResult("y", type);
  function.addResult("e", dynamic);
  function.newRegister();
  build(function);
  Diagnostic diagnostic;
  return file.finish(diagnostic).empty() ? diagnostic.text : "ok";
}

// ---- Constants outside the file ----

/// Opens the text as the header of a file with this many bytes of data.
std::string openTensors(const std::string &header, size_t dataBytes,
                        const char *name = nullptr) {
  uint64_t size = header.size();
  std::string bytes(reinterpret_cast<char *>(&size), 8);
  bytes += header + std::string(dataBytes, 'd');
  Safetensors file;
  Diagnostic diagnostic;
  if (!openSafetensors(bytes.data(), bytes.size(), file, diagnostic))
    return diagnostic.text;
  SafetensorsTensor tensor;
  if (!name)
    return "ok";
  if (!findTensor(file, name, tensor))
    return "none";
  std::string text = std::string(tensor.type) + " ";
  for (uint32_t i = 0; i < tensor.rank; ++i)
    text += std::to_string(tensor.dims[i]) + "x";
  return text + " " + std::to_string(tensor.bytes) + " at " +
         std::to_string(tensor.data - file.data);
}

TEST(Safetensors, Headers) {
  const char *two =
      R"( { "__metadata__" : {"format":"pt","{":"}"},
      "a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}, "b\"\u00e9\ud83d\ude00":
      {"data_offsets":[24,25], "shape":[ ] ,"dtype":"BOOL"}}   )";
  EXPECT_EQ(openTensors(two, 25, "a"), "F32 2x3x 24 at 0");
  EXPECT_EQ(openTensors(two, 25, "b\"\xC3\xA9\xF0\x9F\x98\x80"),
            "BOOL  1 at 24");
  EXPECT_EQ(openTensors(two, 25, "b"), "none");
  EXPECT_EQ(openTensors(two, 25, "__metadata__"), "none");
  EXPECT_EQ(openTensors("{}", 0, "a"), "none");
  const std::string bad = "not a good safetensors file: ";
  const std::string json = bad + "it is no JSON object of tensors";
  EXPECT_EQ(openTensors(two, 24), bad + "a tensor lies outside the file");
  for (
      const char *header :
      {"", "[]", "{", "{\"a\"}", "{\"a\":1}", "{} x",
       R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},})",
       R"({"a":{"dtype":"F32","shape":[2]}})",
       R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})",
       R"({"a":{"dtype":"F32","shape":[2],"shape":[2],"data_offsets":[0,8]}})",
       R"({"a":{"dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,8]}})",
       R"({"a":{"dtype":"F3222222222222222","shape":[],"data_offsets":[0,8]}})"})
    EXPECT_EQ(openTensors(header, 100), json) << header;
  Safetensors file;
  Diagnostic diagnostic;
  EXPECT_FALSE(openSafetensors("1234567", 7, file, diagnostic));
  EXPECT_STREQ(diagnostic.text, (bad + "it is truncated").c_str());
  EXPECT_FALSE(openSafetensors("\x10\0\0\0\0\0\0\0{}", 10, file, diagnostic));
  EXPECT_STREQ(diagnostic.text, (bad + "its header leaves the file").c_str());
}

TEST(Safetensors, ConstantsMoveOut) {
  ArtifactWriter writer;
  uint32_t bytes = writer.addType(ALULA_DTYPE_F8E3M4, {2, 5});
  uint32_t floats = writer.addType(ALULA_DTYPE_F32, {3});
  float threes[] = {3, 3, 3};
  EXPECT_EQ(writer.addConstant("0123456789", 10, bytes), 0u);
  EXPECT_EQ(writer.addConstant(threes, 12, floats), 1u);
  EXPECT_EQ(writer.addConstant("small", 5), 2u);
  EXPECT_EQ(writer.addConstant("without type", 12), 3u);
  writer.addCustomCall({.name = "c",
                        .operandTypes = {},
                        .resultTypes = {},
                        .config = "configuration",
                        .attributes = ""});
  EXPECT_EQ(writer.externalizeConstants("w", 1000), "");
  std::string file = writer.externalizeConstants("w", 10);
  Safetensors tensors;
  SafetensorsTensor tensor;
  Diagnostic diagnostic;
  ASSERT_TRUE(openSafetensors(file.data(), file.size(), tensors, diagnostic));
  EXPECT_EQ(
      (tensors.data - reinterpret_cast<const uint8_t *>(file.data())) % 64, 0);
  ASSERT_TRUE(findTensor(tensors, "constant.0", tensor));
  EXPECT_STREQ(tensor.type, "U8");
  EXPECT_EQ(std::string(tensor.data, tensor.data + tensor.bytes), "0123456789");
  ASSERT_TRUE(findTensor(tensors, "constant.1", tensor));
  EXPECT_STREQ(tensor.type, "F32");
  EXPECT_EQ(tensor.data, tensors.data);
  EXPECT_EQ(memcmp(tensor.data, threes, 12), 0);
  EXPECT_FALSE(findTensor(tensors, "constant.2", tensor));
  EXPECT_TRUE(findTensor(tensors, "constant.3", tensor));
  EXPECT_FALSE(findTensor(tensors, "constant.4", tensor));
  std::string artifact = writer.finish(diagnostic);
  EXPECT_EQ(check(artifact), "ok") << diagnostic.text;
  EXPECT_NE(artifact.find("small"), artifact.npos);
  EXPECT_NE(artifact.find("configuration"), artifact.npos);
  EXPECT_EQ(artifact.find("0123456789"), artifact.npos);
}

TEST(Verifier, CommandErrors) {
  using F = FunctionWriter &;
  auto at = [](const char *text) {
    return "function 1 'f', block 0, word 0: " + std::string(text);
  };
  EXPECT_EQ(verify([](F f) { f.bindResult(1, {{0}}); }), "ok");
  EXPECT_EQ(verify([](F f) { f.emit(alula_command(99), {}); }),
            at("unknown command 99"));
  EXPECT_EQ(verify([](F f) { f.emit(ALULA_COMMAND_SELECT, {0, 0}); }),
            at("select: too few parameters"));
  EXPECT_EQ(verify([](F f) { f.emit(ALULA_COMMAND_CHECK_GLOBAL, {0, 0}); }),
            at("check_global: too many parameters"));
  EXPECT_EQ(verify([](F f) { f.move({7}, f.immediate(1)); }),
            at("compute: register 7 is out of range"));
  EXPECT_EQ(verify([](F f) { f.move({0}, {ALULA_IMMEDIATE | 9}); }),
            at("compute: operand 2147483657 is out of range"));
  EXPECT_EQ(verify([](F f) { f.compute({0}, alula_operator(77), {0}, {0}); }),
            at("compute: unknown operator 77"));
  EXPECT_EQ(verify([](F f) { f.alloc(3, {0}); }),
            at("alloc: slot 3 is out of range"));
  EXPECT_EQ(verify([](F f) { f.alloc(f.argument(0), {0}); }),
            at("alloc: slot 0 is not local"));
  EXPECT_EQ(verify([](F f) {
              uint32_t result = f.result(0);
              f.swap(result, f.local());
            }),
            at("swap: slot 0 is neither local nor in the arena"));
  EXPECT_EQ(
      verify([](F f) { f.load({0}, ALULA_DTYPE_F32, f.argument(0), {0}); }),
      at("load: element type 16 is no integer"));
  for (auto kind :
       {ALULA_SLOT_ARGUMENT, ALULA_SLOT_CONSTANT, ALULA_SLOT_GLOBAL})
    EXPECT_EQ(verify([&](F f) {
                f.dispatch(0, {0}, {0}, {0}, {f.addSlot(kind, 0)}, {{0}});
              }),
              at("dispatch: slot 0 is read-only"));
  EXPECT_EQ(verify([](F f) { f.dispatch(0, {0}, {0}, {0}, {}); }),
            at("dispatch: kernel 0 takes 1 bindings and 1 constants"));
  EXPECT_EQ(verify([](F f) { f.dispatch(1, {0}, {0}, {0}, {}); }),
            at("dispatch: kernel 1 is out of range"));
  EXPECT_EQ(verify([](F f) {
              uint32_t local = f.local();
              f.view(local, f.argument(0), {0}, {0});
            }),
            at("view: slot 1 is read-only, slot 0 is not"));
  EXPECT_EQ(verify([](F f) { f.bindResult(0, {}); }),
            at("bind_result: result 0 has its storage from the start"));
  EXPECT_EQ(verify([](F f) { f.bindResult(1, {}); }),
            at("bind_result: result 1 has 1 dynamic dimensions, 0 are given"));
  EXPECT_EQ(verify([](F f) { f.argumentDim(0, 1); }),
            at("argument_dim: no dimension 1 of argument 0"));
  EXPECT_EQ(verify([](F f) { f.call(1, {}, {}); }),
            at("call: function 1 does not stand before its caller"));
  EXPECT_EQ(verify([](F f) { f.call(0, {}, {}); }),
            at("call: function 0 takes 2 parameters"));
  EXPECT_EQ(verify([](F f) {
              f.setArenaBytes(32);
              f.call(0, {f.arena(0, 16)}, {f.arena(16, 16)});
            }),
            at("call: result 0 must be the slot of argument 0"));
  EXPECT_EQ(verify([](F f) { f.defineGlobal(0); }),
            at("define_global: global 0 is not mutable"));
  EXPECT_EQ(verify([](F f) { f.fill(f.result(0), {0}, {0}, 3, {0}); }),
            at("fill: pattern of 3 bytes"));
  EXPECT_EQ(verify([](F f) { f.customCall(1, {}, {}); }),
            at("custom_call: custom call 1 is out of range"));
  EXPECT_EQ(verify([](F f) { f.customCall(0, {}, {}); }),
            at("custom_call: custom call 0 takes 3 parameters"));
  EXPECT_EQ(verify([](F f) {
              uint32_t x = f.argument(0);
              f.customCall(0, {x}, {x}, {{0}});
            }),
            at("custom_call: slot 0 is read-only"));
  EXPECT_EQ(verify([](F f) {
              f.customCall(0, {f.argument(1)}, {f.result(0)}, {{9}});
            }),
            at("custom_call: operand 9 is out of range"));
  EXPECT_EQ(verify([](F f) { f.collectiveStart(0, 0, 0); }),
            at("collective_start: collective 0 is out of range"));
  EXPECT_EQ(verify([](F f) { f.collectiveDone({9}); }),
            at("collective_done: operand 9 is out of range"));
  EXPECT_EQ(verify([](F f) { f.participant(); }),
            at("participant: the file does not say how many participants there "
               "are"));
}

TEST(Verifier, TogetherErrors) {
  using F = FunctionWriter &;
  auto at = [](const char *text) {
    return "function 1 'f', block 0, word 0: together: " + std::string(text);
  };
  auto dispatch = [](F f, uint32_t slot) {
    f.dispatch(0, {0}, {0}, {0}, {slot}, {{0}});
  };
  EXPECT_EQ(verify([&](F f) {
              f.setArenaBytes(32);
              uint32_t first = f.arena(0, 16), second = f.arena(16, 16);
              f.bindResult(1, {{0}});
              f.together(2);
              dispatch(f, first);
              dispatch(f, second);
            }),
            "ok");
  for (uint32_t count : {0u, 1u, ALULA_MAX_TOGETHER + 1})
    EXPECT_EQ(verify([&](F f) { f.together(count); }),
              at((std::to_string(count) + " dispatches, not 2 to 8").c_str()));
  EXPECT_EQ(verify([&](F f) {
              f.together(2);
              dispatch(f, f.result(0));
            }),
            at("command 2 behind it is no dispatch"));
  // Of what comes behind the first dispatch.
  auto verifyNext = [&](auto next) {
    return verify([&](F f) {
      uint32_t slot = f.result(0);
      f.together(2);
      dispatch(f, slot);
      next(f, slot);
    });
  };
  std::string isNone = at("command 2 behind it is no dispatch");
  EXPECT_EQ(verifyNext([&](F f, uint32_t slot) {
              f.bindResult(1, {{0}});
              dispatch(f, slot);
            }),
            isNone);
  EXPECT_EQ(verifyNext([](F f, uint32_t) {
              f.emit(ALULA_COMMAND_DISPATCH, {9, 0, 0, 0});
            }),
            isNone);
  EXPECT_EQ(verifyNext([](F f, uint32_t) {
              f.emit(ALULA_COMMAND_DISPATCH, {0, 0, 0, 0});
            }),
            isNone);
  EXPECT_EQ(verifyNext(dispatch),
            at("dispatch 1 writes what dispatch 2 binds"));
}

TEST(Verifier, BlockErrors) {
  using F = FunctionWriter &;
  EXPECT_EQ(verify([](F f) { f.newBlock(); }),
            "function 1 'f', block 1, word 0: block is used by no command");
  EXPECT_EQ(verify([](F f) {
              uint32_t block = f.newBlock();
              f.branch({0}, block, block);
            }),
            "function 1 'f', block 0, word 0: if: block 1 is used twice");
  EXPECT_EQ(verify([](F f) { f.branch({0}, 0); }),
            "function 1 'f', block 0, word 0: if: block 0 is out of range");
  EXPECT_EQ(verify([](F f) {
              for (unsigned i = 0; i < ALULA_MAX_NESTING; ++i) {
                uint32_t block = f.newBlock();
                f.branch({0}, block);
                f.setBlock(block);
              }
            }),
            "function 1 'f', block 255, word 0: if: nested deeper than 256");
}

TEST(Verifier, ResultsAreBoundOnceOnEveryPath) {
  // Of two dynamic results, 1 is for `build`.
  auto check = [](auto build) -> std::string {
    ArtifactWriter file;
    uint32_t dynamic = file.addType(ALULA_DTYPE_F32, {Dim::dynamic()});
    FunctionWriter &f = file.addFunction("f");
    f.addArgument("x", dynamic);
    f.addResult("in place", dynamic, 0);
    f.addResult("y", dynamic);
    f.addResult("fixed", file.addType(ALULA_DTYPE_F32, {4}));
    f.addResult("z", dynamic);
    f.bindResult(3, {f.immediate(2)});
    build(f, [&] { f.bindResult(1, {f.immediate(2)}); });
    Diagnostic diagnostic;
    return file.finish(diagnostic).empty() ? diagnostic.text : "ok";
  };
  const char *twice = "function 0 'f': result 1 is bound twice";
  const char *missing = "function 0 'f': result 1 is not bound";
  const char *branches = "function 0 'f': result 1 is bound in some branches "
                         "only";
  EXPECT_EQ(check([](auto &, auto bind) { bind(); }), "ok");
  EXPECT_EQ(check([](auto &, auto) {}), missing);
  EXPECT_EQ(check([](auto &f, auto bind) {
              bind();
              f.fill(f.result(1), f.immediate(0), f.immediate(4), 4,
                     f.immediate(0));
              bind();
            }),
            twice);
  // Whether each of some branches binds it; `inner` is for a branch in one.
  auto checkCases = [&](std::vector<bool> binds, int before = 0) {
    return check([&](auto &f, auto bind) {
      if (before)
        bind();
      std::vector<uint32_t> blocks;
      for (size_t i = 0; i < binds.size(); ++i)
        blocks.push_back(f.newBlock());
      f.branch(f.immediate(0), blocks);
      for (size_t i = 0; i < binds.size(); ++i) {
        f.setBlock(blocks[i]);
        if (binds[i])
          bind();
      }
    });
  };
  EXPECT_EQ(checkCases({true, true, true}), "ok");
  EXPECT_EQ(checkCases({false, false}, 1), "ok");
  EXPECT_EQ(checkCases({true, true}, 1), twice);
  EXPECT_EQ(checkCases({false, true}, 1), twice);
  EXPECT_EQ(checkCases({false, false}), missing);
  EXPECT_EQ(checkCases({true, false, true}), branches);
  EXPECT_EQ(checkCases({true, true, false}), branches);
  EXPECT_EQ(checkCases({false, true, false}), branches);
  EXPECT_EQ(checkCases({false, false, true}), branches);
  auto checkIf = [&](bool inThen, bool hasElse, bool inElse, int after) {
    return check([&](auto &f, auto bind) {
      uint32_t yes = f.newBlock(), no = hasElse ? f.newBlock() : ALULA_NONE;
      f.branch(f.immediate(0), yes, no);
      if (inThen) {
        // One level deeper.
        f.setBlock(yes);
        uint32_t a = f.newBlock(), b = f.newBlock();
        f.branch(f.immediate(0), a, b);
        f.setBlock(a);
        bind();
        f.setBlock(b);
        bind();
      }
      if (inElse) {
        f.setBlock(no);
        bind();
      }
      f.setBlock(0);
      if (after)
        bind();
    });
  };
  EXPECT_EQ(checkIf(true, true, true, 0), "ok");
  EXPECT_EQ(checkIf(true, true, false, 0), branches);
  EXPECT_EQ(checkIf(false, true, true, 0), branches);
  EXPECT_EQ(checkIf(true, false, false, 0), branches);
  EXPECT_EQ(checkIf(true, true, true, 1), twice);
  EXPECT_EQ(checkIf(false, false, false, 1), "ok");
  for (bool inCondition : {true, false})
    EXPECT_EQ(check([&](auto &f, auto bind) {
                uint32_t condition = f.newBlock(), body = f.newBlock();
                f.loop(condition, f.immediate(0), body);
                f.setBlock(inCondition ? condition : body);
                bind();
              }),
              "function 0 'f': result 1 is bound in a loop");
}

TEST(Verifier, StringsAreTextWithoutControls) {
  // The byte sequence that a four-byte name of a good file becomes.
  auto check4 = [](const char *text) {
    ArtifactWriter file;
    file.addFact("compiler", "NAME");
    Diagnostic diagnostic;
    std::string bytes = file.finish(diagnostic);
    EXPECT_EQ(strlen(text), 4u);
    bytes.replace(bytes.find("NAME"), 4, text);
    fixHashes(bytes);
    return check(bytes);
  };
  for (const char *good :
       {"name", "a\n\tb", "\xC3\xA4oe", "\xE2\x82\xAC ", "\xF0\x9F\x90\xA6",
        "\xC2\xA0zz", "\xED\x9F\xBF.", "\xEE\x80\x80.", "\xF4\x8F\xBF\xBF"})
    EXPECT_EQ(check4(good), "ok") << good;
  EXPECT_EQ(check4("\x1B[2J"), "strings: control character 27");
  EXPECT_EQ(check4("ab\x7Fz"), "strings: control character 127");
  // C1 controls, alone and as UTF-8; halves, overlong forms, surrogates, too
  // large ones.
  for (const char *bad :
       {"\x9B"
        "2Jx",
        "\xC2\x9B"
        "2J",
        "\xC3"
        "abc",
        "\xA4xyz", "\xC0\x80zz", "\xC1\xBFzz", "\xE0\x9F\xBFz", "\xE2\x82zz",
        "\xED\xA0\x80z", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80",
        "\xF5\x80\x80\x80", "\xFF\xFFzz", "\xF0\x9F\x90z"})
    EXPECT_EQ(check4(bad).substr(0, 13), "strings: byte") << check4(bad);
  EXPECT_EQ(check4("ab\xFFz"),
            "strings: byte 12 is not UTF-8, or a control character");
}

TEST(Artifact, WriterKeepsWhatStringsMayHold) {
  ArtifactWriter file;
  file.addFact("k", "a\x1B[2J \xFFz \xC3\xA4 \xC2\x9B \xED\xA0\x80");
  Diagnostic diagnostic;
  std::string bytes = file.finish(diagnostic);
  Artifact artifact;
  ASSERT_TRUE(
      openArtifact(bytes.data(), bytes.size(), {}, artifact, diagnostic));
  EXPECT_STREQ(artifact.getString(artifact.facts[0].value),
               "a?[2J ?z \xC3\xA4 ?? ???");
}

TEST(Artifact, HashOfAProgram) {
  auto hash = [](const char *fact, const char *bytes, alula_dtype dtype) {
    ArtifactWriter file;
    file.addFact("input.hash", fact);
    file.addConstant(std::string(bytes));
    file.addType(dtype, {4});
    Diagnostic diagnostic;
    std::string all = file.finish(diagnostic);
    Artifact artifact;
    EXPECT_TRUE(openArtifact(all.data(), all.size(), {}, artifact, diagnostic));
    return artifact.programHash;
  };
  uint64_t one = hash("a", "12", ALULA_DTYPE_F32);
  EXPECT_EQ(one, hash("another line", "12", ALULA_DTYPE_F32));
  EXPECT_EQ(one, hash("a", "callback 34", ALULA_DTYPE_F32));
  EXPECT_NE(one, hash("a", "12", ALULA_DTYPE_F64));
}

TEST(Artifact, NamesStayOnTheirLine) {
  ArtifactWriter file;
  FunctionWriter &f = file.addFunction("a\n%1 = fake");
  file.addFunction("b").call(f.getIndex(), {}, {});
  Diagnostic diagnostic;
  std::string bytes = file.finish(diagnostic);
  Artifact artifact;
  ASSERT_TRUE(
      openArtifact(bytes.data(), bytes.size(), {}, artifact, diagnostic));
  std::string text = printText(artifact);
  EXPECT_EQ(text.find("\n%1 = fake"), text.npos) << text;
  EXPECT_NE(text.find("@\"a\\n%1 = fake\"("), text.npos) << text;
}

TEST(Verifier, SlotErrors) {
  using F = FunctionWriter &;
  EXPECT_EQ(verify([](F f) { f.arena(0, 16); }),
            "function 1: slot 0 leaves its storage");
  EXPECT_EQ(verify([](F f) { f.addSlot(ALULA_SLOT_ARGUMENT, 0, 8, 16); }),
            "function 1: slot 0 leaves its storage");
  EXPECT_EQ(verify([](F f) { f.addSlot(ALULA_SLOT_ARGUMENT, 1, 0, 16); }),
            "function 1: slot 0 leaves its storage");
  EXPECT_EQ(verify([](F f) { f.constant(1); }),
            "function 1: slot 0 is of a wrong kind or index");
}

TEST(Verifier, TableErrors) {
  Diagnostic diagnostic;
  ArtifactWriter large;
  large.addType(ALULA_DTYPE_F32, {int64_t(1) << 40, int64_t(1) << 40});
  EXPECT_TRUE(large.finish(diagnostic).empty());
  EXPECT_STREQ(diagnostic.text, "type 0: more than 2^48 bytes");
  ArtifactWriter global;
  global.addGlobal("g", global.addType(ALULA_DTYPE_F32, {Dim::dynamic()}),
                   true);
  EXPECT_TRUE(global.finish(diagnostic).empty());
  EXPECT_STREQ(diagnostic.text, "global 0 'g': the shape must be static");
  ArtifactWriter call;
  call.addCustomCall({.name = "c",
                      .operandTypes = {3},
                      .resultTypes = {},
                      .config = "",
                      .attributes = ""});
  EXPECT_TRUE(call.finish(diagnostic).empty());
  EXPECT_STREQ(diagnostic.text, "custom call 0: type 3 is out of range");
  ArtifactWriter external;
  uint32_t any = external.addType(ALULA_DTYPE_F32, {Dim::dynamic()});
  external.addExternalConstant("f", "n", any);
  EXPECT_TRUE(external.finish(diagnostic).empty());
  EXPECT_STREQ(diagnostic.text,
               "constant 0: external ones have file, name and a static type");
  ArtifactWriter variant;
  variant.addKernel({"k", {}, 0, 0});
  variant.addVariant({"v", "x86_64", {}, ALULA_IMAGE_RAW, "abc", {3}});
  EXPECT_TRUE(variant.finish(diagnostic).empty());
  EXPECT_STREQ(diagnostic.text, "variant 0: entry of kernel 0 is outside its "
                                "image");
}

/// A file of several programs whose records `change` has changed.
std::string checkPrograms(void (*change)(alula_file_program *records,
                                         std::string &bytes)) {
  std::string bytes = makeBundleSample();
  Artifact file;
  Diagnostic diagnostic;
  EXPECT_TRUE(openArtifact(bytes.data(), bytes.size(), {}, file, diagnostic));
  size_t at =
      size_t(reinterpret_cast<const char *>(file.programs.data) - bytes.data());
  change(reinterpret_cast<alula_file_program *>(&bytes[at]), bytes);
  fixHashes(bytes);
  return check(bytes);
}

TEST(Bundle, ProgramsShareConstants) {
  std::string one = makeSample(), both = makeBundleSample();
  Artifact file, program;
  Diagnostic diagnostic;
  ASSERT_TRUE(openArtifact(both.data(), both.size(), {}, file, diagnostic));
  ASSERT_TRUE(verifyArtifact(file, diagnostic)) << diagnostic.text;
  EXPECT_EQ(file.minor, 3);
  ASSERT_EQ(file.programs.size, 2u);
  EXPECT_STREQ(file.getString(file.programs[1].name), "cpu:x86-64-v3:cores=2");
  EXPECT_EQ(file.programs[1].cores, 2u);
  EXPECT_EQ(file.data.size, 16u);
  for (uint64_t i = 0; i < 2; ++i) {
    ASSERT_TRUE(openProgram(file, i, program, diagnostic)) << diagnostic.text;
    EXPECT_EQ(program.minor, 0);
    EXPECT_EQ(program.data.data, file.data.data);
    EXPECT_EQ(program.functions.size, 3u);
  }
  std::string text = printText(file);
  EXPECT_NE(text.find("program 1 \"cpu:x86-64-v3:cores=2\": for 2 cores, "
                      "1048576 bytes of cache each\nartifact version 1.0"),
            text.npos)
      << text;
  EXPECT_NE(printJson(file).find("\"programs\": ["), std::string::npos);
}

TEST(Bundle, Errors) {
  using Records = alula_file_program *;
  EXPECT_EQ(checkPrograms([](Records, std::string &) {}), "ok");
  EXPECT_EQ(checkPrograms([](Records r, std::string &) { r[0].cores = 0; }),
            "program 0: has no name or no cores");
  EXPECT_EQ(checkPrograms([](Records r, std::string &) { r[1].name = 9999; }),
            "program 1: string 9999 is out of range");
  EXPECT_EQ(
      checkPrograms([](Records r, std::string &) { r[1].name = r[0].name; }),
      "program 1 'cpu:x86-64-v3': names must be unique");
  EXPECT_EQ(checkPrograms([](Records r, std::string &) { r[1].offset += 64; }),
            "program 1: out of place");
  EXPECT_EQ(checkPrograms(
                [](Records r, std::string &) { r[1].offset = r[0].offset; }),
            "program 1: out of place");
  // The program itself is checked.
  EXPECT_EQ(checkPrograms([](Records r, std::string &) {
              r[1].bytes -= 64;
            }).rfind("artifact says it has ", 0),
            0u);
  // A program has neither programs nor data of its own.
  Diagnostic diagnostic;
  EXPECT_EQ(bundlePrograms({{"a", 1, 0, makeBundleSample()}}, diagnostic), "");
  EXPECT_STREQ(diagnostic.text, "program 0: must have neither programs nor "
                                "data of its own");
  EXPECT_EQ(bundlePrograms({{"a", 1, 0, "x"}}, diagnostic), "");
}

} // namespace

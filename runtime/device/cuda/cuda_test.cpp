// The driver of NVIDIA's GPUs, on the fake one: what goes wrong, and what only
// it has. What every driver promises is in runtime/conformance.

#include "alula/runtime.hpp"
#include "artifact/cuda_image.h"
#include "artifact/cuda_image_writer.h"
#include "artifact/writer.h"
#include "runtime/device/cuda/device.h"
#include "runtime/device/cuda/fake/control.h"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <limits>
#include <thread>

extern "C" int cuGetProcAddress_v2(const char *name, void **function,
                                   int version, uint64_t flags, int *found);

namespace alula {
namespace {

using namespace alula::artifact;
namespace cuda = alula::runtime::cuda;

const char head[] = ".version 7.0\n.target sm_80\n.address_size 64\n";

class Cuda : public testing::Test {
protected:
  void SetUp() override {
    fakeCudaConfigure(80, 2, 12040);
    fakeCudaReset();
  }
  void TearDown() override {
    fakeCudaReset();
    fakeCudaConfigure(80, 2, 12040);
  }

  static Instance open(const char *device, Error &error) {
    alula_instance_options options = {};
    options.struct_bytes = sizeof options;
    options.device = device;
    return Instance::create(&options, error);
  }

  static void addVariant(ArtifactWriter &file, CudaImageWriter &image,
                         std::vector<std::string> features = {"sm_80"}) {
    VariantSpec variant;
    variant.name = "gpu";
    variant.target = "cuda";
    variant.features = std::move(features);
    variant.kind = ALULA_IMAGE_CUDA;
    variant.image = image.finish(variant.entries);
    file.addVariant(std::move(variant));
  }
  static std::string finish(ArtifactWriter &file) {
    Diagnostic diagnostic;
    std::string bytes = file.finish(diagnostic);
    EXPECT_FALSE(bytes.empty()) << diagnostic.text;
    return bytes;
  }

  /// A function of one f32[64] in place: `launches` are its kernel.
  static std::string write(const std::string &text,
                           std::vector<CudaLaunchSpec> launches,
                           uint64_t scratch = 0,
                           std::vector<std::string> features = {"sm_80"}) {
    ArtifactWriter file;
    CudaImageWriter image;
    image.addModule(text, 80, false);
    image.addKernel(launches);
    uint32_t kernel = file.addKernel({"work", {3}, 0, scratch});
    addVariant(file, image, std::move(features));
    FunctionWriter &f = file.addFunction("main");
    uint32_t type = file.addType(ALULA_DTYPE_F32, {64});
    f.addArgument("x", type);
    f.addResult("y", type);
    uint32_t y = f.result(0);
    f.copy(y, f.immediate(0), f.argument(0), f.immediate(0), f.immediate(256));
    Operand one = f.immediate(1);
    f.dispatch(kernel, one, one, one, {y});
    return finish(file);
  }
  static CudaLaunchSpec launch(const char *entry, uint32_t shared = 0) {
    CudaLaunchSpec spec;
    spec.entry = entry;
    spec.arguments = {{ALULA_CUDA_ARGUMENT_BINDING, 8, 0, 0}};
    spec.block[0] = 64;
    spec.sharedBytes = shared;
    return spec;
  }

  /// What a call gives, or its error.
  static std::string call(const std::string &bytes, std::vector<float> &data) {
    Error error;
    Instance instance = open("cuda", error);
    if (error)
      return error.message();
    Executable model =
        Executable::loadMemory(instance, bytes.data(), bytes.size(), error);
    if (error)
      return error.message();
    Buffer x = Buffer::create(instance, ALULA_DTYPE_F32, {64}, error);
    data.assign(64, 3);
    x.write(data.data(), error);
    std::vector<Buffer> results = model.call(0, {x}, error);
    if (!error)
      results[0].read(data.data(), error);
    return error ? error.message() : "";
  }
  static std::string call(const std::string &bytes) {
    std::vector<float> data;
    return call(bytes, data);
  }
};

/// x = x + 1, then through scratch, then x = x * 2: launches keep their order.
const char chain[] = R"(
.extern .shared .align 16 .b8 dynamic[];
.visible .entry first(.param .u64 x, .param .u64 scratch)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<8>;
  .reg .f32 %f<4>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [scratch];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.f32 %f1, [%rd4];
  add.rn.f32 %f2, %f1, 0f3F800000;
  st.global.f32 [%rd5], %f2;
  ret;
}
.visible .entry second(.param .u64 x, .param .u64 scratch, .param .f32 factor)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<8>;
  .reg .f32 %f<4>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [scratch];
  ld.param.f32 %f3, [factor];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  mov.u32 %r2, dynamic;
  shl.b32 %r3, %r1, 2;
  add.u32 %r2, %r2, %r3;
  ld.global.f32 %f1, [%rd5];
  st.shared.f32 [%r2+65536], %f1;
  ld.shared.f32 %f1, [%r2+65536];
  mul.rn.f32 %f2, %f1, %f3;
  st.global.f32 [%rd4], %f2;
  ret;
}
)";

TEST_F(Cuda, SeveralLaunchesWithScratchAndMuchSharedMemory) {
  CudaLaunchSpec first = launch("first"), second = launch("second", 66560);
  first.arguments.push_back({ALULA_CUDA_ARGUMENT_SCRATCH, 8, 0, 128});
  second.arguments.push_back({ALULA_CUDA_ARGUMENT_SCRATCH, 8, 0, 128});
  second.arguments.push_back({ALULA_CUDA_ARGUMENT_NUMBER, 4, 0, 0x40000000});
  std::vector<float> data;
  uint64_t launches = fakeCudaCount("launches");
  EXPECT_EQ(call(write(std::string(head) + chain, {first, second}, 1024), data),
            "");
  EXPECT_EQ(data, std::vector<float>(64, 8));
  EXPECT_EQ(fakeCudaCount("launches"), launches + 2);
  // All is given back.
  EXPECT_EQ(fakeCudaCount("allocations"), 0u);
  EXPECT_EQ(fakeCudaCount("modules"), 0u);
}

/// y = x in place, `times` times x + 1 then x * 2 by two launches each.
class Graphs : public Cuda {
protected:
  void SetUp() override {
    Cuda::SetUp();
    Error error;
    instance = open("cuda", error);
    ASSERT_FALSE(error) << error.message();
  }

  Executable load(uint32_t times) {
    CudaLaunchSpec first = launch("first"), second = launch("second", 66560);
    first.arguments.push_back({ALULA_CUDA_ARGUMENT_SCRATCH, 8, 0, 128});
    second.arguments.push_back({ALULA_CUDA_ARGUMENT_SCRATCH, 8, 0, 128});
    second.arguments.push_back({ALULA_CUDA_ARGUMENT_NUMBER, 4, 0, 0x40000000});
    ArtifactWriter file;
    CudaImageWriter image;
    image.addModule(std::string(head) + chain, 80, false);
    image.addKernel({first, second});
    uint32_t kernel = file.addKernel({"work", {3}, 0, 1024});
    addVariant(file, image);
    FunctionWriter &f = file.addFunction("main");
    uint32_t type = file.addType(ALULA_DTYPE_F32, {64});
    f.addArgument("x", type);
    f.addResult("y", type);
    uint32_t y = f.result(0);
    f.copy(y, f.immediate(0), f.argument(0), f.immediate(0), f.immediate(256));
    Operand one = f.immediate(1);
    for (uint32_t i = 0; i < times; ++i)
      f.dispatch(kernel, one, one, one, {y});
    Error error;
    kept.push_back(finish(file));
    Executable model = Executable::loadMemory(instance, kept.back().data(),
                                              kept.back().size(), error);
    EXPECT_FALSE(error) << error.message();
    return model;
  }

  Buffer make(float value) {
    Error error;
    Buffer x = Buffer::create(instance, ALULA_DTYPE_F32, {64}, error);
    std::vector<float> data(64, value);
    x.write(data.data(), error);
    EXPECT_FALSE(error) << error.message();
    return x;
  }

  /// The first element of what a call gives.
  float run(const Executable &model, const Buffer &x) {
    Error error;
    std::vector<Buffer> results = model.call(0, {x}, error);
    EXPECT_FALSE(error) << error.message();
    std::vector<float> data(64);
    if (!error)
      results[0].read(data.data(), error);
    EXPECT_EQ(data, std::vector<float>(64, data[0]));
    last = std::move(results);
    return data[0];
  }

  Instance instance;
  std::deque<std::string> kept;
  /// Lives on, so that the next result lies elsewhere.
  std::vector<Buffer> last;
};

TEST_F(Graphs, WhatComesAgainIsOne) {
  Executable model = load(3);
  uint64_t before = fakeCudaCount("graph launches");
  Buffer x = make(1), other = make(2);
  // ((1 + 1) * 2 + 1) * 2 …
  EXPECT_EQ(run(model, x), 22);
  EXPECT_EQ(fakeCudaCount("graph launches"), before);
  EXPECT_EQ(run(model, x), 22);
  EXPECT_EQ(fakeCudaCount("graph launches"), before + 1);
  // Other arguments and results are changed in the graph.
  uint64_t graphs = fakeCudaCount("graphs"),
           changed = fakeCudaCount("changed nodes");
  std::vector<Buffer> first = std::move(last);
  EXPECT_EQ(run(model, other), 30);
  EXPECT_EQ(fakeCudaCount("graph launches"), before + 2);
  EXPECT_EQ(fakeCudaCount("graphs"), graphs);
  EXPECT_GT(fakeCudaCount("changed nodes"), changed);
  // An argument on the host is memory of another kind: a graph of its own.
  Error error;
  Buffer host = Buffer::createOnHost(instance, ALULA_DTYPE_F32, {64}, error);
  ASSERT_FALSE(error) << error.message();
  for (int i = 0; i < 64; ++i)
    host.data<float>()[i] = 5;
  for (int turn = 0; turn < 3; ++turn)
    EXPECT_EQ(run(model, host), 54);
  EXPECT_EQ(run(model, x), 22);
}

TEST_F(Graphs, ShortListsAreNone) {
  Executable model = load(1);
  uint64_t before = fakeCudaCount("graph launches");
  for (int turn = 0; turn < 3; ++turn)
    EXPECT_EQ(run(model, make(3)), 8);
  EXPECT_EQ(fakeCudaCount("graph launches"), before);
}

TEST_F(Graphs, LongListsAreSeveral) {
  Executable model = load(1100);
  // x + 1 and x * 2 end at infinity.
  for (int turn = 0; turn < 3; ++turn)
    EXPECT_EQ(run(model, make(1)), std::numeric_limits<float>::infinity());
  uint64_t before = fakeCudaCount("graph launches");
  run(model, make(1));
  EXPECT_EQ(fakeCudaCount("graph launches"), before + 3);
}

TEST_F(Graphs, OthersTakeThePlaceOfOldOnes) {
  std::vector<Executable> models;
  for (uint32_t times = 2; times < 14; ++times)
    models.push_back(load(times));
  for (int turn = 0; turn < 3; ++turn)
    for (uint32_t times = 2; times < 14; ++times) {
      float want = 1;
      for (uint32_t i = 0; i < times; ++i)
        want = (want + 1) * 2;
      EXPECT_EQ(run(models[times - 2], make(1)), want);
    }
  // Eight graphs at most, with what runs of each.
  EXPECT_LE(fakeCudaCount("graphs"), 16u);
}

TEST_F(Graphs, KernelsThatAreGoneAreNotTheirs) {
  for (int turn = 0; turn < 4; ++turn) {
    Executable model = load(2);
    for (int again = 0; again < 3; ++again)
      EXPECT_EQ(run(model, make(1)), 10);
  }
}

TEST_F(Graphs, WhatCanNotBeOneIsGivenOneByOne) {
  Executable model = load(3);
  Buffer x = make(1), other = make(2);
  run(model, x);
  for (const char *name : {"GraphCreate", "GraphAddKernelNode",
                           "GraphAddMemcpyNode", "GraphInstantiateWithFlags"}) {
    fakeCudaFailNext(name, cuda::outOfMemory);
    uint64_t before = fakeCudaCount("graph launches");
    EXPECT_EQ(run(model, x), 22) << name;
    EXPECT_EQ(fakeCudaCount("graph launches"), before) << name;
    EXPECT_EQ(fakeCudaCount("graphs"), 0u) << name;
  }
  EXPECT_EQ(run(model, x), 22);
  fakeCudaFailNext("GraphExecKernelNodeSetParams", cuda::invalidValue);
  EXPECT_EQ(run(model, other), 30);
  EXPECT_EQ(run(model, other), 30);
  // An error of the launch itself is one.
  fakeCudaFailNext("GraphLaunch", cuda::outOfMemory);
  Error error;
  (void)model.call(0, {x}, error);
  EXPECT_STREQ(error.message(),
               "function 'main': a graph, after kernel 'work' or before it: "
               "CUDA_ERROR_OUT_OF_MEMORY: no more is known");
  EXPECT_EQ(run(model, x), 22);
}

TEST_F(Cuda, ErrorsOfCode) {
  std::string text =
      std::string(head) + ".visible .entry work(.param .u64 x)\n{\n";
  EXPECT_EQ(
      call(write(text + "frobnicate.u32 %r1;\n}\n", {launch("work")})),
      "variant 'gpu': module 0 for sm_80: ptxas application ptx input, line 6: "
      "the instruction 'frobnicate.u32' is not known: CUDA_ERROR_INVALID_PTX: "
      "no more is known");
  EXPECT_EQ(
      call(write(text + "ret;\n}\n", {launch("other")})),
      "variant 'gpu': entry 'other': CUDA_ERROR_NOT_FOUND: no more is known");
  EXPECT_EQ(
      call(write(".version 9.9\n.target sm_80\n.address_size 64\n",
                 {launch("work")})),
      "variant 'gpu': module 0 needs a newer version of PTX than the driver of "
      "CUDA 12.4 reads");
  EXPECT_EQ(call(write(text + "ret;\n}\n", {launch("work")}, 0, {"sm_90a"})),
            "no variant fits this machine: 'gpu' needs sm_90a; this is sm_80; "
            "alula-compile --target=cuda:sm_80 makes one that fits");
}

TEST_F(Cuda, ErrorsOfKernelsKillTheContext) {
  std::string text = std::string(head) + R"(.visible .entry work(.param .u64 x)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  mov.u64 %rd1, 64;
  ld.global.u32 %r1, [%rd1];
  ret;
}
)";
  std::string bytes = write(text, {launch("work")});
  Error error;
  Instance instance = open("cuda", error);
  ASSERT_FALSE(error) << error.message();
  Executable model =
      Executable::loadMemory(instance, bytes.data(), bytes.size(), error);
  Buffer x = Buffer::create(instance, ALULA_DTYPE_F32, {64}, error);
  (void)model.call(0, {x}, error);
  EXPECT_STREQ(
      error.message(),
      "function 'main': waiting for the device, after kernel 'work' or before "
      "it: CUDA_ERROR_ILLEGAL_ADDRESS: kernel 'work', line 9, block (0, 0, 0), "
      "thread (0, 0, 0): reads 4 bytes at 0x40, where no memory is");
  // From now on everything fails, and nothing crashes.
  error.clear();
  (void)model.call(0, {x}, error);
  EXPECT_TRUE(error);
}

TEST_F(Cuda, ErrorsOfTheDriver) {
  Error error;
  (void)open("cuda:5", error);
  EXPECT_STREQ(error.message(),
               "there is no device 'cuda:5': this machine has 2");
  error.clear();
  fakeCudaFailNext("MemPoolCreate", 801);
  (void)open("cuda", error);
  EXPECT_STREQ(error.message(), "cuMemPoolCreate: ?: no more is known");
  error.clear();
  Instance instance = open("cuda", error);
  ASSERT_FALSE(error) << error.message();
  fakeCudaFailNext("MemAllocFromPoolAsync", cuda::outOfMemory);
  (void)Buffer::create(instance, ALULA_DTYPE_F32, {64}, error);
  EXPECT_EQ(error.code(), ALULA_STATUS_RESOURCE_EXHAUSTED);
  // That one does not kill anything.
  error.clear();
  (void)Buffer::create(instance, ALULA_DTYPE_F32, {64}, error);
  EXPECT_FALSE(error);
}

TEST_F(Cuda, TwoDevices) {
  Error error;
  Instance first = open("cuda:0", error), second = open("cuda:1", error);
  ASSERT_FALSE(error) << error.message();
  Buffer here = Buffer::create(first, ALULA_DTYPE_F32, {64}, error);
  Buffer there = Buffer::create(second, ALULA_DTYPE_F32, {64}, error);
  std::vector<float> data(64, 5), seen(64);
  here.write(data.data(), error);
  error.take(alula_buffer_copy(there.get(), 0, here.get(), 0, 256, nullptr));
  there.read(seen.data(), error);
  ASSERT_FALSE(error) << error.message();
  EXPECT_EQ(seen, data);
}

// ---- Loops ----

/// Counts rounds in x[1]; y says whether the count is below the one in x[0].
/// The second may fail.
const char count[] = R"(
.visible .entry add(.param .u64 x)
{
  .reg .f32 %f<2>;
  .reg .b64 %d<2>;
  ld.param.u64 %d1, [x];
  ld.global.f32 %f1, [%d1+4];
  add.f32 %f1, %f1, 0f3F800000;
  st.global.f32 [%d1+4], %f1;
  ret;
}
.visible .entry add_or_fail(.param .u64 x, .param .u64 code)
{
  .reg .pred %p<2>;
  .reg .b32 %r<2>;
  .reg .f32 %f<2>;
  .reg .b64 %d<3>;
  ld.param.u64 %d1, [x];
  ld.param.u64 %d2, [code];
  ld.global.f32 %f1, [%d1+4];
  add.f32 %f1, %f1, 0f3F800000;
  st.global.f32 [%d1+4], %f1;
  setp.lt.f32 %p1, %f1, 0f40400000;
  @%p1 bra DONE;
  mov.u32 %r1, 7;
  st.global.u32 [%d2], %r1;
DONE:
  ret;
}
.visible .entry compare(.param .u64 x, .param .u64 y)
{
  .reg .pred %p<2>;
  .reg .b32 %r<2>;
  .reg .f32 %f<3>;
  .reg .b64 %d<3>;
  ld.param.u64 %d1, [x];
  ld.param.u64 %d2, [y];
  ld.global.f32 %f1, [%d1];
  ld.global.f32 %f2, [%d1+4];
  setp.lt.f32 %p1, %f2, %f1;
  selp.u32 %r1, 1, 0, %p1;
  st.global.u8 [%d2], %r1;
  ret;
}
)";

class Loops : public Cuda {
protected:
  /// x[1] counts up to x[0].
  static std::string writeLoop(bool mayFail, bool isConditionResult = false) {
    ArtifactWriter file;
    CudaImageWriter image;
    image.addModule(std::string(head) + count, 80, false);
    auto addKernel = [&](const char *entry, bool hasOther, bool fails) {
      CudaLaunchSpec spec;
      spec.entry = entry;
      spec.arguments = {{ALULA_CUDA_ARGUMENT_BINDING, 8, 0, 0}};
      if (hasOther)
        spec.arguments.push_back({ALULA_CUDA_ARGUMENT_BINDING, 8, 1, 0});
      if (fails)
        spec.arguments.push_back({ALULA_CUDA_ARGUMENT_FAILURE, 8, 0, 0});
      image.addKernel({spec});
    };
    addKernel(mayFail ? "add_or_fail" : "add", false, mayFail);
    addKernel("compare", true, false);
    uint32_t add = file.addKernel({"add", {3}, 0, 0}),
             compare = file.addKernel({"compare", {1, 2}, 0, 0});
    addVariant(file, image);
    FunctionWriter &f = file.addFunction("main");
    uint32_t type = file.addType(ALULA_DTYPE_F32, {64});
    f.addArgument("x", type);
    f.addResult("y", type);
    if (isConditionResult)
      f.addResult("condition", type);
    f.setArenaBytes(64);
    uint32_t y = f.result(0);
    uint32_t condition = isConditionResult
                             ? f.addSlot(ALULA_SLOT_RESULT, 1, 0, 1)
                             : f.arena(0, 1);
    Operand one = f.immediate(1), zero = f.immediate(0);
    f.copy(y, zero, f.argument(0), zero, f.immediate(256));
    uint32_t test = f.newBlock(), body = f.newBlock();
    Operand again = f.newRegister();
    f.loop(test, again, body);
    f.setBlock(test);
    f.dispatch(compare, one, one, one, {y, condition});
    f.load(again, ALULA_DTYPE_I1, condition, zero);
    f.setBlock(body);
    f.dispatch(add, one, one, one, {y});
    return finish(file);
  }

  /// x[1] of a loop up to `rounds`, or the error.
  std::string run(const std::string &bytes, float rounds,
                  const int *cancel = nullptr) {
    Error error;
    Instance instance = open("cuda", error);
    Executable model =
        Executable::loadMemory(instance, bytes.data(), bytes.size(), error);
    Buffer x = Buffer::create(instance, ALULA_DTYPE_F32, {64}, error);
    std::vector<float> data(64);
    data[0] = rounds;
    x.write(data.data(), error);
    alula_call_options options = {};
    options.struct_bytes = sizeof options;
    options.cancel = cancel;
    alula_buffer *given = x.get(), *result = nullptr;
    if (!error)
      error.take(alula_call(model.get(), 0, &options, &given, 1, &result, 1));
    if (error)
      return error.message();
    Buffer(result).read(data.data(), error);
    return std::to_string(int(data[1]));
  }
};

TEST_F(Loops, OneLaunch) {
  std::string bytes = writeLoop(false);
  for (int rounds : {0, 1, 7}) {
    uint64_t before = fakeCudaCount("graph launches");
    EXPECT_EQ(run(bytes, float(rounds)), std::to_string(rounds));
    EXPECT_EQ(fakeCudaCount("graph launches"), before + 1);
  }
  EXPECT_EQ(fakeCudaCount("graphs"), 0u);
  EXPECT_EQ(fakeCudaCount("modules"), 0u);
}

TEST_F(Loops, ConditionsThatLieElsewhere) {
  std::string bytes = writeLoop(false, true);
  Error error;
  Instance instance = open("cuda", error);
  Executable model =
      Executable::loadMemory(instance, bytes.data(), bytes.size(), error);
  ASSERT_FALSE(error) << error.message();
  // What lives on has another place than what comes.
  std::vector<std::vector<Buffer>> kept;
  uint64_t before = fakeCudaCount("graph launches");
  for (float rounds : {3.f, 1.f, 4.f}) {
    Buffer x = Buffer::create(instance, ALULA_DTYPE_F32, {64}, error);
    std::vector<float> data(64);
    data[0] = rounds;
    x.write(data.data(), error);
    kept.push_back(model.call(0, {x}, error));
    ASSERT_FALSE(error) << error.message();
    kept.back()[0].read(data.data(), error);
    EXPECT_EQ(data[1], rounds);
  }
  EXPECT_EQ(fakeCudaCount("graph launches"), before + 3);
}

TEST_F(Loops, KernelsThatMayFailAreLookedAtInEachRound) {
  std::string bytes = writeLoop(true);
  uint64_t before = fakeCudaCount("graph launches");
  EXPECT_EQ(run(bytes, 2), "2");
  // Who decides rounds on the device would go on for ever.
  EXPECT_EQ(run(bytes, std::numeric_limits<float>::infinity()),
            "function 'main': kernel 'add' failed with code 7");
  EXPECT_EQ(fakeCudaCount("graph launches"), before);
}

TEST_F(Loops, ThatHaveNoEndAreCancelled) {
  std::string bytes = writeLoop(false);
  for (const char *fails : {"", "GraphAddNode"}) {
    if (*fails)
      fakeCudaFailNext(fails, cuda::invalidValue);
    int cancel = 0;
    uint64_t before = fakeCudaCount("launches");
    std::atomic<bool> hasEnded = false;
    std::thread other([&] {
      while (!hasEnded && fakeCudaCount("launches") < before + 100)
        std::this_thread::yield();
      __atomic_store_n(&cancel, 1, __ATOMIC_RELAXED);
    });
    EXPECT_EQ(run(bytes, std::numeric_limits<float>::infinity(), &cancel),
              "function 'main': the call was cancelled");
    hasEnded = true;
    other.join();
    // The next one is not.
    EXPECT_EQ(run(bytes, 3), "3");
  }
}

TEST(CudaCode, TheBestFormOfAModule) {
  alula_cuda_code codes[] = {
      {ALULA_CUDA_PTX, 80, 0, 0, 0, 0},
      {ALULA_CUDA_CUBIN, 80, 0, 0, 0, 0},
      {ALULA_CUDA_CUBIN, 86, 0, 0, 0, 0},
      {ALULA_CUDA_PTX, 90, ALULA_CUDA_CODE_EXACT, 0, 0, 0},
      {ALULA_CUDA_CUBIN, 90, ALULA_CUDA_CODE_EXACT, 0, 0, 0}};
  CudaImage image;
  image.codes = {codes, 5};
  alula_cuda_module all = {0, 5}, exact = {3, 1};
  auto choose = [&](const alula_cuda_module &module, uint32_t chip) {
    return cuda::chooseCode(image, module, chip, true);
  };
  EXPECT_EQ(choose(all, 75), ALULA_NONE);
  EXPECT_EQ(choose(all, 80), 1u);
  EXPECT_EQ(choose(all, 86), 2u);
  EXPECT_EQ(choose(all, 89), 2u);
  EXPECT_EQ(choose(all, 90), 4u);
  EXPECT_EQ(choose(all, 100), 0u);
  EXPECT_EQ(choose(exact, 90), 3u);
  EXPECT_EQ(choose(exact, 100), ALULA_NONE);
}

/// Of the fake driver: the rules are tested beside them (emulator).
TEST(FakeCuda, MapsOfTensors) {
  void *function = nullptr;
  ASSERT_EQ(cuGetProcAddress_v2("cuTensorMapEncodeTiled", &function, 12040, 0,
                                nullptr),
            0);
  auto encode = reinterpret_cast<int (*)(
      void *, int, uint32_t, void *, const uint64_t *, const uint64_t *,
      const uint32_t *, const uint32_t *, int, int, int, int)>(function);
  alignas(64) char map[192];
  alignas(16) static char memory[1024];
  const uint64_t sizes[] = {64, 4}, stride = 128;
  const uint32_t box[] = {64, 4}, steps[] = {1, 1};
  auto attempt = [&](char *place, char *address) {
    return encode(place, 9, 2, address, sizes, &stride, box, steps, 0, 3, 0, 0);
  };
  EXPECT_EQ(attempt(map, memory), 0);
  EXPECT_EQ(attempt(map + 32, memory), 1);
  EXPECT_EQ(attempt(map, memory + 8), 1);
}

} // namespace
} // namespace alula

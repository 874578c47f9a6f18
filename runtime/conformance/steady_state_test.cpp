// A warm call allocates nothing, neither through the embedder's allocator nor
// from the C library; what a call costs is printed.

#include "runtime/conformance/suite.h"

#include <atomic>
#include <ctime>

using namespace alula;
using namespace alula::runtime;

/// The linker sends the runtime's calls of malloc and so on here (--wrap).
static std::atomic<long> allocations{0};
extern "C" {
void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__real_realloc(void *, size_t);
void *__real_aligned_alloc(size_t, size_t);
void *__wrap_malloc(size_t);
void *__wrap_calloc(size_t, size_t);
void *__wrap_realloc(void *, size_t);
void *__wrap_aligned_alloc(size_t, size_t);
void *__wrap_malloc(size_t bytes) {
  ++allocations;
  return __real_malloc(bytes);
}
void *__wrap_calloc(size_t count, size_t bytes) {
  ++allocations;
  return __real_calloc(count, bytes);
}
void *__wrap_realloc(void *memory, size_t bytes) {
  ++allocations;
  return __real_realloc(memory, bytes);
}
void *__wrap_aligned_alloc(size_t alignment, size_t bytes) {
  ++allocations;
  return __real_aligned_alloc(alignment, bytes);
}
}

namespace {

double readClock() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return double(now.tv_sec) * 1e9 + double(now.tv_nsec);
}

using SteadyState = Conformance;
INSTANTIATE_TEST_SUITE_P(Device, SteadyState, getDevices(),
                         [](const auto &info) { return info.param; });

/// Best time of a call in ns, over blocks of 1000.
double measure(const Executable &model, uint32_t function,
               std::vector<alula_buffer *> in,
               std::vector<alula_buffer *> out) {
  double best = 1e18;
  for (int block = 0; block < 20; ++block) {
    double begin = readClock();
    for (int i = 0; i < 1000; ++i)
      if (alula_call(model.get(), function, nullptr, in.data(), in.size(),
                     out.data(), out.size()))
        return -1;
    best = std::min(best, (readClock() - begin) / 1000);
  }
  return best;
}

TEST_P(SteadyState, NoAllocation) {
  KernelFile file;
  uint32_t four = file.addType(ALULA_DTYPE_F32, {4});
  uint32_t any = file.addType(ALULA_DTYPE_F32, {Dim::dynamic("n")});
  FunctionWriter &add = file.addFunction("add");
  add.addArgument("x", four);
  add.addResult("y", four);
  Operand one = add.immediate(1), zero = add.immediate(0);
  uint32_t x = add.argument(0);
  add.dispatch(file.addF32, one, one, one, {x, x, add.result(0)},
               {add.immediate(4)});
  // Memory of a size known at run time, a thread for each of two pieces.
  FunctionWriter &dynamic = file.addFunction("dynamic");
  dynamic.addArgument("x", any);
  dynamic.addResult("y", any);
  Operand n = dynamic.argumentDim(0, 0);
  Operand bytes = dynamic.compute(ALULA_OPERATOR_MUL, n, dynamic.immediate(4));
  uint32_t t = dynamic.local(), in = dynamic.argument(0);
  dynamic.bindResult(0, {n});
  dynamic.alloc(t, bytes);
  dynamic.dispatch(file.addF32, dynamic.immediate(2), one, one, {in, in, t},
                   {n});
  dynamic.copy(dynamic.result(0), zero, t, zero, bytes);
  // 1000 turns of a loop on the host side.
  FunctionWriter &loop = file.addFunction("loop");
  uint32_t test = loop.newBlock(), body = loop.newBlock();
  Operand i = loop.newRegister(), going = loop.newRegister();
  loop.loop(test, going, body);
  loop.setBlock(test);
  loop.compute(going, ALULA_OPERATOR_LT, i, loop.immediate(1000));
  loop.setBlock(body);
  loop.compute(i, ALULA_OPERATOR_ADD, i, one);
  Executable model = load(file);

  Buffer small = makeF32({1, 2, 3, 4}), smallOut = makeF32({0, 0, 0, 0});
  Buffer large = makeF32(std::vector<float>(5000, 1)),
         largeOut = makeF32(std::vector<float>(5000));
  auto callAll = [&](int times) {
    alula_buffer *buffers[] = {small.get(), smallOut.get(), large.get(),
                               largeOut.get()};
    for (int k = 0; k < times; ++k) {
      EXPECT_FALSE(
          alula_call(model.get(), 0, nullptr, buffers, 1, buffers + 1, 1));
      EXPECT_FALSE(
          alula_call(model.get(), 1, nullptr, buffers + 2, 1, buffers + 3, 1));
    }
  };
  callAll(3);
  allocations = 0;
  callAll(100);
  EXPECT_EQ(allocations, 0);
  double addTime = measure(model, 0, {small.get()}, {smallOut.get()});
  double loopTime = measure(model, 2, {}, {});
  printf("%s: add of 4 floats %.0f ns a call, 1000 loop turns %.1f us\n",
         GetParam(), addTime, loopTime / 1000);
}

TEST_P(SteadyState, NoAllocationForCollectives) {
  ArtifactWriter file;
  uint32_t type = file.addType(ALULA_DTYPE_I64, {8});
  FunctionWriter &main = file.addFunction("main");
  main.addArgument("x", type);
  main.addResult("y", type);
  main.setArenaBytes(64);
  uint32_t t = main.arena(0, 64);
  main.collectiveDone(main.collectiveStart(
      file.addCollective({.kind = ALULA_COLLECTIVE_ALL_REDUCE,
                          .reduction = ALULA_REDUCTION_SUM,
                          .dtype = ALULA_DTYPE_I64,
                          .groups = file.addGroups(1, {{0}}),
                          .count = 8}),
      main.argument(0), t));
  main.collectiveDone(main.collectiveStart(
      file.addCollective({.kind = ALULA_COLLECTIVE_PERMUTE,
                          .dtype = ALULA_DTYPE_I64,
                          .groups = file.addGroups(1, {{0, 0}}),
                          .count = 8}),
      t, main.result(0)));
  Executable model = load(file);
  alula_collectives_options settings = {};
  settings.struct_bytes = sizeof settings;
  settings.participant_count = 1;
  alula_call_options options = {};
  options.struct_bytes = sizeof options;
  ASSERT_FALSE(alula_collectives_create(&settings, &options.collectives));
  Buffer x = makeI64({1, 2, 3, 4, 5, 6, 7, 8}),
         y = makeI64(std::vector<int64_t>(8));
  alula_buffer *in = x.get(), *out = y.get();
  auto callOften = [&](int times) {
    for (int k = 0; k < times; ++k)
      EXPECT_FALSE(alula_call(model.get(), 0, &options, &in, 1, &out, 1));
  };
  callOften(3);
  allocations = 0;
  callOften(100);
  EXPECT_EQ(allocations, 0);
  EXPECT_EQ(get<int64_t>(y), get<int64_t>(x));
  alula_collectives_destroy(options.collectives);
}

} // namespace

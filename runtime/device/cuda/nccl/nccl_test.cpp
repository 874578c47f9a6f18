// Collectives of several GPUs by NCCL, on fake ones: what NCCL gives is
// compared with what every element should be, and what it can't do with the
// host's way.

#include "runtime/device/cuda/nccl/suite.h"

#include <cmath>
#include <limits>

namespace alula {
namespace {

TEST_F(Nccl, EveryKind) {
  using Values = std::vector<std::vector<int32_t>>;
  Values given = {
      {1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}, {13, 14, 15, 16}};
  Groups groups = {{2, 0}, {1, 3}};
  auto run = [&](alula_collective_kind kind, uint64_t count, size_t gotten,
                 const Groups &who,
                 alula_reduction reduction = ALULA_REDUCTION_NONE) {
    return exchange<int32_t>(kind, ALULA_DTYPE_I32, who, count, given, gotten,
                             reduction);
  };
  auto count = [](const char *name) { return fakeNcclCount(name); };
  uint64_t sums = count("AllReduce"), gathers = count("AllGather"),
           scatters = count("ReduceScatter"), sends = count("Send"),
           broadcasts = count("Broadcast");
  EXPECT_EQ(
      run(ALULA_COLLECTIVE_ALL_REDUCE, 4, 4, {{3, 1, 0}}, ALULA_REDUCTION_SUM),
      (Values{
          {19, 22, 25, 28}, {19, 22, 25, 28}, {0, 0, 0, 0}, {19, 22, 25, 28}}));
  EXPECT_EQ(count("AllReduce"), sums + 3);
  EXPECT_EQ(run(ALULA_COLLECTIVE_ALL_GATHER, 4, 8, groups),
            (Values{{9, 10, 11, 12, 1, 2, 3, 4},
                    {5, 6, 7, 8, 13, 14, 15, 16},
                    {9, 10, 11, 12, 1, 2, 3, 4},
                    {5, 6, 7, 8, 13, 14, 15, 16}}));
  EXPECT_EQ(count("AllGather"), gathers + 4);
  EXPECT_EQ(
      run(ALULA_COLLECTIVE_REDUCE_SCATTER, 2, 2, groups, ALULA_REDUCTION_MAX),
      (Values{{11, 12}, {13, 14}, {9, 10}, {15, 16}}));
  EXPECT_EQ(count("ReduceScatter"), scatters + 4);
  EXPECT_EQ(
      run(ALULA_COLLECTIVE_ALL_TO_ALL, 2, 4, groups),
      (Values{{11, 12, 3, 4}, {5, 6, 13, 14}, {9, 10, 1, 2}, {7, 8, 15, 16}}));
  EXPECT_EQ(
      run(ALULA_COLLECTIVE_ALL_TO_ALL, 1, 4, {{0, 1, 2, 3}}),
      (Values{{1, 5, 9, 13}, {2, 6, 10, 14}, {3, 7, 11, 15}, {4, 8, 12, 16}}));
  EXPECT_EQ(count("Send"), sends + 4 + 12);
  EXPECT_EQ(
      run(ALULA_COLLECTIVE_PERMUTE, 4, 4, {{0, 1}, {1, 0}, {2, 2}}),
      (Values{{5, 6, 7, 8}, {1, 2, 3, 4}, {9, 10, 11, 12}, {0, 0, 0, 0}}));
  EXPECT_EQ(run(ALULA_COLLECTIVE_PERMUTE, 4, 4, {{0, 3}}),
            (Values{{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {1, 2, 3, 4}}));
  EXPECT_EQ(
      run(ALULA_COLLECTIVE_PERMUTE, 4, 4, {{3, 0}, {0, 1}, {1, 2}, {2, 3}}),
      (Values{{13, 14, 15, 16}, {1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}}));
  EXPECT_EQ(run(ALULA_COLLECTIVE_PERMUTE, 4, 4, {}), Values(4, {0, 0, 0, 0}));
  EXPECT_EQ(count("Send"), sends + 16 + 2 + 1 + 4);
  EXPECT_EQ(
      run(ALULA_COLLECTIVE_BROADCAST, 4, 4, {{3, 1, 0}}),
      (Values{
          {13, 14, 15, 16}, {13, 14, 15, 16}, {0, 0, 0, 0}, {13, 14, 15, 16}}));
  EXPECT_EQ(count("Broadcast"), broadcasts + 3);
  // Alone; and nothing at all.
  EXPECT_EQ(run(ALULA_COLLECTIVE_ALL_REDUCE, 4, 4, {{0}, {1}, {2}, {3}},
                ALULA_REDUCTION_SUM),
            given);
  exchange<float>(ALULA_COLLECTIVE_ALL_REDUCE, ALULA_DTYPE_F32, {{0, 1}}, 0,
                  {{}, {}}, 0, ALULA_REDUCTION_SUM);
}

/// Small numbers, whose sums and products are exact in any order: so both ways
/// give the same bytes, whoever carries them.
TEST_F(Nccl, EveryTypeAndReduction) {
  struct {
    alula_dtype dtype;
    std::vector<std::vector<uint8_t>> numbers; ///< 0 to 3
  } types[] = {
      {ALULA_DTYPE_I8, {{0}, {1}, {2}, {3}}},
      {ALULA_DTYPE_UI8, {{0}, {1}, {2}, {3}}},
      {ALULA_DTYPE_I16, {{0, 0}, {1, 0}, {2, 0}, {3, 0}}},
      {ALULA_DTYPE_UI16, {{0, 0}, {1, 0}, {2, 0}, {3, 0}}},
      {ALULA_DTYPE_F16, {{0, 0}, {0, 0x3C}, {0, 0x40}, {0, 0x42}}},
      {ALULA_DTYPE_BF16, {{0, 0}, {0x80, 0x3F}, {0, 0x40}, {0x40, 0x40}}},
  };
  auto encode = [&](alula_dtype dtype, int number) {
    std::vector<uint8_t> made(alula_dtype_get_bytes(dtype));
    for (const auto &type : types)
      if (type.dtype == dtype)
        return type.numbers[size_t(number)];
    auto put = [&](auto value) { memcpy(made.data(), &value, sizeof value); };
    switch (dtype) {
    case ALULA_DTYPE_F32:
    case ALULA_DTYPE_C64:
      put(float(number));
      return made;
    case ALULA_DTYPE_F64:
    case ALULA_DTYPE_C128:
      put(double(number));
      return made;
    default:
      made[0] = uint8_t(dtype == ALULA_DTYPE_I1 ? number % 2 : number);
      return made;
    }
  };
  const alula_dtype dtypes[] = {
      ALULA_DTYPE_I1,   ALULA_DTYPE_I8,   ALULA_DTYPE_I16,  ALULA_DTYPE_I32,
      ALULA_DTYPE_I64,  ALULA_DTYPE_UI8,  ALULA_DTYPE_UI16, ALULA_DTYPE_UI32,
      ALULA_DTYPE_UI64, ALULA_DTYPE_BF16, ALULA_DTYPE_F16,  ALULA_DTYPE_F32,
      ALULA_DTYPE_F64,  ALULA_DTYPE_C64,  ALULA_DTYPE_C128};
  for (alula_dtype dtype : dtypes)
    for (uint32_t reduction = ALULA_REDUCTION_SUM;
         reduction <= ALULA_REDUCTION_LAST; ++reduction) {
      if (!alula_reduction_takes(reduction, dtype))
        continue;
      SCOPED_TRACE(std::string(alula_dtype_get_name(dtype)) + " " +
                   alula_reduction_get_name(reduction));
      std::vector<std::vector<uint8_t>> given(3);
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 5; ++j) {
          std::vector<uint8_t> one = encode(dtype, (i * 2 + j) % 4);
          given[size_t(i)].insert(given[size_t(i)].end(), one.begin(),
                                  one.end());
        }
      uint64_t before = fakeNcclCount("AllReduce");
      auto run = [&](alula_device_collectives devices) {
        return exchange<uint8_t>(ALULA_COLLECTIVE_ALL_REDUCE, dtype,
                                 {{0, 1, 2}}, 5, given, 5,
                                 alula_reduction(reduction), devices);
      };
      auto byNccl = run(ALULA_DEVICE_COLLECTIVES_ALWAYS);
      bool isFloat = alula_dtype_get_kind(dtype) == ALULA_KIND_FLOAT;
      bool isOrder =
          reduction == ALULA_REDUCTION_MIN || reduction == ALULA_REDUCTION_MAX;
      bool isBits = reduction >= ALULA_REDUCTION_AND;
      bool hasIt = dtype == ALULA_DTYPE_I1 ? reduction != ALULA_REDUCTION_XOR
                                           : !isBits && !(isFloat && isOrder) &&
                                                 dtype != ALULA_DTYPE_I16 &&
                                                 dtype != ALULA_DTYPE_UI16;
      EXPECT_EQ(fakeNcclCount("AllReduce"), before + (hasIt ? 3 : 0));
      EXPECT_EQ(byNccl, run(ALULA_DEVICE_COLLECTIVES_NEVER));
      EXPECT_EQ(fakeNcclCount("AllReduce"), before + (hasIt ? 3 : 0));
    }
}

TEST_F(Nccl, MovesEveryType) {
  // Bytes are bytes: also those of types that NCCL has no name for.
  for (alula_dtype dtype : {ALULA_DTYPE_F8E4M3FN, ALULA_DTYPE_I16,
                            ALULA_DTYPE_C128, ALULA_DTYPE_I1}) {
    size_t each = alula_dtype_get_bytes(dtype);
    std::vector<std::vector<uint8_t>> given(2);
    for (size_t i = 0; i < 2 * each; ++i)
      given[0].push_back(uint8_t(i % 2)), given[1].push_back(uint8_t(1));
    std::vector<uint8_t> both = given[0];
    both.insert(both.end(), given[1].begin(), given[1].end());
    uint64_t before = fakeNcclCount("AllGather");
    EXPECT_EQ(exchange<uint8_t>(ALULA_COLLECTIVE_ALL_GATHER, dtype, {{0, 1}}, 2,
                                given, 4),
              (std::vector<std::vector<uint8_t>>{both, both}));
    EXPECT_EQ(fakeNcclCount("AllGather"), before + 2);
  }
}

TEST_F(Nccl, NanIsTheLargest) {
  float nan = std::numeric_limits<float>::quiet_NaN();
  auto most =
      exchange<float>(ALULA_COLLECTIVE_ALL_REDUCE, ALULA_DTYPE_F32, {{0, 1}}, 2,
                      {{1, nan}, {2, 3}}, 2, ALULA_REDUCTION_MAX);
  for (const std::vector<float> &one : most) {
    EXPECT_EQ(one[0], 2);
    EXPECT_TRUE(std::isnan(one[1]));
  }
}

TEST_F(Nccl, NothingIsWaitedForOnTheHost) {
  constexpr int64_t turns = 40;
  std::vector<Executable> models = loadSum(4, turns, 100);
  make(4);
  std::vector<std::vector<Buffer>> arguments(4);
  for (uint32_t i = 0; i < 4; ++i)
    arguments[i].push_back(
        put(i, ALULA_DTYPE_I64, std::vector<int64_t>(100, i == 0)));
  uint64_t made = fakeNcclCount("CommInitRankConfig");
  int64_t want = 1;
  for (int64_t i = 1; i < turns; ++i)
    want = int64_t(uint64_t(want) * 4);
  for (int repeat = 0; repeat < 3; ++repeat) {
    EXPECT_EQ(runAll(models, arguments), std::vector<std::string>(4));
    for (const auto &result : results)
      EXPECT_EQ(get<int64_t>(result[0]), std::vector<int64_t>(100, want));
  }
  // One communicator for all calls, also those of other collectives.
  make(4);
  EXPECT_EQ(runAll(models, arguments), std::vector<std::string>(4));
  EXPECT_EQ(fakeNcclCount("CommInitRankConfig"), made + 4);
  EXPECT_EQ(fakeNcclCount("communicators"), 4u);
}

/// Many on their way at once, and waited for in another order.
TEST_F(Nccl, ManyAtOnce) {
  constexpr uint32_t many = 100;
  ArtifactWriter file;
  uint32_t sum = file.addCollective({.kind = ALULA_COLLECTIVE_ALL_REDUCE,
                                     .reduction = ALULA_REDUCTION_SUM,
                                     .dtype = ALULA_DTYPE_I64,
                                     .groups = file.addGroups(2, {{0, 1}}),
                                     .count = 1});
  FunctionWriter &f = file.addFunction("main");
  uint32_t type = file.addType(ALULA_DTYPE_I64, {many});
  f.addArgument("x", type);
  f.addResult("y", type);
  std::vector<Operand> started;
  for (uint32_t i = 0; i < many; ++i) {
    uint32_t from = f.addSlot(ALULA_SLOT_ARGUMENT, 0, i * 8, 8),
             to = f.addSlot(ALULA_SLOT_RESULT, 0, i * 8, 8);
    started.push_back(f.collectiveStart(sum, from, to));
  }
  while (!started.empty()) {
    f.collectiveDone(started.back());
    started.pop_back();
  }
  std::vector<Executable> models = load(file);
  make(2);
  std::vector<int64_t> numbers, doubled;
  for (int64_t i = 0; i < many; ++i) {
    numbers.push_back(i);
    doubled.push_back(2 * i);
  }
  std::vector<std::vector<Buffer>> arguments(2);
  for (uint32_t i = 0; i < 2; ++i)
    arguments[i].push_back(put(i, ALULA_DTYPE_I64, numbers));
  EXPECT_EQ(runAll(models, arguments), std::vector<std::string>(2));
  for (const auto &result : results)
    EXPECT_EQ(get<int64_t>(result[0]), doubled);
}

/// Commands on both sides of a collective become graphs when they come again,
/// and stay on their side.
TEST_F(Nccl, BetweenGraphs) {
  ArtifactWriter file;
  constexpr int64_t size = 8;
  uint32_t sum = file.addCollective({.kind = ALULA_COLLECTIVE_ALL_REDUCE,
                                     .reduction = ALULA_REDUCTION_SUM,
                                     .dtype = ALULA_DTYPE_I64,
                                     .groups = file.addGroups(2, {{0, 1}}),
                                     .count = size});
  FunctionWriter &f = file.addFunction("main");
  uint32_t type = file.addType(ALULA_DTYPE_I64, {size});
  f.addArgument("x", type);
  f.addResult("y", type);
  f.setArenaBytes(256);
  uint32_t a = f.arena(0, size * 8), b = f.arena(64, size * 8);
  Operand zero = f.immediate(0), eight = f.immediate(8);
  for (int64_t i = 0; i < size; ++i)
    f.copy(a, f.immediate(i * 8), f.argument(0),
           f.immediate((size - 1 - i) * 8), eight);
  f.collectiveDone(f.collectiveStart(sum, a, b));
  // What the sum was made of is written again at once.
  f.fill(a, zero, f.immediate(size * 8), 8, f.immediate(-1));
  for (int64_t i = 0; i < size; ++i)
    f.copy(f.result(0), f.immediate(i * 8), b, f.immediate(i * 8), eight);
  std::vector<Executable> models = load(file);
  make(2);
  uint64_t graphs = fakeCudaCount("graph launches");
  for (int64_t repeat = 0; repeat < 4; ++repeat) {
    std::vector<std::vector<Buffer>> arguments(2);
    std::vector<int64_t> numbers, want;
    for (int64_t i = 0; i < size; ++i) {
      numbers.push_back(i + repeat);
      want.push_back(2 * (size - 1 - i + repeat));
    }
    for (uint32_t i = 0; i < 2; ++i)
      arguments[i].push_back(put(i, ALULA_DTYPE_I64, numbers));
    ASSERT_EQ(runAll(models, arguments), std::vector<std::string>(2));
    for (const auto &result : results)
      EXPECT_EQ(get<int64_t>(result[0]), want);
  }
  EXPECT_GT(fakeCudaCount("graph launches"), graphs);
}

/// Two runs on the same GPUs at once, each with threads of its own.
TEST_F(Nccl, TwoAtOnce) {
  std::vector<Executable> models = loadSum(2, 10);
  std::vector<std::thread> threads;
  std::vector<std::string> messages(8);
  alula_collectives *both[] = {create(2), create(2)};
  for (uint32_t run = 0; run < 2; ++run)
    for (uint32_t p = 0; p < 2; ++p)
      threads.emplace_back([&, run, p] {
        for (int64_t repeat = 0; repeat < 10; ++repeat) {
          alula_call_options options = {};
          options.struct_bytes = sizeof options;
          options.collectives = both[run];
          options.participant = p;
          Error error;
          std::vector<Buffer> arguments;
          arguments.push_back(
              put<int64_t>(p, ALULA_DTYPE_I64, {int64_t(run) + 1}));
          std::vector<Buffer> got =
              models[p].call(0, arguments, error, &options);
          if (error)
            messages[run * 2 + p] = error.message();
          else if (get<int64_t>(got[0])[0] != (int64_t(run) + 1) * 1024)
            messages[run * 2 + p] = "wrong";
        }
      });
  for (auto &thread : threads)
    thread.join();
  EXPECT_EQ(messages, std::vector<std::string>(8));
  alula_collectives_destroy(both[0]);
  alula_collectives_destroy(both[1]);
}

TEST_F(Nccl, WhoIsOnOneGpu) {
  instances[1] = open("cuda:0");
  std::vector<Executable> models = loadSum(2);
  make(2);
  std::vector<std::string> messages = runAll(models, makeNumbers({3, 4}));
  std::string why = "not all participants exchange arrays by NCCL: "
                    "participants 0 and 1 are on one GPU";
  EXPECT_TRUE(has(messages[0], why) && has(messages[1], why)) << messages[0];
  uint64_t before = fakeNcclCount("AllReduce");
  make(2, ALULA_DEVICE_COLLECTIVES_IF_THERE);
  EXPECT_EQ(runAll(models, makeNumbers({3, 4})), std::vector<std::string>(2));
  EXPECT_EQ(get<int64_t>(results[1][0]), (std::vector<int64_t>{7}));
  EXPECT_EQ(fakeNcclCount("AllReduce"), before);
}

} // namespace
} // namespace alula

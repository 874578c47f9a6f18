// What becomes of the others if a participant, or NCCL, can't go on.

#include "runtime/device/cuda/nccl/api.h"
#include "runtime/device/cuda/nccl/suite.h"

#include <dlfcn.h>

namespace alula {
namespace {

TEST_F(Nccl, WhoFailsEndsTheOthersWaiting) {
  // Participant 1 fails behind a sum, before another: the others are in it.
  ArtifactWriter file;
  uint32_t type = file.addType(ALULA_DTYPE_I64, {1});
  uint32_t sum = file.addCollective({.kind = ALULA_COLLECTIVE_ALL_REDUCE,
                                     .reduction = ALULA_REDUCTION_SUM,
                                     .dtype = ALULA_DTYPE_I64,
                                     .groups = file.addGroups(3, {{0, 1, 2}}),
                                     .count = 1});
  FunctionWriter &f = file.addFunction("main");
  f.addArgument("x", type);
  f.addResult("y", type);
  f.setArenaBytes(64);
  uint32_t x = f.argument(0), a = f.arena(0, 8);
  f.collectiveDone(f.collectiveStart(sum, x, a));
  Operand value = f.load(ALULA_DTYPE_I64, x, f.immediate(0));
  f.assertThat(f.compute(ALULA_OPERATOR_LT, value, f.immediate(10)),
               "{0} is too much", {value});
  f.collectiveDone(f.collectiveStart(sum, a, f.result(0)));
  std::vector<Executable> models = load(file);
  make(3);
  std::vector<std::string> messages = runAll(models, makeNumbers({1, 11, 3}));
  EXPECT_EQ(messages[1], "11 is too much");
  for (size_t i : {0u, 2u}) {
    EXPECT_TRUE(has(messages[i], "participant 1 failed: 11 is too much"))
        << messages[i];
    EXPECT_EQ(codes[i], ALULA_STATUS_ABORTED);
  }
  // New ones work: communicators are made again.
  make(3);
  EXPECT_EQ(runAll(models, makeNumbers({1, 2, 3})),
            std::vector<std::string>(3));
  EXPECT_EQ(get<int64_t>(results[2][0]), (std::vector<int64_t>{18}));
}

TEST_F(Nccl, WhoNeverComes) {
  std::vector<Executable> models = loadSum(2);
  // To the first call: the members could not even agree.
  make(2, ALULA_DEVICE_COLLECTIVES_ALWAYS, /*timeout=*/50);
  std::vector<std::string> messages = runAll(models, makeNumbers({1, -1}));
  EXPECT_EQ(messages[0], "function 'main': all_reduce #0: participant 1 has "
                         "not come within 50 ms");
  EXPECT_EQ(codes[0], ALULA_STATUS_DEADLINE_EXCEEDED);
  // The embedder says so.
  make(2);
  std::thread gone([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    alula_collectives_abort(collectives, "device 1 is gone");
  });
  messages = runAll(models, makeNumbers({1, -1}));
  gone.join();
  EXPECT_TRUE(has(messages[0], "device 1 is gone")) << messages[0];
  expectSum(models);
}

/// Each participant chooses by its argument what it takes part in, behind a sum
/// of all, so that the group is there.
TEST_F(Nccl, Disagreement) {
  ArtifactWriter file;
  uint32_t type = file.addType(ALULA_DTYPE_I64, {1});
  CollectiveSpec spec = {.kind = ALULA_COLLECTIVE_ALL_REDUCE,
                         .reduction = ALULA_REDUCTION_SUM,
                         .dtype = ALULA_DTYPE_I64,
                         .groups = file.addGroups(2, {{0, 1}}),
                         .count = 1};
  uint32_t sum = file.addCollective(spec);
  spec.reduction = ALULA_REDUCTION_MAX;
  uint32_t most = file.addCollective(spec);
  spec.groups = file.addGroups(2, {{1, 0}});
  uint32_t turned = file.addCollective(spec);
  FunctionWriter &f = file.addFunction("main");
  f.addArgument("x", type);
  f.addResult("y", type);
  f.setArenaBytes(64);
  uint32_t x = f.argument(0), y = f.result(0), a = f.arena(0, 8);
  f.collectiveDone(f.collectiveStart(sum, x, a));
  f.collectiveDone(f.collectiveStart(turned, x, a));
  std::vector<uint32_t> cases;
  for (int i = 0; i < 4; ++i)
    cases.push_back(f.newBlock());
  f.branch(f.load(ALULA_DTYPE_I64, x, f.immediate(0)), cases);
  for (uint32_t i = 0; i < 3; ++i) {
    f.setBlock(cases[i]);
    f.collectiveDone(
        f.collectiveStart(std::vector<uint32_t>{sum, most, turned}[i], x, y));
    // It waits before it ends.
    f.load(ALULA_DTYPE_I64, y, f.immediate(0));
  }
  std::vector<Executable> models = load(file);
  auto run = [&](int64_t first, int64_t second) {
    make(2);
    return runAll(models, makeNumbers({first, second}));
  };
  EXPECT_EQ(run(0, 0), std::vector<std::string>(2));
  for (const std::string &message : run(0, 1))
    EXPECT_TRUE(has(message, "participant 1 starts all_reduce #1 where others "
                             "start all_reduce #0") ||
                has(message, "participant 0 starts all_reduce #0 where others "
                             "start all_reduce #1"))
        << message;
  for (const std::string &message : run(0, 2))
    EXPECT_TRUE(
        has(message, "all participants wait for each other, participant "))
        << message;
  std::vector<std::string> messages = run(0, 3);
  EXPECT_EQ(messages[1], "");
  EXPECT_TRUE(has(messages[0], "participant 1 ended without all_reduce #0, "
                               "which participant 0 waits for"))
      << messages[0];
  EXPECT_EQ(codes[0], ALULA_STATUS_ABORTED);
}

TEST_F(Nccl, Cancelled) {
  std::vector<Executable> models = loadSum(3);
  make(3);
  // It waits for one that never comes, and is waited for.
  cancelled = 0;
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    __atomic_store_n(&cancel, 1, __ATOMIC_RELAXED);
  });
  std::vector<std::string> messages = runAll(models, makeNumbers({1, 2, -1}));
  later.join();
  EXPECT_EQ(codes[0], ALULA_STATUS_CANCELLED) << messages[0];
  EXPECT_EQ(codes[1], ALULA_STATUS_ABORTED) << messages[1];
  EXPECT_TRUE(has(messages[1], "participant 0 failed: ")) << messages[1];
}

TEST_F(Nccl, ErrorsOfNccl) {
  std::vector<Executable> models = loadSum(2, 3);
  struct {
    const char *setting, *text;
    alula_status_code code;
  } cases[] = {
      {"AllReduce:%d:3",
       "NCCL's all_reduce #0 on 'cuda:", ALULA_STATUS_INTERNAL},
      {"CommInitRankConfig:%d:2",
       "NCCL's ncclCommInitRankConfig on 'cuda:", ALULA_STATUS_INTERNAL},
      {"GetUniqueId:%d:2",
       "NCCL's ncclGetUniqueId on 'cuda:", ALULA_STATUS_INTERNAL},
      {"Async:%d:6",
       "NCCL's all_reduce #0 on 'cuda:", ALULA_STATUS_UNAVAILABLE},
  };
  for (const auto &each : cases) {
    SCOPED_TRACE(each.setting);
    // Communicators of before would not be made.
    instances.clear();
    for (uint32_t i = 0; i < deviceCount; ++i)
      instances.push_back(open("cuda:" + std::to_string(i)));
    models = loadSum(2, 3);
    std::string name(each.setting, strchr(each.setting, ':'));
    char text[80];
    snprintf(text, sizeof text, each.setting,
             int(fakeNcclCount(name.c_str())) + 1);
    Setting setting("FAKE_NCCL_FAIL", text);
    make(2);
    std::vector<std::string> messages = runAll(models, makeNumbers({1, 2}));
    size_t first = codes[0] == each.code ? 0 : 1;
    EXPECT_EQ(codes[first], each.code) << messages[first];
    EXPECT_TRUE(has(messages[first], each.text) &&
                has(messages[first], "FAKE_NCCL_FAIL"))
        << messages[first];
    EXPECT_EQ(codes[1 - first], ALULA_STATUS_ABORTED) << messages[1 - first];
    EXPECT_TRUE(has(messages[1 - first],
                    "participant " + std::to_string(first) + ": NCCL's"))
        << messages[1 - first];
  }
  expectSum(loadSum(2));
}

/// It has lost its communicators, the other device has them still.
TEST_F(Nccl, ADeviceThatIsOpenedAgain) {
  expectSum(loadSum(2));
  uint64_t made = fakeNcclCount("CommInitRankConfig");
  results.clear();
  instances[1] = open("cuda:1");
  EXPECT_EQ(fakeNcclCount("communicators"), 1u);
  std::vector<Executable> models = loadSum(2);
  make(2, ALULA_DEVICE_COLLECTIVES_ALWAYS, /*timeout=*/20000);
  EXPECT_EQ(runAll(models, makeNumbers({3, 4})), std::vector<std::string>(2));
  EXPECT_EQ(get<int64_t>(results[1][0]), (std::vector<int64_t>{7}));
  EXPECT_EQ(fakeNcclCount("CommInitRankConfig"), made + 2);
  EXPECT_EQ(fakeNcclCount("communicators"), 2u);
}

TEST_F(Nccl, AnExchangeThatDoesNotEnd) {
  std::vector<Executable> models = loadSum(2);
  expectSum(models);
  std::string text =
      "Stall:" + std::to_string(fakeNcclCount("Stall") + 1) + ":0";
  Setting setting("FAKE_NCCL_FAIL", text.c_str());
  make(2, ALULA_DEVICE_COLLECTIVES_ALWAYS, /*timeout=*/100);
  std::vector<std::string> messages = runAll(models, makeNumbers({1, 2}));
  // One finds it, and tells the other.
  size_t first = codes[0] == ALULA_STATUS_DEADLINE_EXCEEDED ? 0 : 1;
  EXPECT_EQ(codes[first], ALULA_STATUS_DEADLINE_EXCEEDED) << messages[first];
  EXPECT_TRUE(
      has(messages[first], "NCCL has not ended all_reduce #0 within 100 ms"))
      << messages[first];
  unsetenv("FAKE_NCCL_FAIL");
  expectSum(models);
}

// ---- Where NCCL is too old: run with FAKE_NCCL_VERSION=21000 ----

TEST_F(Nccl, Missing) {
  if (!getenv("FAKE_NCCL_VERSION"))
    GTEST_SKIP() << "this is cuda_without_nccl's";
  std::vector<Executable> models = loadSum(2);
  make(2, ALULA_DEVICE_COLLECTIVES_IF_THERE);
  EXPECT_EQ(runAll(models, makeNumbers({3, 4})), std::vector<std::string>(2));
  EXPECT_EQ(get<int64_t>(results[1][0]), (std::vector<int64_t>{7}));
  EXPECT_EQ(fakeNcclCount("AllReduce"), 0u);
  make(2);
  for (const std::string &message : runAll(models, makeNumbers({3, 4})))
    EXPECT_TRUE(has(message, "NCCL is too old: its version is 21000, at least "
                             "21800 is needed"))
        << message;
}

/// Types and numbers are the real library's, where there is one.
TEST(NcclLibrary, Declarations) {
  using namespace runtime::cuda::nccl;
  void *library = nullptr;
  for (const char *path : {"/usr/lib/x86_64-linux-gnu/libnccl.so.2",
                           "/usr/local/cuda/lib64/libnccl.so.2"})
    library = library ? library : dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    GTEST_SKIP() << "there is no NCCL";
#define X(name, parameters) EXPECT_TRUE(dlsym(library, "nccl" #name));
  ALULA_FOR_EACH_NCCL_FUNCTION(X)
#undef X
  auto text = reinterpret_cast<const char *(*)(Code)>(
      dlsym(library, "ncclGetErrorString"));
  ASSERT_TRUE(text);
  EXPECT_STREQ(text(inProgress), "NCCL operation in progress");
}

} // namespace
} // namespace alula

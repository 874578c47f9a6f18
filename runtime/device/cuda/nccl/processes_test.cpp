// GPUs of two processes: each test runs itself as both.

#include "runtime/device/cuda/nccl/suite.h"

#include <filesystem>
#include <sys/wait.h>
#include <unistd.h>

namespace alula {
namespace {

const char processVariable[] = "ALULA_TEST_NCCL_PROCESS";

/// This test again, as one of two processes.
pid_t startProcess(const char *name, const char *number, const char *folder) {
  pid_t pid = fork();
  if (pid)
    return pid;
  setenv(processVariable, number, 1);
  setenv("ALULA_TEST_FOLDER", folder, 1);
  setenv("FAKE_NCCL_FOLDER", folder, 1);
  std::string filter = std::string("--gtest_filter=") + name;
  // Its name says where libraries are.
  std::string self = std::filesystem::read_symlink("/proc/self/exe");
  execl(self.c_str(), self.c_str(), filter.c_str(), nullptr);
  _exit(127);
}

class NcclProcesses : public Nccl {
protected:
  /// True in one of two processes, connected; else they are run and judged.
  bool isMember(const char *name) {
    const char *text = getenv(processVariable);
    if (!text) {
      judge(name);
      return false;
    }
    number = uint32_t(atoi(text));
    alula_processes_options options = {};
    options.struct_bytes = sizeof options;
    options.engine = "gloo";
    options.number = number;
    options.count = 2;
    options.directory = getenv("ALULA_TEST_FOLDER");
    Error error;
    error.take(alula_processes_connect(&options, &processes));
    EXPECT_FALSE(error) << error.message();
    return !error;
  }
  void judge(const char *name) {
    auto self = std::filesystem::read_symlink("/proc/self/exe");
    if (!std::filesystem::exists(self.parent_path().parent_path() / "lib" /
                                 "libalula_collectives_gloo.so"))
      GTEST_SKIP() << "the engine gloo is not built";
    std::string folder = testing::TempDir() + "nccl-XXXXXX";
    ASSERT_TRUE(mkdtemp(folder.data()));
    pid_t pids[] = {startProcess(name, "0", folder.c_str()),
                    startProcess(name, "1", folder.c_str())};
    for (pid_t pid : pids) {
      int status = -1;
      waitpid(pid, &status, 0);
      EXPECT_EQ(status, 0) << "process " << pid;
    }
    std::filesystem::remove_all(folder);
  }
  void TearDown() override {
    alula_collectives_destroy(collectives);
    collectives = nullptr;
    if (processes)
      alula_processes_disconnect(processes);
    Nccl::TearDown();
  }

  /// Participants 0 and 1 are devices of process 0, 2 and 3 of process 1.
  void makeTogether(alula_device_collectives devices) {
    alula_collectives_destroy(collectives);
    alula_collectives_options options = {};
    options.struct_bytes = sizeof options;
    options.participant_count = 4;
    options.processes = processes;
    options.timeout_ms = 600000;
    options.devices = devices;
    ASSERT_EQ(alula_collectives_create(&options, &collectives), nullptr);
  }
  std::vector<std::string> runMine(const std::vector<Executable> &models,
                                   const std::vector<std::vector<int64_t>> &x) {
    std::vector<std::string> messages(2);
    results.assign(2, {});
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < 2; ++i)
      threads.emplace_back([&, i] {
        alula_call_options options = {};
        options.struct_bytes = sizeof options;
        options.collectives = collectives;
        options.participant = 2 * number + i;
        Error error;
        std::vector<Buffer> arguments;
        arguments.push_back(put(i, ALULA_DTYPE_I64, x[2 * number + i]));
        results[i] = models[i].call(0, arguments, error, &options);
        messages[i] = error ? error.message() : "";
      });
    for (auto &thread : threads)
      thread.join();
    return messages;
  }

  uint32_t number = 0;
  alula_processes *processes = nullptr;
};

TEST_F(NcclProcesses, ExchangeTogether) {
  if (!isMember("NcclProcesses.ExchangeTogether"))
    return;
  ArtifactWriter file;
  CollectiveSpec spec = {.kind = ALULA_COLLECTIVE_ALL_REDUCE,
                         .reduction = ALULA_REDUCTION_SUM,
                         .dtype = ALULA_DTYPE_I64,
                         .groups = file.addGroups(4, {{0, 3}, {2, 1}}),
                         .count = 2};
  uint32_t sum = file.addCollective(spec);
  spec.reduction = ALULA_REDUCTION_NONE;
  spec.kind = ALULA_COLLECTIVE_PERMUTE;
  spec.groups = file.addGroups(4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}});
  uint32_t turn = file.addCollective(spec);
  spec.kind = ALULA_COLLECTIVE_ALL_TO_ALL;
  spec.groups = file.addGroups(4, {{1, 3}, {0, 2}});
  spec.count = 1;
  uint32_t exchange = file.addCollective(spec);
  FunctionWriter &f = file.addFunction("main");
  uint32_t type = file.addType(ALULA_DTYPE_I64, {2});
  f.addArgument("x", type);
  for (const char *name : {"sum", "turned", "exchanged"})
    f.addResult(name, type);
  for (uint32_t i = 0; i < 3; ++i)
    f.collectiveDone(f.collectiveStart(i == 0   ? sum
                                       : i == 1 ? turn
                                                : exchange,
                                       f.argument(0), f.result(i)));
  std::vector<Executable> models = load(file);
  uint64_t inits = 0;
  for (auto devices :
       {ALULA_DEVICE_COLLECTIVES_ALWAYS, ALULA_DEVICE_COLLECTIVES_ALWAYS,
        ALULA_DEVICE_COLLECTIVES_NEVER}) {
    makeTogether(devices);
    std::vector<std::vector<int64_t>> x = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};
    EXPECT_EQ(runMine(models, x), std::vector<std::string>(2));
    std::vector<std::vector<std::vector<int64_t>>> want = {
        {{8, 10}, {7, 8}, {1, 5}},
        {{8, 10}, {1, 2}, {3, 7}},
        {{8, 10}, {3, 4}, {2, 6}},
        {{8, 10}, {5, 6}, {4, 8}}};
    for (uint32_t i = 0; i < 2; ++i)
      for (uint32_t j = 0; j < 3; ++j)
        EXPECT_EQ(get<int64_t>(results[i][j]), want[2 * number + i][j]);
    // The same communicators, one for each of three groups.
    inits = inits ? inits : fakeNcclCount("CommInitRankConfig");
    EXPECT_EQ(inits, 6u);
    EXPECT_EQ(fakeNcclCount("CommInitRankConfig"), inits);
  }
  EXPECT_EQ(fakeNcclCount("AllReduce"), 4u);
}

/// Those who don't want NCCL, and those who do, agree about the host's way.
TEST_F(NcclProcesses, OneDoesNotWantIt) {
  if (!isMember("NcclProcesses.OneDoesNotWantIt"))
    return;
  std::vector<Executable> models = loadSum(4);
  makeTogether(number ? ALULA_DEVICE_COLLECTIVES_NEVER
                      : ALULA_DEVICE_COLLECTIVES_IF_THERE);
  EXPECT_EQ(runMine(models, {{1}, {2}, {3}, {4}}), std::vector<std::string>(2));
  EXPECT_EQ(get<int64_t>(results[0][0]), (std::vector<int64_t>{10}));
  EXPECT_EQ(fakeNcclCount("AllReduce"), 0u);
}

/// A process is gone while others are in an exchange with it.
TEST_F(NcclProcesses, OneIsGone) {
  if (!isMember("NcclProcesses.OneIsGone"))
    return;
  std::vector<Executable> models = loadSum(4);
  makeTogether(ALULA_DEVICE_COLLECTIVES_ALWAYS);
  ASSERT_EQ(runMine(models, {{1}, {2}, {3}, {4}}), std::vector<std::string>(2));
  // The next one never ends.
  std::string text =
      "Stall:" + std::to_string(fakeNcclCount("Stall") + 1) + ":0";
  Setting setting("FAKE_NCCL_FAIL", text.c_str());
  uint64_t before = fakeNcclCount("AllReduce");
  std::thread leaves([&] {
    while (number && fakeNcclCount("AllReduce") < before + 2)
      std::this_thread::yield();
    if (number)
      _exit(0);
  });
  leaves.detach();
  std::vector<std::string> messages = runMine(models, {{1}, {2}, {3}, {4}});
  for (const std::string &message : messages)
    EXPECT_TRUE(has(message, "process 1 (") && has(message, "is gone: "))
        << message;
}

} // namespace
} // namespace alula

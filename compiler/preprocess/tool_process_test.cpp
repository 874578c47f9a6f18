#include "compiler/preprocess/tool_process.h"

#include "compiler/preprocess/excerpt.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace alula::preprocess;
using namespace std::chrono_literals;

namespace {
ToolRun shell(std::string script, std::string input = "") {
  return {"/bin/sh", {"sh", "-c", std::move(script)}, {}, std::move(input)};
}

ToolResult runOne(ToolRun run, ToolLimits limits = {}) {
  ToolResult result;
  unsigned calls = 0;
  runTools(
      1, limits, [&](unsigned) { return run; },
      [&](unsigned, ToolResult &&each) {
        ++calls;
        result = std::move(each);
        return true;
      });
  EXPECT_EQ(calls, 1u);
  return result;
}

double measure(llvm::function_ref<void()> run) {
  auto begin = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
      .count();
}

/// Processes with `argument` among their words.
unsigned countProcesses(const std::string &argument) {
  unsigned count = 0;
  std::error_code error;
  for (auto &entry : std::filesystem::directory_iterator("/proc", error)) {
    std::ifstream file(entry.path() / "cmdline");
    std::string words((std::istreambuf_iterator<char>(file)), {});
    count +=
        words.find(std::string(1, '\0') + argument + '\0') != std::string::npos;
  }
  return count;
}

/// Seconds that nothing takes, on a slow machine that does much else either.
constexpr double muchTime = 300;

/// What was killed is gone a moment later.
bool isGone(const std::string &argument) {
  auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin <
         std::chrono::duration<double>(muchTime)) {
    if (countProcesses(argument) == 0)
      return true;
    std::this_thread::sleep_for(20ms);
  }
  return false;
}

/// Notes in a log that it runs, and until when: the first three until there
/// are three.
std::string logged(const std::string &folder) {
  return "cd " + folder +
         "; echo + >> log; while [ $(grep -c + log) -lt 3 ]; do sleep 0.01; "
         "done; echo - >> log";
}

unsigned countDescriptors() {
  auto all = std::filesystem::directory_iterator("/proc/self/fd");
  return std::distance(begin(all), end(all));
}

std::string makeFolder() {
  std::string path = (std::filesystem::temp_directory_path() / "toolXXXXXX");
  EXPECT_TRUE(mkdtemp(path.data()));
  return path;
}

TEST(ToolProcess, copiesInput) {
  std::string input(5 << 20, 'x');
  ToolResult result = runOne(shell("cat; echo done >&2", input));
  EXPECT_EQ(result.end, ToolEnd::Exit);
  EXPECT_EQ(result.code, 0);
  EXPECT_TRUE(result.output == input);
  EXPECT_EQ(result.errors, "done\n");
}

// H14: what ignores its input, of 64 MiB.
TEST(ToolProcess, inputMayBeIgnored) {
  ToolResult result = runOne(shell("echo x", std::string(64 << 20, 'x')));
  EXPECT_EQ(result.end, ToolEnd::Exit);
  EXPECT_EQ(result.output, "x\n");
}

// H15: says much before it reads.
TEST(ToolProcess, errorsComeFirst) {
  ToolResult result =
      runOne(shell("head -c 1048576 /dev/zero >&2; cat", "text"));
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.output, "text");
  EXPECT_EQ(result.errors.size(), 1048576u);
}

// H8, the ends of processes.
TEST(ToolProcess, endsAreToldApart) {
  for (int code : {0, 3, 86, 126, 127, 255}) {
    ToolResult result = runOne(shell("exit " + std::to_string(code)));
    EXPECT_EQ(result.end, ToolEnd::Exit);
    EXPECT_EQ(result.code, code);
  }
  ToolResult result = runOne(shell("ulimit -c 0; kill -SEGV $$"));
  EXPECT_EQ(result.end, ToolEnd::Signal);
  EXPECT_EQ(result.code, SIGSEGV);
  result = runOne({"/no/such/file", {"file"}, {}, ""});
  EXPECT_EQ(result.end, ToolEnd::Spawn);
  EXPECT_EQ(result.code, ENOENT);
}

// Process 0 is the group of who signals, which is not ours.
TEST(ToolProcess, hasAGroupAndUsualSignals) {
  signal(SIGPIPE, SIG_IGN);
  ToolResult result = runOne(shell("ls /proc/self/fd | wc -l; kill -PIPE $$"));
  signal(SIGPIPE, SIG_DFL);
  EXPECT_EQ(result.end, ToolEnd::Signal);
  EXPECT_EQ(result.code, SIGPIPE);
  // 0, 1, 2 and the folder that is listed.
  EXPECT_EQ(std::atoi(result.output.c_str()), 4);
  result = runOne(shell("sleep 600 & kill -TERM 0; wait"));
  EXPECT_EQ(result.end, ToolEnd::Signal);
  EXPECT_EQ(result.code, SIGTERM);
}

TEST(ToolProcess, environmentIsInheritedAndReplaced) {
  setenv("ALULA_TOOL_TEST", "inherited", 1);
  setenv("ALULA_TOOL_TEST_TOO", "also", 1);
  ToolRun run = shell("echo $ALULA_TOOL_TEST $ALULA_TOOL_TEST_TOO");
  run.environment = {"ALULA_TOOL_TEST=replaced"};
  EXPECT_EQ(runOne(run).output, "replaced also\n");
}

// H9: the limits of many at once.
TEST(ToolProcess, eachHasItsTimeLimit) {
  ToolLimits limits;
  limits.jobs = 8;
  limits.timeout = 500ms;
  unsigned timeouts = 0;
  double seconds = measure([&] {
    runTools(
        8, limits, [](unsigned) { return shell("exec sleep 98716"); },
        [&](unsigned, ToolResult &&result) {
          timeouts += result.end == ToolEnd::Timeout;
          return true;
        });
  });
  EXPECT_EQ(timeouts, 8u);
  EXPECT_LT(seconds, muchTime);
}

// H10: grandchildren of a tool that hangs, one that ignores SIGTERM included.
TEST(ToolProcess, timeoutEndsGrandchildren) {
  ToolLimits limits;
  limits.timeout = 300ms;
  limits.grace = 300ms;
  ToolResult result = runOne(
      shell("trap '' TERM; sleep 98711 & sh -c 'sleep 98711' & sleep 98711"),
      limits);
  EXPECT_EQ(result.end, ToolEnd::Timeout);
  EXPECT_TRUE(isGone("98711"));
}

// H11: a grandchild that holds the output open.
TEST(ToolProcess, grandchildMayHoldOutput) {
  ToolResult result;
  double seconds =
      measure([&] { result = runOne(shell("cat; sleep 98712 &", "text")); });
  EXPECT_EQ(result.end, ToolEnd::Exit);
  EXPECT_EQ(result.output, "text");
  EXPECT_LT(seconds, muchTime);
  EXPECT_TRUE(isGone("98712"));
}

// H12: never more than three, and three at least once.
TEST(ToolProcess, jobsAreLimited) {
  std::string folder = makeFolder();
  ToolLimits limits;
  limits.jobs = 3;
  unsigned ended = 0;
  runTools(
      40, limits, [&](unsigned i) { return shell(logged(folder)); },
      [&](unsigned, ToolResult &&result) {
        ended += result.end == ToolEnd::Exit;
        return true;
      });
  EXPECT_EQ(ended, 40u);
  std::ifstream log(folder + "/log");
  int alive = 0, most = 0;
  for (std::string line; std::getline(log, line);) {
    alive += line == "+" ? 1 : -1;
    most = std::max(most, alive);
  }
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(most, 3);
  std::filesystem::remove_all(folder);
}

/// A fifo with so many tokens, as make has it.
struct Make {
  explicit Make(unsigned tokens) : folder(makeFolder()) {
    std::string path = folder + "/fifo";
    EXPECT_EQ(mkfifo(path.c_str(), 0600), 0);
    fd = open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    EXPECT_EQ(write(fd, std::string(tokens, '+').data(), tokens),
              ssize_t(tokens));
    setenv("MAKEFLAGS", ("-j --jobserver-auth=fifo:" + path).c_str(), 1);
  }
  ~Make() {
    unsetenv("MAKEFLAGS");
    close(fd);
    std::filesystem::remove_all(folder);
  }
  unsigned countTokens() {
    char bytes[100];
    return static_cast<unsigned>(std::max<ssize_t>(0, read(fd, bytes, 100)));
  }
  std::string folder;
  int fd;
};

TEST(ToolProcess, makeCountsTools) {
  for (bool isFifo : {true, false}) {
    Make make(2);
    if (!isFifo)
      setenv("MAKEFLAGS",
             ("--jobserver-auth=" + std::to_string(make.fd) + "," +
              std::to_string(make.fd))
                 .c_str(),
             1);
    ToolLimits limits;
    limits.jobs = 8;
    unsigned ended = 0;
    runTools(
        20, limits, [&](unsigned) { return shell(logged(make.folder)); },
        [&](unsigned, ToolResult &&result) {
          ended += result.end == ToolEnd::Exit;
          return true;
        });
    EXPECT_EQ(ended, 20u);
    std::ifstream log(make.folder + "/log");
    int alive = 0, most = 0;
    for (std::string line; std::getline(log, line);) {
      alive += line == "+" ? 1 : -1;
      most = std::max(most, alive);
    }
    // Two tokens, and the one that make runs us with.
    EXPECT_EQ(most, 3);
    EXPECT_EQ(make.countTokens(), 2u);
  }
  // What make did not pass on is nobody's.
  setenv("MAKEFLAGS", "-j8 --jobserver-auth=987,988", 1);
  EXPECT_EQ(runOne(shell("echo x")).output, "x\n");
  unsetenv("MAKEFLAGS");
}

TEST(ToolProcess, outputIsLimited) {
  ToolLimits limits;
  limits.outputBytes = 1000;
  ToolResult result = runOne(shell("yes"), limits);
  EXPECT_EQ(result.end, ToolEnd::OutputLimit);
  EXPECT_TRUE(result.output.empty());
  result = runOne(shell("head -c 1000 /dev/zero"), limits);
  EXPECT_EQ(result.end, ToolEnd::Exit);
  EXPECT_EQ(result.output.size(), 1000u);
}

TEST(ToolProcess, errorsAreCut) {
  ToolLimits limits;
  limits.errorBytes = 8;
  ToolResult result =
      runOne(shell("{ printf aaaabbbb; yes c | head -c 1000000; "
                   "printf ddddeeee; } >&2"),
             limits);
  EXPECT_EQ(result.errors, "aaaabbbb\n[1000000 bytes left out]\nddddeeee");
}

// H22: one of eight fails, the others end at once.
TEST(ToolProcess, failureStopsOthers) {
  ToolLimits limits;
  limits.jobs = 4;
  std::vector<unsigned> finished;
  double seconds = measure([&] {
    runTools(
        8, limits,
        [](unsigned i) {
          return i == 2 ? shell("exit 1") : shell("exec sleep 98713");
        },
        [&](unsigned index, ToolResult &&) {
          finished.push_back(index);
          return false;
        });
  });
  EXPECT_EQ(finished, std::vector<unsigned>{2});
  EXPECT_LT(seconds, muchTime);
  EXPECT_TRUE(isGone("98713"));
}

TEST(ToolProcess, mayBeCancelled) {
  auto begin = std::chrono::steady_clock::now();
  unsigned finished = 0;
  runTools(
      3, {}, [](unsigned) { return shell("exec sleep 98714"); },
      [&](unsigned, ToolResult &&) { return ++finished; },
      [&] { return std::chrono::steady_clock::now() - begin > 300ms; });
  EXPECT_EQ(finished, 0u);
  EXPECT_LT(std::chrono::steady_clock::now() - begin,
            std::chrono::duration<double>(muchTime));
  EXPECT_TRUE(isGone("98714"));
}

// Random ends: the right result for each, and nothing is left over.
TEST(ToolProcess, stress) {
  unsigned before = countDescriptors();
  ToolLimits limits;
  limits.jobs = 16;
  limits.timeout = 600s;
  limits.grace = 200ms;
  limits.drain = 100ms;
  limits.outputBytes = 100000;
  const char *scripts[] = {"cat",
                           "exit 7",
                           "kill -KILL $$",
                           "yes",
                           "cat; sleep 98715 &",
                           "sleep 0.02; cat"};
  std::map<std::pair<unsigned, ToolEnd>, unsigned> ends;
  runTools(
      300, limits, [&](unsigned i) { return shell(scripts[i % 6], "in"); },
      [&](unsigned i, ToolResult &&result) {
        ++ends[{i % 6, result.end}];
        if (result.end == ToolEnd::Exit && i % 6 != 1)
          EXPECT_EQ(result.output, "in");
        return true;
      });
  std::map<std::pair<unsigned, ToolEnd>, unsigned> expected{
      {{0, ToolEnd::Exit}, 50},   {{1, ToolEnd::Exit}, 50},
      {{2, ToolEnd::Signal}, 50}, {{3, ToolEnd::OutputLimit}, 50},
      {{4, ToolEnd::Exit}, 50},   {{5, ToolEnd::Exit}, 50}};
  EXPECT_EQ(ends, expected);
  EXPECT_EQ(countDescriptors(), before);
  EXPECT_TRUE(isGone("98715"));
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(Excerpt, keepsHeadAndTail) {
  Excerpt all(4);
  all.add("abcd");
  all.add("efgh");
  EXPECT_EQ(all.take(), "abcdefgh");
  Excerpt some(4);
  for (char c = 'a'; c <= 'z'; ++c)
    some.add(llvm::StringRef(&c, 1));
  EXPECT_EQ(some.take(), "abcd\n[18 bytes left out]\nwxyz");
}
} // namespace

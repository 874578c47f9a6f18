// Many runs of tools that end in every way at random: the right tag for each,
// and no process, descriptor or byte is left. ALULA_STRESS_RUNS says how many.

#include "compiler/preprocess/preprocess.h"
#include "compiler/preprocess/test_program.h"

#include "mlir/IR/Diagnostics.h"

#include "gtest/gtest.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include <malloc.h>
#include <sys/wait.h>

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#include <sanitizer/allocator_interface.h>
#endif

using namespace alula::preprocess;
namespace fs = std::filesystem;

namespace {
constexpr unsigned kernels = 50;

/// What a tool does, and the tag of it; empty is none.
struct Behaviour {
  const char *script, *tag;
  /// Of a hundred.
  unsigned share;
};
constexpr Behaviour behaviours[] = {
    {"cat", "", 20},
    {"sleep 0.0$(($$ % 10)); cat", "", 10},
    {"exit 86", "", 6},
    {"exit $(($$ % 80 + 1))", "pre-exit", 8},
    {"kill -KILL $$", "pre-signal", 8},
    {"(sleep 0.0$(($$ % 10)); kill -KILL $$) & sleep 60", "pre-signal", 8},
    {"ulimit -c 0; kill -SEGV $$", "pre-signal", 6},
    {"head -c 500 /dev/urandom", "pre-parse", 8},
    {"echo 'func.func @f() {'; head -c 100 /dev/zero", "pre-parse", 6},
    {"true", "pre-empty", 6},
    {"yes", "pre-output-limit", 4},
    {"sed s/access.read/access/", "pre-parse", 3},
    {"sed 's/@e\\([0-9]*\\)/@x\\1/'", "pre-contract", 3},
    {"sleep 98721", "pre-timeout", 2},
    {"cat; sleep 98721 &", "", 2},
};

size_t countBytes() {
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  return __sanitizer_get_current_allocated_bytes();
#else
  return mallinfo2().uordblks;
#endif
}

unsigned countDescriptors() {
  fs::directory_iterator all("/proc/self/fd");
  return std::distance(begin(all), end(all));
}

const Behaviour &choose(std::mt19937 &random) {
  unsigned number = random() % 100;
  for (const Behaviour &each : behaviours) {
    if (number < each.share)
      return each;
    number -= each.share;
  }
  return behaviours[0];
}

class Stress : public testing::Test {
protected:
  Stress() {
    std::string path = fs::temp_directory_path() / "stressXXXXXX";
    EXPECT_TRUE(mkdtemp(path.data()));
    folder = path;
    // Where failures keep what they got.
    fs::create_directories(folder / "kept");
    setenv("TMPDIR", (folder / "kept").c_str(), 1);
    tool = folder / "tool";
    std::ofstream(tool) << "#!/bin/sh\n. " << folder.string()
                        << "/$ALULA_EXECUTABLE\n";
    fs::permissions(tool, fs::perms::owner_all);
  }
  ~Stress() override {
    unsetenv("TMPDIR");
    fs::remove_all(folder);
  }

  /// Runs one tool for each kernel.
  void runAll(std::mt19937 &random) {
    fs::create_directories(folder / "kept");
    std::map<std::string, std::string> expected, found;
    for (unsigned i = 0; i < kernels; ++i) {
      const Behaviour &behaviour = choose(random);
      std::string name = "e" + std::to_string(i);
      std::ofstream(folder / name) << behaviour.script << "\n";
      if (*behaviour.tag)
        expected[name] = behaviour.tag;
    }
    mlir::MLIRContext context(makeTestRegistry(),
                              mlir::MLIRContext::Threading::DISABLED);
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        makeTestProgram(kernels), &context);
    ASSERT_TRUE(module);
    mlir::ScopedDiagnosticHandler handler(
        &context, [&](mlir::Diagnostic &diagnostic) {
          // "[tag] @name, step 1, …"
          std::string text = diagnostic.str();
          size_t name = text.find('@') + 1, close = text.find(']');
          found[text.substr(name, text.find(',') - name)] =
              text.substr(1, close - 1);
          return mlir::success();
        });
    Options options;
    options.steps = {tool.string()};
    options.jobs = 16;
    options.timeoutSeconds = 5;
    options.outputBytes = 200000;
    options.keepGoing = true;
    auto plan = makePlan(options);
    ASSERT_TRUE(bool(plan));
    bool isGood = succeeded(preprocessExecutables(*module, *plan));
    EXPECT_EQ(isGood, expected.empty());
    EXPECT_EQ(found, expected);
    fs::remove_all(folder / "kept");
  }

  fs::path folder, tool;
};

TEST_F(Stress, nothingIsLeft) {
  const char *asked = getenv("ALULA_STRESS_RUNS");
  unsigned rounds = std::max(2u, (asked ? std::atoi(asked) : 100) / kernels);
  std::mt19937 random(3);
  // What is made once for all comes with the first.
  runAll(random);
  unsigned descriptors = countDescriptors();
  size_t bytes = countBytes(), most = 0;
  for (unsigned i = 1; i < rounds; ++i) {
    runAll(random);
    most = std::max(most, countBytes());
  }
  EXPECT_EQ(countDescriptors(), descriptors);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
  EXPECT_LT(most, bytes + (size_t(1) << 20));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), kernels + 1);
  std::printf("%u runs, %u open files, memory %+.1f KiB at most\n",
              rounds * kernels, descriptors,
              (double(most) - double(bytes)) / 1024);
}

/// What comes of a program whose kernels go through a tool.
std::string runOnce(const std::string &tool, unsigned count, unsigned jobs) {
  mlir::MLIRContext context(makeTestRegistry(),
                            mlir::MLIRContext::Threading::DISABLED);
  auto module =
      mlir::parseSourceString<mlir::ModuleOp>(makeTestProgram(count), &context);
  Options options;
  options.steps = {tool};
  options.jobs = jobs;
  auto plan = makePlan(options);
  EXPECT_TRUE(bool(plan));
  EXPECT_TRUE(succeeded(preprocessExecutables(*module, *plan)));
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os);
  return text;
}

// H13: how many run at once is nothing to the result.
TEST_F(Stress, jobsDoNotMatter) {
  std::ofstream(tool) << "#!/bin/sh\nsleep 0.0$(($$ % 5))\n"
                         "exec sed s/4.000000e+00/5.000000e+00/\n";
  std::string text = runOnce(tool.string(), 40, 1);
  EXPECT_NE(text.find("5.000000e+00"), std::string::npos);
  for (unsigned jobs : {4, 16})
    EXPECT_EQ(runOnce(tool.string(), 40, jobs), text);
}

// 200 kernels, two at a time: never three, little time between them, and the
// same bytes whoever is faster.
TEST_F(Stress, twoHundredByTwo) {
  const char *asked = getenv("ALULA_STRESS_RUNS");
  int rounds = asked && std::atoi(asked) >= 1000 ? 20 : 2;
  fs::path log = folder / "log";
  std::ofstream(tool) << "#!/bin/bash\nbegin=${EPOCHREALTIME/./}\necho + >> "
                      << log.string()
                      << "\nsleep 0.0$((RANDOM % 5 + 3))\n"
                         "sed s/4.000000e+00/5.000000e+00/\necho - "
                         "$((${EPOCHREALTIME/./} - begin)) >> "
                      << log.string() << "\n";
  std::string text;
  double least = 1e9, most = 0;
  for (int round = 0; round < rounds; ++round) {
    fs::remove(log);
    auto begin = std::chrono::steady_clock::now();
    std::string result = runOnce(tool.string(), 200, 2);
    double wall =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
            .count();
    EXPECT_TRUE(text.empty() || result == text);
    text = std::move(result);
    std::ifstream lines(log);
    int alive = 0, mostAlive = 0, ended = 0;
    double busy = 0;
    for (std::string line; std::getline(lines, line);) {
      alive += line == "+" ? 1 : -1;
      mostAlive = std::max(mostAlive, alive);
      if (line != "+") {
        busy += std::atof(line.c_str() + 2) / 1e6;
        ++ended;
      }
    }
    EXPECT_EQ(ended, 200);
    EXPECT_EQ(mostAlive, 2);
    least = std::min(least, wall / (busy / 2));
    most = std::max(most, wall / (busy / 2));
  }
  std::printf("200 kernels by two, %d times: %.3f to %.3f of what the tools "
              "alone take\n",
              rounds, least, most);
  // Others may have the machine for a while.
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
  EXPECT_LT(least, 1.3);
#endif
}
} // namespace

#include "tools/compile/compare_runs.h"

#include "alula/runtime.hpp"
#include "compiler/driver/compile.h"
#include "tools/model/model.h"
#include "tools/model/random_value.h"
#include "tools/values/compare.h"

#include "mlir/IR/Diagnostics.h"

#include "llvm/Support/FormatVariadic.h"

#include <chrono>
#include <cmath>
#include <cstring>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace alula;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;
using values::Value;

/// Of a GPU, whatever tools may take.
constexpr double mostSeconds = 120;

namespace {
/// Its artifact; false and `problem` if there is no code of it.
bool compile(mlir::ModuleOp program, StringRef target, std::string &artifact,
             std::string &problem) {
  driver::CompileOptions options;
  options.targets = {target.str()};
  options.completed = driver::Room::Dispatch;
  driver::CompileOutput output;
  mlir::ScopedDiagnosticHandler handler(
      program.getContext(), [&](mlir::Diagnostic &diagnostic) {
        if (problem.empty() &&
            diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
          problem = diagnostic.str();
        return mlir::success();
      });
  if (failed(driver::compile(program, options, output)))
    return false;
  artifact = std::move(output.artifact);
  return true;
}

/// The results of "main"; false and `problem` if it can't be run.
bool run(const Instance &instance, const std::string &artifact,
         std::vector<Value> &results, std::string &problem,
         alula_status_code &code) {
  Error error;
  code = ALULA_STATUS_OK;
  auto fail = [&] {
    problem = error.message();
    code = error.code();
    return false;
  };
  Executable executable =
      Executable::loadMemory(instance, artifact.data(), artifact.size(), error);
  if (error)
    return fail();
  uint32_t main = executable.find("main", error);
  if (error)
    return fail();
  std::vector<Value> values;
  std::vector<Buffer> arguments;
  std::vector<alula_buffer *> handles;
  for (uint32_t i = 0;
       i < alula_executable_get_argument_count(executable.get(), main); ++i) {
    alula_value_info info = {};
    info.struct_bytes = sizeof info;
    if (!alula_executable_get_argument(executable.get(), main, i, &info))
      return problem = "an argument has no type", false;
    Value &value = values.emplace_back();
    if (!createValue(info.dtype, {info.dims, info.dims + info.rank}, value,
                     problem))
      return false;
    model::fillRandom(i + 1, value);
  }
  for (Value &value : values) {
    arguments.push_back(model::wrapValue(instance, value, error));
    if (error)
      return fail();
    handles.push_back(arguments.back().get());
  }
  std::vector<alula_buffer *> outputs(
      alula_executable_get_result_count(executable.get(), main), nullptr);
  if (alula_error *failed =
          alula_call(executable.get(), main, nullptr, handles.data(),
                     handles.size(), outputs.data(), outputs.size())) {
    error.take(failed);
    return fail();
  }
  bool isGood = true;
  for (alula_buffer *each : outputs) {
    Value &value = results.emplace_back();
    Buffer owned(each);
    isGood = isGood && model::readBuffer(owned, value, problem);
  }
  return isGood;
}

/// The same program as it was and as it is.
struct Pair {
  std::string before, after;
};

preprocess::Compared runBoth(const char *device, const Pair &artifacts) {
  alula_instance_options options = {};
  options.struct_bytes = sizeof options;
  options.device = device;
  Error error;
  Instance instance = Instance::create(&options, error);
  if (error)
    return {"", "", error.message()};
  std::vector<Value> expected, actual;
  std::string problem;
  alula_status_code code;
  // What can't be run as it was says nothing of what became of it.
  if (!run(instance, artifacts.before, expected, problem, code))
    return {"", "", "it can't be run as it was: " + problem};
  if (!run(instance, artifacts.after, actual, problem, code)) {
    // A library that must compute it and is not there, or does not want to.
    if (code == ALULA_STATUS_UNAVAILABLE)
      return {"", "", problem};
    if (code == ALULA_STATUS_UNIMPLEMENTED)
      return {"", problem, ""};
    return {"it can't be run: " + problem, "", ""};
  }
  for (size_t i = 0; i < expected.size(); ++i)
    if (!compareValues(expected[i], actual[i], {-1, -1, true}, problem))
      return {"result " + std::to_string(i) + " on random numbers: " + problem,
              "", ""};
  return {};
}

/// In a process of its own: what somebody's kernel does to a device is not to
/// be the end of this one.
preprocess::Compared runBothAside(const char *device, const Pair &artifacts,
                                  double seconds) {
  int ends[2];
  if (pipe(ends))
    return {"", "", "no pipe can be made"};
  pid_t child = fork();
  if (child < 0) {
    close(ends[0]);
    close(ends[1]);
    return {"", "", "no process can be made"};
  }
  if (child == 0) {
    close(ends[0]);
    preprocess::Compared found = runBoth(device, artifacts);
    std::string text =
        found.difference + '\0' + found.declined + '\0' + found.unable + '\0';
    for (size_t at = 0; at < text.size();) {
      ssize_t count = write(ends[1], text.data() + at, text.size() - at);
      if (count <= 0)
        break;
      at += static_cast<size_t>(count);
    }
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  seconds = seconds ? std::min(seconds, mostSeconds) : mostSeconds;
  auto end = std::chrono::steady_clock::now() +
             std::chrono::milliseconds(std::llround(seconds * 1000));
  bool isLate = false;
  while (true) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd each = {ends[0], POLLIN, 0};
    int ready = poll(&each, 1, std::max(0, static_cast<int>(left.count())));
    if (ready < 0 && errno == EINTR)
      continue;
    if (ready <= 0) {
      isLate = true;
      kill(child, SIGKILL);
      break;
    }
    char bytes[4096];
    ssize_t count = read(ends[0], bytes, sizeof bytes);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      break;
    text.append(bytes, static_cast<size_t>(count));
  }
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (isLate)
    return {llvm::formatv("it had not ended after {0} seconds", seconds).str(),
            "", ""};
  auto [difference, rest] = StringRef(text).split('\0');
  if (!rest.consume_back(StringRef("\0", 1)))
    return {"the process that ran it has died", "", ""};
  auto [declined, unable] = rest.split('\0');
  return {difference.str(), declined.str(), unable.str()};
}
} // namespace

preprocess::Compared tools::compareRuns(mlir::ModuleOp before,
                                        mlir::ModuleOp after,
                                        ArrayRef<std::string> targets,
                                        double seconds) {
  // A GPU's code runs on a GPU; all else is judged by what it does here.
  SmallVector<std::pair<std::string, const char *>> machines;
  auto isCuda = [](StringRef target) {
    return target == "cuda" || target.starts_with("cuda:");
  };
  if (!llvm::all_of(targets, isCuda) || targets.empty())
    machines.push_back({"cpu:host", nullptr});
  for (const std::string &target : targets)
    if (isCuda(target))
      machines.push_back({target, "cuda"});
  preprocess::Compared result;
  for (const auto &[target, device] : machines) {
    Pair artifacts;
    std::string problem;
    auto compileCopy = [&](mlir::ModuleOp program, std::string &artifact) {
      mlir::OwningOpRef<mlir::ModuleOp> copy = program.clone();
      return compile(*copy, target, artifact, problem);
    };
    if (!compileCopy(before, artifacts.before)) {
      result.unable = "it can't be compiled as it was: " + problem;
      continue;
    }
    if (!compileCopy(after, artifacts.after))
      return {"it can't be compiled: " + problem, "", ""};
    preprocess::Compared found = device
                                     ? runBothAside(device, artifacts, seconds)
                                     : runBoth(device, artifacts);
    if (!found.difference.empty() || !found.declined.empty())
      return found;
    if (result.unable.empty())
      result.unable = std::move(found.unable);
  }
  return result;
}

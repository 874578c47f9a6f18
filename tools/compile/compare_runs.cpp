#include "tools/compile/compare_runs.h"

#include "alula/runtime.hpp"
#include "compiler/driver/compile.h"
#include "tools/model/model.h"
#include "tools/model/random_value.h"
#include "tools/values/compare.h"

#include "mlir/IR/Diagnostics.h"

#include <cstring>

using namespace alula;
using values::Value;

namespace {
/// The results of "main"; false and `problem` if it can't be run.
bool run(mlir::ModuleOp program, std::vector<Value> &results,
         std::string &problem) {
  driver::CompileOptions options;
  options.targets = {"cpu:host"};
  options.completed = driver::Room::Dispatch;
  driver::CompileOutput output;
  {
    mlir::ScopedDiagnosticHandler handler(program.getContext(),
                                          [&](mlir::Diagnostic &diagnostic) {
                                            if (problem.empty())
                                              problem = diagnostic.str();
                                            return mlir::success();
                                          });
    if (failed(driver::compile(program, options, output)))
      return false;
  }
  problem.clear();
  Error error;
  auto fail = [&] {
    problem = error.message();
    return false;
  };
  Instance instance = Instance::create(nullptr, error);
  if (error)
    return fail();
  Executable executable = Executable::loadMemory(
      instance, output.artifact.data(), output.artifact.size(), error);
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
    problem = alula_error_get_message(failed);
    alula_error_destroy(failed);
    return false;
  }
  bool isGood = true;
  for (alula_buffer *each : outputs) {
    Value &value = results.emplace_back();
    Buffer owned(each);
    isGood = isGood && model::readBuffer(owned, value, problem);
  }
  return isGood;
}
} // namespace

std::string tools::compareRuns(mlir::ModuleOp before, mlir::ModuleOp after) {
  std::vector<Value> expected, actual;
  std::string problem;
  // What can't be run as it was says nothing of what became of it.
  if (!run(before, expected, problem))
    return "";
  if (!run(after, actual, problem))
    return "it can't be run: " + problem;
  for (size_t i = 0; i < expected.size(); ++i)
    if (!compareValues(expected[i], actual[i], {}, problem))
      return "result " + std::to_string(i) + " on random numbers: " + problem;
  return "";
}

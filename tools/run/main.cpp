// alula-run: runs a function of an artifact. Runtime only.

#include "tools/model/model.h"
#include "tools/model/random_value.h"
#include "tools/options/answer.h"
#include "tools/progress/progress_line.h"
#include "tools/run/options.h"
#include "tools/run/progress.h"
#include "tools/run/trace.h"
#include "tools/values/compare.h"
#include "tools/values/value_io.h"

#include <csignal>
#include <cstdio>
#include <ctime>
#include <memory>

using namespace alula;
using namespace alula::run;

namespace {

int fail(const std::string &text, int status = options::WrongInput) {
  return options::fail(getTool(), text, status);
}

/// The status after a value could not be read.
int getStatusOfValue(const std::string &spec) {
  size_t at = spec.find('@');
  return at == spec.npos ? int(options::WrongInput)
                         : options::getReadStatus(spec.substr(at + 1));
}

void list(const model::Model &model) {
  alula_value_info info = {};
  info.struct_bytes = sizeof info;
  alula_executable *file = model.get();
  uint32_t count = alula_executable_get_function_count(file);
  for (uint32_t f = 0; f < count; ++f) {
    std::string text = alula_executable_get_function_name(file, f);
    text += "(";
    for (uint32_t i = 0; alula_executable_get_argument(file, f, i, &info); ++i)
      text += (i ? ", " : "") + model::printValueInfo(info);
    text += ") -> (";
    for (uint32_t i = 0; alula_executable_get_result(file, f, i, &info); ++i)
      text += (i ? ", " : "") + model::printValueInfo(info);
    printf("%s)\n", text.c_str());
  }
  for (uint32_t g = 0; alula_executable_get_global(file, g, &info); ++g)
    printf("global %s%s\n", model::printValueInfo(info).c_str(),
           info.is_mutable ? " mutable" : "");
  if (const char *variant = alula_executable_get_variant(file))
    if (*variant)
      printf("variant %s\n", variant);
}

/// Compares, writes or prints the results; the exit status.
int finish(const Options &options, const std::vector<Buffer> &results) {
  std::string error;
  int status = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    values::Value value;
    if (!model::readBuffer(results[i], value, error))
      return fail("output " + std::to_string(i) + ": " + error);
    bool isExpected = i < options.expected.size();
    if (i < options.outputs.size()) {
      if (!values::writeValue(options.outputs[i], value, error))
        return fail("output " + std::to_string(i) + ": " + error,
                    options::NoFile);
    } else if (options.outputs.empty() && options.expected.empty() &&
               !values::writeValue("-", value, error))
      return fail(error, options::NoFile);
    if (!isExpected)
      continue;
    values::Value expected;
    if (!values::readValue(options.expected[i], expected, error))
      return fail("expected output " + std::to_string(i) + ": " + error,
                  getStatusOfValue(options.expected[i]));
    if (!values::compareValues(expected, value, options.tolerance, error)) {
      fprintf(stderr, "result %zu: %s\n", i, error.c_str());
      status = 1;
    }
  }
  return status;
}

void listImports(const model::Model &model) {
  alula_import_info info = {};
  info.struct_bytes = sizeof info;
  for (uint32_t i = 0; alula_executable_get_import(model.get(), i, &info); ++i)
    printf("%s %s, %s\n", info.name, info.is_optional ? "optional" : "required",
           info.is_found ? "found" : "missing");
}

/// Values for the arguments that have no input.
bool addRandom(const Options &options, const model::Model &model,
               std::vector<values::Value> &inputs,
               std::vector<Buffer> &arguments, std::string &problem) {
  alula_value_info info;
  Error error;
  for (uint32_t i = uint32_t(inputs.size()); model::getArgument(model, i, info);
       ++i) {
    std::vector<int64_t> dims(info.dims, info.dims + info.rank);
    for (int64_t dim : dims)
      if (dim < 0) {
        problem = "argument " + std::to_string(i) + " is " +
                  model::printValueInfo(info) +
                  ": a size that is not known wants an --input";
        return false;
      }
    values::Value &value = inputs.emplace_back();
    if (!values::createValue(info.dtype, dims, value, problem))
      return false;
    model::fillRandom(options.seed + i, value);
    arguments.push_back(model::wrapValue(model.instance, value, error));
  }
  if (error)
    problem = error.message();
  return !error;
}

/// Ctrl-C while a call runs: the call ends, then the process, as if by the
/// signal. A second one ends it at once.
class Interruptible {
public:
  Interruptible() {
    struct sigaction note = {};
    note.sa_handler = [](int) {
      __atomic_store_n(&isInterrupted, 1, __ATOMIC_RELAXED);
    };
    note.sa_flags = int(SA_RESETHAND);
    sigaction(SIGINT, nullptr, &before);
    if (before.sa_handler != SIG_IGN)
      sigaction(SIGINT, &note, nullptr);
  }
  ~Interruptible() {
    sigaction(SIGINT, &before, nullptr);
    if (!isInterrupted)
      return;
    fprintf(stderr, "alula-run: interrupted\n");
    raise(SIGINT);
  }
  /// For a handler.
  static inline int isInterrupted = 0;

private:
  struct sigaction before = {};
};

int runFile(const Options &options) {
  std::string problem;
  model::Model model;
  if (!model::openModel(options.model, model, problem))
    return fail(problem, options::getReadStatus(options.model.file));
  if (options.listImports) {
    listImports(model);
    return 0;
  }
  if (options.list) {
    list(model);
    return 0;
  }
  if (!model::chooseFunction(options.model, model, problem))
    return fail(problem);

  Error error;
  std::vector<values::Value> inputs(options.inputs.size());
  std::vector<Buffer> arguments;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!values::readValue(options.inputs[i], inputs[i], problem))
      return fail("input " + std::to_string(i) + ": " + problem,
                  getStatusOfValue(options.inputs[i]));
    arguments.push_back(model::wrapValue(model.instance, inputs[i], error));
  }
  if (options.isRandom &&
      !addRandom(options, model, inputs, arguments, problem))
    return fail(problem);
  uint32_t wanted = model.getArgumentCount(), given = uint32_t(inputs.size());
  alula_value_info missing;
  if (model::getArgument(model, given, missing))
    return fail("the function takes " + std::to_string(wanted) +
                " inputs, not " + std::to_string(given) + ": missing " +
                model::printValueInfo(missing));
  uint32_t resultCount = model.getResultCount();
  if (options.outputs.size() > resultCount ||
      options.expected.size() > resultCount)
    return fail("the function has " + std::to_string(resultCount) + " results");

  alula_call_options callOptions = {};
  callOptions.struct_bytes = sizeof callOptions;
  Trace trace(model.executable->get());
  if (!options.trace.empty()) {
    callOptions.trace = Trace::record;
    callOptions.trace_user = &trace;
  }
  Progress progress(options.repeat);
  auto progressLine = std::make_unique<tools::ProgressLine>(
      [&] { return progress.describe(); });
  if (progressLine->isActive()) {
    progress.next = callOptions.trace;
    progress.nextUser = callOptions.trace_user;
    callOptions.trace = Progress::record;
    callOptions.trace_user = &progress;
  }
  std::vector<Buffer> results;
  callOptions.cancel = &Interruptible::isInterrupted;
  {
    Interruptible scope;
    for (uint32_t i = 0; i < options.repeat && !error; ++i) {
      progress.beginCall();
      trace.beginCall();
      results = model.executable->call(model.function, arguments, error,
                                       &callOptions);
      trace.endCall();
    }
  }
  progressLine.reset();
  if (error)
    return fail(error.message());
  if (!options.trace.empty()) {
    const char *function =
        alula_executable_get_function_name(model.get(), model.function);
    if (!values::writeFile(
            options.trace,
            trace.print("alula-run " + options.model.file, function), problem))
      return fail(problem, options::NoFile);
    fputs(trace.summarize().c_str(), stderr);
  }
  return finish(options, results);
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  std::string error;
  if (auto status = options::answer(getTool(), argc, argv))
    return *status;
  if (!parseOptions(argc, argv, options, error))
    return fail(error, options::WrongUsage);
  return runFile(options);
}

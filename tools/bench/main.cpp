// alula-bench: how long a function of an artifact, or one of its kernels,
// takes. The flags and the output are those of Google Benchmark.

#include "tools/bench/executable_call.h"
#include "tools/bench/kernel_timer.h"
#include "tools/bench/measurement.h"
#include "tools/model/model.h"
#include "tools/model/random_value.h"
#include "tools/options/answer.h"
#include "tools/options/iree.h"
#include "tools/options/parse.h"
#include "tools/values/value_io.h"

#include <cstdio>
#include <cstring>
#include <map>

using namespace alula;

namespace {

const options::Tool &getTool() {
  static constexpr const char *what = "What is timed",
                              *kernel = "Of what alula-compile "
                                        "--executable-only wrote",
                              *google =
                                  "Measuring (Google Benchmark has the same)";
  static const options::Tool tool = [] {
    options::Tool made = {
        "alula-bench",
        {"FILE.alula [options]",
         "--executable=BLOB --entry=KERNEL --binding=VALUE ..."},
        "time a function or a kernel of a compiled StableHLO program",
        "Times a function of an artifact, or one of its kernels.",
        "The output is Google Benchmark's.",
        {
            {"input", "VALUE", what,
             "one for each argument, in order, as for alula-run; those that "
             "are missing are random"},
            {"dim", "SYMBOL=N", what,
             "the size of a dynamic dimension of random arguments"},
            {"seed", "N", what, "of the random numbers"},
            {"kernel", "NAME", what,
             "time this kernel's dispatches in the call instead"},
            {"output", "WHERE", what,
             "where a result goes after the first call, in order, as for "
             "alula-run: - prints it"},
        },
        {},
        {},
        {}};
    for (const options::Option &row : model::getOptions())
      made.options.push_back(row);
    for (const options::Option &row : std::initializer_list<options::Option>{
             {"executable", "FILE", kernel, "time a kernel of this file"},
             {"entry", "KERNEL", kernel, "its name or number"},
             {"binding", "VALUE", kernel, "one for each binding, in order"},
             {"workgroups", "X,Y,Z", kernel, "the grid (1,1,1)"},
             {"constants", "N,...", kernel, "the integers of the call"},
             {"benchmark_format", "console|json|csv", google, "of the output"},
             {"benchmark_out", "FILE", google, "write it there too"},
             {"benchmark_out_format", "console|json|csv", google, "of FILE"},
             {"benchmark_min_time", "SECONDS|Nx", google,
              "how long each is repeated (0.5), or how many times"},
             {"benchmark_repetitions", "N", google,
              "measure so many times; mean, median and deviation follow"},
             {"benchmark_display_aggregates_only", "true|false", google,
              "print only those"},
         })
      made.options.push_back(row);
    for (const options::Foreign &row : options::getIreeRunHints())
      made.foreign.push_back(row);
    return made;
  }();
  return tool;
}

struct Options {
  model::Options model;
  std::vector<std::string> inputs;
  std::map<std::string, uint32_t> dims;
  std::vector<std::string> outputs;
  std::string kernel;
  bench::ExecutableCall executable;
  bench::Settings settings;
  uint32_t seed = 0;
};

int fail(const std::string &text, int status = options::WrongInput) {
  return options::fail(getTool(), text, status);
}

bool setOption(std::string_view name, std::string_view value,
               Options &options) {
  // Of an executable they are numbers, of a model a folder.
  bool isNumbers = name == "constants" && !options.executable.file.empty();
  model::Taken taken = isNumbers ? model::Taken::No
                                 : model::setOption(name, value, options.model);
  if (taken != model::Taken::No)
    return taken == model::Taken::Yes;
  if (name == "input")
    options.inputs.emplace_back(value);
  else if (name == "output")
    options.outputs.emplace_back(value);
  else if (name == "executable")
    options.executable.file = value;
  else if (name == "entry")
    options.executable.entry = value;
  else if (name == "binding")
    options.executable.bindings.emplace_back(value);
  else if (name == "workgroups")
    options.executable.workgroups = value;
  else if (isNumbers)
    options.executable.constants = value;
  else if (name == "kernel")
    options.kernel = value;
  else if (name == "seed")
    return model::parseNumber(value, options.seed);
  else if (name == "dim") {
    size_t equals = value.find('=');
    return equals != value.npos &&
           model::parseNumber(
               value.substr(equals + 1),
               options.dims[std::string(value.substr(0, equals))]);
  } else
    return bench::setSetting(name, std::string(value), options.settings);
  return true;
}

bool parseOptions(int argc, char **argv, Options &options, std::string &error) {
  options::CommandLine line;
  if (!options::parse(getTool(), argc, argv, line, error))
    return false;
  // What --constants means depends on it.
  for (const options::Given &given : line.given)
    if (given.option->name == std::string_view("executable"))
      options.executable.file = given.value;
  for (const options::Given &given : line.given)
    if (!setOption(given.option->name, given.value, options)) {
      error = options::explainValue(given);
      return false;
    }
  if (!options::getFile(line, options.model.file, error))
    return false;
  if (!options.executable.file.empty()) {
    if (!options.model.file.empty() || !options.inputs.empty())
      error = "--executable takes no other file and no --input";
    options.model.file = options.executable.file;
  }
  if (options.model.file.empty())
    error = "no file is given; --help explains";
  return error.empty();
}

/// A random value of an argument's type.
bool makeRandom(const Options &options, const model::Model &model,
                uint32_t index, values::Value &value, std::string &error) {
  alula_value_info info;
  model::getArgument(model, index, info);
  std::vector<int64_t> dims(info.dims, info.dims + info.rank);
  for (uint32_t i = 0; i < info.rank; ++i) {
    if (dims[i] >= 0)
      continue;
    alula_dim_info dim = {};
    dim.struct_bytes = sizeof dim;
    alula_executable_get_argument_dim(model.get(), model.function, index, i,
                                      &dim);
    std::string symbol = dim.symbol;
    auto found = options.dims.find(symbol);
    if (symbol.empty() || found == options.dims.end()) {
      error = "argument " + std::to_string(index) + " is " +
              model::printValueInfo(info) + ": its dimension " +
              std::to_string(i) + " wants " +
              (symbol.empty() ? "" : "--dim=" + symbol + "=N or ") +
              "an --input";
      return false;
    }
    dims[i] = found->second;
  }
  if (!values::createValue(info.dtype, dims, value, error))
    return false;
  model::fillRandom(options.seed + index, value);
  return true;
}

/// Everything that a call takes, made once.
struct Call {
  model::Model model;
  std::vector<values::Value> inputs;
  std::vector<Buffer> owned;
  std::vector<alula_buffer *> arguments, results;

  alula_error *run(const alula_call_options *options) {
    return alula_call(model.get(), model.function, options, arguments.data(),
                      arguments.size(), results.data(), results.size());
  }
};

/// What the first call gave.
bool writeResults(const Options &options, Call &call, std::string &problem) {
  if (options.outputs.size() > call.results.size()) {
    problem = "the function gives " + std::to_string(call.results.size()) +
              " results, not " + std::to_string(options.outputs.size());
    return false;
  }
  for (size_t i = 0; i < options.outputs.size(); ++i) {
    values::Value value;
    const Buffer &result = call.owned[call.inputs.size() + i];
    if (!model::readBuffer(result, value, problem))
      return false;
    if (!values::writeValue(options.outputs[i], value, problem))
      return false;
  }
  return true;
}

bool prepare(const Options &options, Call &call, std::string &problem) {
  model::Model &model = call.model;
  if (!model::openModel(options.model, model, problem) ||
      !model::chooseFunction(options.model, model, problem))
    return false;
  uint32_t count = model.getArgumentCount();
  if (options.inputs.size() > count) {
    problem = "the function takes " + std::to_string(count) + " inputs, not " +
              std::to_string(options.inputs.size());
    return false;
  }
  call.inputs.resize(count);
  Error error;
  for (uint32_t i = 0; i < count; ++i) {
    bool isGiven = i < options.inputs.size();
    if (!(isGiven
              ? values::readValue(options.inputs[i], call.inputs[i], problem)
              : makeRandom(options, model, i, call.inputs[i], problem))) {
      if (isGiven)
        problem = "input " + std::to_string(i) + ": " + problem;
      return false;
    }
    call.owned.push_back(
        model::wrapValue(call.model.instance, call.inputs[i], error));
    call.arguments.push_back(call.owned.back().get());
  }
  call.results.resize(model.getResultCount());
  if (!error)
    error.take(call.run(nullptr));
  for (alula_buffer *result : call.results)
    call.owned.emplace_back(result);
  problem = error.message();
  return !error && writeResults(options, call, problem);
}

/// So many calls; the seconds that the timer's kernel took in them.
bool runCalls(uint64_t times, Call &call, bench::KernelTimer *timer,
              double &seconds, std::string &problem) {
  alula_call_options options = {};
  options.struct_bytes = sizeof options;
  if (timer) {
    options.trace = bench::KernelTimer::record;
    options.trace_user = timer;
  }
  for (uint64_t i = 0; i < times; ++i) {
    if (timer)
      timer->clear();
    if (alula_error *error = call.run(&options)) {
      problem = alula_error_get_message(error);
      alula_error_destroy(error);
      return false;
    }
    if (timer)
      seconds += timer->getSeconds();
  }
  return true;
}

int run(Options &options) {
  Call call;
  std::string problem;
  if (!options.executable.file.empty()) {
    if (!bench::makeArtifact(options.executable, options.model.bytes, problem))
      return fail(problem, options::getReadStatus(options.executable.file));
    options.inputs = options.executable.bindings;
  }
  if (!prepare(options, call, problem))
    return fail(problem, options::getReadStatus(options.model.file));
  std::string name =
      alula_executable_get_function_name(call.model.get(), call.model.function);
  bench::KernelTimer timer(options.kernel);
  bool isKernel = !options.kernel.empty();
  if (isKernel) {
    alula_call_options traced = {};
    traced.struct_bytes = sizeof traced;
    traced.trace = bench::KernelTimer::record;
    traced.trace_user = &timer;
    alula_error_destroy(call.run(&traced));
    if (!timer.getDispatches())
      return fail("the call runs no kernel '" + options.kernel + "'; it runs " +
                  timer.listNames());
    timer.stopCollecting();
    name += "/" + options.kernel;
  }
  alula_executable *file = call.model.get();
  bench::Subject subject;
  subject.name = name;
  subject.isManual = isKernel;
  subject.run = [&](uint64_t times, double &seconds, std::string &failed) {
    return runCalls(times, call, isKernel ? &timer : nullptr, seconds, failed);
  };
  if (isKernel)
    subject.counters = [&] {
      return std::vector<std::pair<std::string, double>>{
          {"dispatches", double(timer.getDispatches())}};
    };
  subject.context = {{"artifact", options.model.file},
                     {"variant", alula_executable_get_variant(file)},
                     {"threads", std::to_string(alula_instance_get_thread_count(
                                     call.model.instance.get()))}};
  if (!bench::measure(subject, options.settings, getTool().name, problem))
    return fail(problem);
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  if (auto status = options::answer(getTool(), argc, argv))
    return *status;
  Options options;
  std::string error;
  if (!parseOptions(argc, argv, options, error))
    return fail(error, options::WrongUsage);
  return run(options);
}

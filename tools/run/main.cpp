// alula-run: runs a function of an artifact. Runtime only.

#include "alula/runtime.hpp"
#include "tools/run/options.h"
#include "tools/run/trace.h"
#include "tools/values/compare.h"
#include "tools/values/value_io.h"

#include <cstdio>
#include <ctime>

using namespace alula;
using namespace alula::run;

namespace {

/// Prints an error the way every tool does; the exit status.
int fail(const std::string &text) {
  fprintf(stderr, "alula-run: error: %s\n", text.c_str());
  return 1;
}

std::string printValueInfo(const alula_value_info &info) {
  std::vector<int64_t> dims(info.dims, info.dims + info.rank);
  std::string name = info.name;
  return (name.empty() ? "" : name + ": ") +
         values::printType(info.dtype, dims);
}

void list(const Executable &model) {
  alula_value_info info = {};
  info.struct_bytes = sizeof info;
  uint32_t count = alula_executable_get_function_count(model.get());
  for (uint32_t f = 0; f < count; ++f) {
    std::string text = alula_executable_get_function_name(model.get(), f);
    text += "(";
    for (uint32_t i = 0;
         alula_executable_get_argument(model.get(), f, i, &info); ++i)
      text += (i ? ", " : "") + printValueInfo(info);
    text += ") -> (";
    for (uint32_t i = 0; alula_executable_get_result(model.get(), f, i, &info);
         ++i)
      text += (i ? ", " : "") + printValueInfo(info);
    printf("%s)\n", text.c_str());
  }
  for (uint32_t g = 0; alula_executable_get_global(model.get(), g, &info); ++g)
    printf("global %s%s\n", printValueInfo(info).c_str(),
           info.is_mutable ? " mutable" : "");
}

/// The function that was named, or the only one, or "main".
uint32_t chooseFunction(const Executable &model, const Options &options,
                        Error &error) {
  if (!options.function.empty())
    return model.find(options.function.c_str(), error);
  if (alula_executable_get_function_count(model.get()) == 1)
    return 0;
  return model.find("main", error);
}

/// "2x?xf32": the type an argument asks for, for error texts.
std::string describeArgument(const Executable &model, uint32_t function,
                             uint32_t index) {
  alula_value_info info = {};
  info.struct_bytes = sizeof info;
  if (!alula_executable_get_argument(model.get(), function, index, &info))
    return "";
  return printValueInfo(info);
}

values::Value toValue(const Buffer &buffer) {
  values::Value value;
  std::string error;
  if (values::createValue(buffer.dtype(), buffer.dims(), value, error) &&
      value.size)
    memcpy(value.data.get(), buffer.data(), value.size);
  return value;
}

/// Compares, writes or prints the results; the exit status.
int finish(const Options &options, const std::vector<Buffer> &results) {
  std::string error;
  int status = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    values::Value value = toValue(results[i]);
    bool isExpected = i < options.expected.size();
    if (i < options.outputs.size()) {
      if (!values::writeValue(options.outputs[i], value, error))
        return fail("output " + std::to_string(i) + ": " + error);
    } else if (options.outputs.empty() && options.expected.empty() &&
               !values::writeValue("-", value, error))
      return fail(error);
    if (!isExpected)
      continue;
    values::Value expected;
    if (!values::readValue(options.expected[i], expected, error))
      return fail("expected output " + std::to_string(i) + ": " + error);
    if (!values::compareValues(expected, value, options.tolerance, error)) {
      fprintf(stderr, "result %zu: %s\n", i, error.c_str());
      status = 1;
    }
  }
  return status;
}

int runFile(const Options &options) {
  Error error;
  alula_instance_options instanceOptions = {};
  instanceOptions.struct_bytes = sizeof instanceOptions;
  instanceOptions.device = options.device.c_str();
  instanceOptions.thread_count = options.threads;
  Instance instance = Instance::create(&instanceOptions, error);
  alula_load_options loadOptions = {};
  loadOptions.struct_bytes = sizeof loadOptions;
  loadOptions.variant =
      options.variant.empty() ? nullptr : options.variant.c_str();
  std::string bytes, problem;
  if (error)
    return fail(error.message());
  Executable model = [&] {
    if (options.file != "-")
      return Executable::loadFile(instance, options.file.c_str(), error,
                                  &loadOptions);
    if (!values::readFile("-", bytes, problem))
      bytes.clear();
    return Executable::loadMemory(instance, bytes.data(), bytes.size(), error,
                                  &loadOptions);
  }();
  if (error)
    return fail(options.file + ": " + error.message());
  if (options.list) {
    list(model);
    return 0;
  }
  uint32_t function = chooseFunction(model, options, error);
  if (error)
    return fail(error.message());

  std::vector<values::Value> inputs(options.inputs.size());
  std::vector<Buffer> arguments;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!values::readValue(options.inputs[i], inputs[i], problem))
      return fail("input " + std::to_string(i) + ": " + problem);
    arguments.push_back(Buffer::wrap(instance, inputs[i].type, inputs[i].shape,
                                     inputs[i].data.get(), inputs[i].size,
                                     error));
  }
  uint32_t wanted =
      alula_executable_get_argument_count(model.get(), function);
  uint32_t given = uint32_t(inputs.size());
  if (given < wanted)
    return fail("the function takes " + std::to_string(wanted) +
                " inputs, not " + std::to_string(given) + ": missing " +
                describeArgument(model, function, given));
  uint32_t resultCount =
      alula_executable_get_result_count(model.get(), function);
  if (options.outputs.size() > resultCount ||
      options.expected.size() > resultCount)
    return fail("the function has " + std::to_string(resultCount) + " results");

  alula_call_options callOptions = {};
  callOptions.struct_bytes = sizeof callOptions;
  Trace trace;
  if (!options.trace.empty()) {
    callOptions.trace = Trace::record;
    callOptions.trace_user = &trace;
  }
  std::vector<Buffer> results;
  for (uint32_t i = 0; i < options.repeat; ++i)
    results = model.call(function, arguments, error, &callOptions);
  if (error)
    return fail(error.message());
  if (!options.trace.empty() &&
      !values::writeFile(options.trace, trace.print(), problem))
    return fail(problem);
  return finish(options, results);
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  std::string error;
  if (!parseOptions(argc, argv, options, error)) {
    fprintf(stderr, "alula-run: error: %s\n", error.c_str());
    return 2;
  }
  if (options.help) {
    fputs(getHelp(), stdout);
    return 0;
  }
  return runFile(options);
}

#include "tools/interpret/arguments.h"

#include "tools/options/parse.h"

#include "llvm/Config/llvm-config.h"

namespace alula::interpret {
namespace {

bool parseNumber(llvm::StringRef text, double &value) {
  return !text.getAsDouble(value) && value >= 0;
}

bool parseNumber(llvm::StringRef text, int64_t &value) {
  return !text.getAsInteger(10, value) && value > 0;
}

} // namespace

/// One option of the table; false if its value is wrong.
static bool setOption(const options::Given &given, Arguments &arguments) {
  llvm::StringRef name = given.option->name,
                  value(given.value.data(), given.value.size());
  if (name == "function")
    arguments.function = value.str();
  else if (name == "input")
    arguments.inputs.push_back(value.str());
  else if (name == "output")
    arguments.outputs.push_back(value.str());
  else if (name == "expected_output")
    arguments.expected.push_back(value.str());
  else if (name == "args")
    arguments.attributes = value.str();
  else if (name == "passes")
    arguments.passes = value.str();
  else if (name == "probe-output-dir")
    arguments.probeDirectory = value.str();
  else if (name == "batch")
    arguments.batch = value.str();
  else if (name == "split-input-file")
    arguments.split = true;
  else if (name == "wide-sums")
    arguments.wideSums = true;
  else if (name == "print" && value == "lines")
    arguments.print = Print::Lines;
  else if (name == "print" && value == "dense")
    arguments.print = Print::Dense;
  else if (name == "print" && value == "value")
    arguments.print = Print::Value;
  else if (name == "print" && value == "none")
    arguments.print = Print::None;
  else if (name == "relative-tolerance")
    return parseNumber(value, arguments.relative);
  else if (name == "absolute-tolerance")
    return parseNumber(value, arguments.absolute);
  else if (name == "timeout")
    return parseNumber(value, arguments.timeout);
  else if (name == "max-bytes")
    return parseNumber(value, arguments.maxBytes);
  else if (name == "max-steps")
    return parseNumber(value, arguments.maxSteps);
  else if (name == "replicas")
    return parseNumber(value, arguments.replicas);
  else if (name == "partitions")
    return parseNumber(value, arguments.partitions);
  else
    return false;
  return true;
}

bool parseArguments(llvm::ArrayRef<llvm::StringRef> words, Arguments &arguments,
                    std::string &error) {
  std::vector<std::string_view> views(words.begin(), words.end());
  options::CommandLine line;
  if (!options::parse(getTool(), views, line, error))
    return false;
  for (const options::Given &given : line.given)
    if (!setOption(given, arguments)) {
      error = options::explainValue(given);
      return false;
    }
  if (line.others.size() + !arguments.file.empty() > 1) {
    error = "one file at a time: " + std::string(line.others.back());
    return false;
  }
  if (!line.others.empty())
    arguments.file = line.others[0];
  return true;
}

const options::Tool &getTool() {
  static constexpr const char *values = "Inputs and results", *how = "How",
                              *many = "Many programs, many processes";
  static const options::Tool tool = [] {
    options::Tool made = {
        "alula-interpret",
        {"FILE [options]"},
        "run a StableHLO program on the reference interpreter",
        "Runs a StableHLO program (text, bytecode or portable artifact) on "
        "the\n"
        "reference interpreter. Exit status 0: it ran and every check held.",
        "A VALUE is 2x3xf32=1,2,3,4,5,6, or @x.npy, or 2x3xbf16=@raw.bin.",
        {
            {"function", "NAME", values,
             "which function; main, or the only one"},
            {"input", "VALUE", values, "one for each argument"},
            {"output", "WHERE", values,
             "one for each result: -, x.npy, raw.bin"},
            {"expected_output", "VALUE", values,
             "one for each result; differences fail"},
            {"relative-tolerance", "X", values,
             "of --expected_output; the type's by default"},
            {"absolute-tolerance", "X", values, "the same"},
            {"args", "[ATTRIBUTES]", values, "inputs as MLIR attributes"},
            {"print", "lines|dense|value|none", values,
             "results without an --output or --expected_output"},
            {"passes", "A,B,...", how,
             "MLIR passes to run on the module first; by default those that "
             "turn other ops into stablehlo's"},
            {"wide-sums", "", how, "sums of floats round once, at the end"},
            {"max-bytes", "N", how, "the most memory"},
            {"max-steps", "N", how, "the most ops"},
            {"timeout", "SECONDS", how, "the most time"},
            {"probe-output-dir", "FOLDER", how,
             "where interpreter.probe writes"},
            {"replicas", "N", many,
             "run on a grid of processes, each with the same inputs; results "
             "are those of the first"},
            {"partitions", "N", many, "its other side"},
            {"split-input-file", "", many,
             "parts between // ----- are programs of their own"},
            {"batch", "FILE", many,
             "each line is FILE and options, divided by tabs; prints PASS or "
             "FAIL and the reason for each"},
        },
        {},
        {},
        {}};
    made.llvm = LLVM_VERSION_STRING;
    return made;
  }();
  return tool;
}

} // namespace alula::interpret

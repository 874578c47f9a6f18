#include "tools/interpret/arguments.h"

namespace alula::interpret {
namespace {

bool parseNumber(llvm::StringRef text, double &value) {
  return !text.getAsDouble(value) && value >= 0;
}

bool parseNumber(llvm::StringRef text, int64_t &value) {
  return !text.getAsInteger(10, value) && value > 0;
}

} // namespace

bool parseArguments(llvm::ArrayRef<llvm::StringRef> words,
                    Arguments &arguments, std::string &error) {
  auto refuse = [&](llvm::StringRef word, llvm::StringRef why) {
    error = (why + ": " + word).str();
    return false;
  };
  for (llvm::StringRef word : words) {
    if (!word.starts_with("-") || word == "-") {
      if (!arguments.file.empty())
        return refuse(word, "one file at a time");
      arguments.file = word.str();
      continue;
    }
    // Both --name and -name, as MLIR's tools take them.
    auto [name, value] = word.ltrim('-').split('=');
    bool fine = true;
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
    else if (name == "help")
      arguments.help = true;
    else if (name == "print" && value == "lines")
      arguments.print = Print::Lines;
    else if (name == "print" && value == "dense")
      arguments.print = Print::Dense;
    else if (name == "print" && value == "value")
      arguments.print = Print::Value;
    else if (name == "print" && value == "none")
      arguments.print = Print::None;
    else if (name == "relative-tolerance")
      fine = parseNumber(value, arguments.relative);
    else if (name == "absolute-tolerance")
      fine = parseNumber(value, arguments.absolute);
    else if (name == "timeout")
      fine = parseNumber(value, arguments.timeout);
    else if (name == "max-bytes")
      fine = parseNumber(value, arguments.maxBytes);
    else if (name == "max-steps")
      fine = parseNumber(value, arguments.maxSteps);
    else if (name == "replicas")
      fine = parseNumber(value, arguments.replicas);
    else if (name == "partitions")
      fine = parseNumber(value, arguments.partitions);
    else
      return refuse(word, "unknown option");
    if (!fine)
      return refuse(word, "not a number");
  }
  return true;
}

llvm::StringRef getHelp() {
  return R"(usage: alula-interpret FILE [options]

Runs a StableHLO program (text, bytecode or portable artifact) on the
reference interpreter. Exit status 0: it ran and every check held.

  --function=NAME         which function; main, or the only one
  --input=VALUE           one for each argument: 2x3xf32=1,2,…  @x.npy
                          2x3xbf16=@raw.bin
  --output=WHERE          one for each result: -, x.npy, raw.bin
  --expected_output=VALUE one for each result; differences fail
  --relative-tolerance=X  of --expected_output; the type's by default
  --absolute-tolerance=X
  --args=[ATTRIBUTES]     inputs as MLIR attributes
  --print=FORM            lines, dense, value or none: results without
                          an --output or --expected_output
  --split-input-file      parts between // ----- are programs of their own
  --passes=A,B,…          MLIR passes to run on the module first; by default
                          those that turn other ops into stablehlo's
  --wide-sums             sums of floats round once, at the end
  --replicas=N --partitions=N
                          run on a grid of processes, each with the same
                          inputs; results are those of the first
  --max-bytes=N --max-steps=N --timeout=SECONDS
  --probe-output-dir=DIR  where interpreter.probe writes
  --batch=FILE            each line is FILE and options, divided by tabs;
                          prints PASS or FAIL and the reason for each
)";
}

} // namespace alula::interpret

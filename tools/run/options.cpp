#include "tools/run/options.h"

#include "tools/options/iree.h"
#include "tools/options/parse.h"

#include <charconv>

namespace alula::run {

const options::Tool &getTool() {
  static constexpr const char *values = "Inputs and results",
                              *looks = "Looking at it", *how = "How it runs";
  static const options::Tool tool = [] {
    options::Tool made = {
        "alula-run",
        {"FILE.alula [options]"},
        "run a function of a compiled StableHLO program",
        "Runs a function of an artifact and prints its results.",
        R"(A VALUE is 2x3xf32=1,2,3,4,5,6, or f32=7, or 2x3xf32 (zeros), or
2x3xbf16=@raw.bin (little endian, types below 8 bits take a byte), or @x.npy,
or 2x3xbf16=@x.npy. FILE may be - for stdin.)",
        {
            {"input", "VALUE", values, "one for each argument, in order"},
            {"random", "SEED", values,
             "inputs that are not given are random: floats in [-1, 1), "
             "integers 0 to 3; sizes must be known",
             options::Takes::MaybeValue},
            {"output", "WHERE", values,
             "one for each result: - prints it, x.npy and x.bin write it; "
             "without any, all results are printed"},
            {"expected_output", "VALUE", values,
             "compares; exit status 1 if a result differs"},
            {"rtol", "X", values,
             "relative tolerance of floats; default: by type"},
            {"atol", "X", values,
             "absolute tolerance of floats; default: by type"},
            {"list", "", looks,
             "print functions, globals and the variant that would run, run "
             "nothing"},
            {"list-imports", "", looks,
             "print the functions that kernels import: name, required or "
             "optional, found or missing; run nothing"},
            {"trace", "FILE", how,
             "write the times of all commands, and of each thread, for "
             "Perfetto or chrome://tracing; print a table of them to stderr"},
            {"repeat", "N", how,
             "call it N times; the results are the last call's"},
        },
        {},
        {},
        {}};
    for (const options::Option &row : model::getOptions())
      made.options.push_back(row);
    for (const options::Foreign &row : options::getIreeRunHints())
      made.foreign.push_back(row);
    return made;
  }();
  return tool;
}

static bool parseNumber(std::string_view text, double &number) {
  const char *end = text.data() + text.size();
  auto [last, failure] = std::from_chars(text.data(), end, number);
  return failure == std::errc() && last == end && number >= 0;
}

/// One option of the table; false if its value is wrong.
static bool setOption(const options::Given &given, Options &options) {
  std::string_view name = given.option->name, value = given.value;
  std::string text(value);
  model::Taken taken = model::setOption(name, value, options.model);
  if (taken != model::Taken::No)
    return taken == model::Taken::Yes;
  if (name == "input")
    options.inputs.push_back(text);
  else if (name == "output")
    options.outputs.push_back(text);
  else if (name == "expected_output")
    options.expected.push_back(text);
  else if (name == "trace")
    options.trace = text;
  else if (name == "list")
    options.list = true;
  else if (name == "list-imports")
    options.listImports = options.model.mayMissImports = true;
  else if (name == "random") {
    options.isRandom = true;
    return !given.hasValue || model::parseNumber(value, options.seed);
  } else if (name == "rtol")
    return parseNumber(value, options.tolerance.relative);
  else if (name == "atol")
    return parseNumber(value, options.tolerance.absolute);
  else if (name == "repeat")
    return model::parseNumber(value, options.repeat) && options.repeat > 0;
  else
    return false;
  return true;
}

bool parseOptions(int argc, char **argv, Options &options, std::string &error) {
  options::CommandLine line;
  if (!options::parse(getTool(), argc, argv, line, error))
    return false;
  for (const options::Given &given : line.given)
    if (!setOption(given, options)) {
      error = options::explainValue(given);
      return false;
    }
  if (!options::getFile(line, options.model.file, error))
    return false;
  if (options.model.file.empty())
    error = "no file is given; --help explains";
  return error.empty();
}

} // namespace alula::run

#include "tools/run/options.h"

#include <charconv>
#include <cstring>
#include <string_view>

namespace alula::run {

std::string getHelp() {
  return std::string(R"(usage: alula-run FILE.alula [options]

Runs a function of an artifact and prints its results.

  --input=VALUE           one for each argument, in order
  --random, --random=SEED inputs that are not given are random: floats in
                          [-1, 1), integers 0 to 3; sizes must be known
  --output=WHERE          one for each result: - prints it, x.npy and x.bin
                          write it; without any, all results are printed
  --expected_output=VALUE compares; exit status 1 if a result differs
  --rtol=X --atol=X       tolerances of floats; default: by type
  --list                  print functions, globals and the variant that would
                          run, run nothing
  --list-imports          print the functions that kernels import: name,
                          required or optional, found or missing; run nothing
  --trace=FILE            write the times of all dispatches for Perfetto or
                          chrome://tracing
  --repeat=N              call it N times; the results are the last call's
)") + model::getHelp() +
         R"(
A VALUE is 2x3xf32=1,2,3,4,5,6, or f32=7, or 2x3xf32 (zeros), or
2x3xbf16=@raw.bin (little endian, types below 8 bits take a byte), or @x.npy,
or 2x3xbf16=@x.npy. FILE may be - for stdin.
)";
}

static bool parseNumber(std::string_view text, double &number) {
  const char *end = text.data() + text.size();
  auto [last, failure] = std::from_chars(text.data(), end, number);
  return failure == std::errc() && last == end && number >= 0;
}

/// One option with its value; false if it is wrong or unknown.
static bool setOption(std::string_view name, std::string_view value,
                      Options &options) {
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
  else if (name == "random")
    return options.isRandom = model::parseNumber(value, options.seed);
  else if (name == "rtol")
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
  for (int i = 1; i < argc; ++i) {
    std::string_view word = argv[i];
    if (word == "--list")
      options.list = true;
    else if (word == "--list-imports")
      options.listImports = options.model.mayMissImports = true;
    else if (word == "--random")
      options.isRandom = true;
    else if (word == "--help" || word == "-h")
      options.help = true;
    else if (!word.starts_with("-") || word == "-") {
      if (!options.model.file.empty()) {
        error = "more than one file: '" + options.model.file + "' and '" +
                std::string(word) + "'";
        return false;
      }
      options.model.file = word;
    } else {
      std::string_view name = word;
      name.remove_prefix(name.starts_with("--") ? 2 : 1);
      size_t equals = name.find('=');
      // The value may also be the next word.
      bool isSplit = equals == name.npos && i + 1 < argc;
      std::string_view value =
          equals != name.npos ? name.substr(equals + 1) : std::string_view();
      name = name.substr(0, equals);
      if (isSplit)
        value = argv[++i];
      if (!setOption(name, value, options)) {
        error = "unknown or wrong option '" + std::string(word) +
                "'; --help lists them";
        return false;
      }
    }
  }
  if (options.model.file.empty() && !options.help) {
    error = "no file is given; --help explains";
    return false;
  }
  return true;
}

} // namespace alula::run

// The command line of alula-run.

#pragma once

#include "tools/values/compare.h"

#include <cstdint>
#include <string>
#include <vector>

namespace alula::run {

struct Options {
  std::string file, function, device = "cpu", variant, trace;
  std::vector<std::string> inputs, outputs, expected;
  values::Tolerance tolerance;
  uint32_t threads = 0, repeat = 1;
  bool list = false, help = false;
};

bool parseOptions(int argc, char **argv, Options &options, std::string &error);

const char *getHelp();

} // namespace alula::run

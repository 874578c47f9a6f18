// The command line of alula-run.

#pragma once

#include "tools/model/options.h"
#include "tools/values/compare.h"

#include <cstdint>
#include <string>
#include <vector>

namespace alula::run {

struct Options {
  model::Options model;
  std::string trace;
  std::vector<std::string> inputs, outputs, expected;
  values::Tolerance tolerance;
  uint32_t repeat = 1;
  /// Arguments without an input are random, the same for the same seed.
  bool isRandom = false;
  uint32_t seed = 0;
  bool list = false, listImports = false;
};

bool parseOptions(int argc, char **argv, Options &options, std::string &error);

const options::Tool &getTool();

} // namespace alula::run

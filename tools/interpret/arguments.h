// The command line of alula-interpret; lines of a batch have the same form.
#pragma once

#include "tools/options/table.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace alula::interpret {

/// How results that no --output takes are printed.
enum class Print { Lines, Dense, Value, None };

struct Arguments {
  std::string file;
  std::string function;
  std::vector<std::string> inputs, outputs, expected;
  /// StableHLO's way to give inputs: "[dense<1> : tensor<i32>, …]".
  std::string attributes;
  /// A pass pipeline to run first.
  std::string passes;
  std::string probeDirectory;
  std::string batch;
  Print print = Print::Lines;
  bool split = false;
  bool wideSums = false;
  double relative = -1, absolute = -1;
  double timeout = 0;
  int64_t maxBytes = int64_t(16) << 30, maxSteps = INT64_MAX;
  int64_t replicas = 1, partitions = 1;
};

/// Adds to `arguments`; false with a message on what is not understood.
bool parseArguments(llvm::ArrayRef<llvm::StringRef> words, Arguments &arguments,
                    std::string &error);

const options::Tool &getTool();

} // namespace alula::interpret

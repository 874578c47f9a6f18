// The flags that say what to load and how.

#pragma once

#include "tools/options/table.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace alula::model {

struct Options {
  std::string file, function, device = "cpu", variant, constants;
  /// NAME=VALUE, NAME=LIBRARY[:SYMBOL].
  std::vector<std::string> globals, customCalls;
  /// LIBRARY.so[?key=value&key=value].
  std::vector<std::string> plugins;
  /// The artifact's imports may be missing: it is only looked at.
  bool mayMissImports = false;
  /// The file's content, if it is in memory already.
  std::string bytes;
  uint32_t threads = 0;
  uint64_t maxGlobalBytes = 0;
};

enum class Taken { No, Yes, Wrong };

/// Sets the option if it is one of these.
Taken setOption(std::string_view name, std::string_view value,
                Options &options);

/// Their rows.
std::span<const options::Option> getOptions();

bool parseNumber(std::string_view text, uint32_t &number);

} // namespace alula::model

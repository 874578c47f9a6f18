// The values of --input=, --output= and --expected_output=.

#pragma once

#include "tools/values/value.h"

namespace alula::values {

/// "2x3xf32=1,2,…", "2x3xf32" (zeros), "2x3xbf16=@raw.bin" (raw little
/// endian), "@x.npy", "2x3xbf16=@x.npy".
bool readValue(std::string_view spec, Value &value, std::string &error);

/// "-" prints to stdout; "x.npy" or "@x.npy" writes numpy's format, any other
/// name raw bytes.
bool writeValue(std::string_view spec, const Value &value, std::string &error);

/// A whole file; "-" is stdin.
bool readFile(const std::string &path, std::string &bytes, std::string &error);
bool writeFile(const std::string &path, std::string_view bytes,
               std::string &error);

} // namespace alula::values

#pragma once

#include <string>

namespace alula::driver {

/// One of several files with a name, which ends with `ending`: ".h".
struct OutputFile {
  std::string ending, bytes;
};

} // namespace alula::driver

#pragma once

#include <string>

namespace alula::preprocess {

/// Why an executable can't be had: one of the tags that docs and tests name.
struct Problem {
  std::string tag, text;
  /// What else there is to say, in lines.
  std::string details;
};

} // namespace alula::preprocess

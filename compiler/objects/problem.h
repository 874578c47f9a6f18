#pragma once

#include <string>
#include <vector>

namespace alula::objects {

/// Why an object can't be used: a tag that docs and tests name, and a sentence.
struct Problem {
  std::string tag, text;
};
using Problems = std::vector<Problem>;

} // namespace alula::objects

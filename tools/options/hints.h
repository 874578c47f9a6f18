#pragma once

#include "tools/options/table.h"

namespace alula::options {

/// Why this word of a command line, a dash first, is wrong: no option has its
/// name. With what is to be said instead, if somebody may have meant it.
std::string explainUnknown(const Tool &tool, std::string_view word);

} // namespace alula::options

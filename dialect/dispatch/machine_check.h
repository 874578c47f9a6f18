#pragma once

#include "dialect/dispatch/machine.h"

#include <optional>
#include <string>

namespace alula::dispatch {

/// What is wrong with a fact: "cores must be from 1 to 64: is 0".
std::optional<std::string> findProblem(const MachineFacts &facts);

} // namespace alula::dispatch

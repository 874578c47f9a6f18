// What people who come from IREE say.

#pragma once

#include "tools/options/table.h"

namespace alula::options {

/// Options of iree-compile and iree-run-module, with ours.
std::span<const Foreign> getIreeCompileHints();
std::span<const Foreign> getIreeRunHints();

} // namespace alula::options

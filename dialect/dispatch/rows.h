#pragma once

#include "dialect/dispatch/machine.h"

namespace alula::dispatch {

/// The columns of a row that lanes which move together share by themselves, at
/// most, if there are too few rows for all lanes. What is longer is reduced by
/// all threads, in parts.
inline int64_t getMostSharedColumns(const MachineFacts &machine) {
  return 64 * machine.lanes;
}

} // namespace alula::dispatch

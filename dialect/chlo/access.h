#pragma once

#include "dialect/stablehlo/access.h"

namespace mlir::chlo {

/// How ops of this dialect read their operands.
const stablehlo::AccessInterface::Table &getAccessTable();

} // namespace mlir::chlo

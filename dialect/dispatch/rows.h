#pragma once

#include "dialect/dispatch/machine.h"
#include "dialect/stablehlo/element_rules.h"

namespace alula::dispatch {

/// The columns of a row that lanes which move together share by themselves, at
/// most, if there are too few rows for all lanes. What is longer is reduced by
/// all threads, in parts.
inline int64_t getMostSharedColumns(const MachineFacts &machine) {
  return 64 * machine.lanes;
}

/// In front of rows of so many elements one that a map computes costs little.
inline int64_t getLongRow(mlir::Operation *map, const MachineFacts &machine) {
  bool isSimple =
      mlir::stablehlo::getElementCost(map) <= mlir::stablehlo::Cost::Few;
  return (isSimple ? 2 : 16) * machine.lanes;
}

} // namespace alula::dispatch

// Checks that come both as ops and as custom calls.
#pragma once

#include "reference/evaluator.h"

namespace alula::reference {

mlir::LogicalResult evalExpectEq(OpCall &call);
mlir::LogicalResult evalExpectAlmostEq(OpCall &call);
mlir::LogicalResult evalExpectClose(OpCall &call);

} // namespace alula::reference

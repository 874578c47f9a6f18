#pragma once

#include "dialect/stablehlo/traits.h"

#include "mlir/IR/Diagnostics.h"

namespace mlir::stablehlo {

/// Where a rule is checked: at an op, or where one is about to be built. In the
/// second case the location may be missing; then a failure prints nothing.
class RuleSite {
public:
  explicit RuleSite(Operation *op)
      : op(op), location(op->getLoc()), opName(op->getName().getStringRef()) {}
  RuleSite(std::optional<Location> location, StringRef opName)
      : location(location), opName(opName) {}

  /// Prints `'op': ` and then the parts.
  template <typename... Parts>
  LogicalResult fail(Parts &&...parts) const {
    if (!location)
      return failure();
    InFlightDiagnostic diagnostic = op ? opError(op) : emitError(*location);
    if (!op)
      diagnostic << "'" << opName << "': ";
    (diagnostic << ... << std::forward<Parts>(parts));
    return diagnostic;
  }

private:
  Operation *op = nullptr;
  std::optional<Location> location;
  StringRef opName;
};

} // namespace mlir::stablehlo

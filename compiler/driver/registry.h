#pragma once

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace alula::driver {

/// Adds every dialect that a program or a stage of the compiler may hold.
void registerDialects(mlir::DialectRegistry &registry);

/// Makes every pass known under its flag, once a process. For tools whose
/// pipelines are text; the compiler's own pipelines need no registration.
void registerPasses();

} // namespace alula::driver

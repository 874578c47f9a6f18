#pragma once

#include "mlir/IR/DialectRegistry.h"

namespace alula::opt {

/// Answers the jobs of a list, one line each: FILE, PREFIX and VERSION with
/// tabs between. A job parses, verifies, prints, parses again and compares;
/// writes the lowest version from 1.0.0 on that can say the program to
/// PREFIX.lowest, VERSION to PREFIX.own and the newest one to memory, reads all
/// of them back and compares. Prints `ok LOWEST` or `fail STEP MESSAGE`, with
/// tabs. Returns the tool's exit status: 0 if every job could be tried.
int runRoundTrips(llvm::StringRef listFile,
                  const mlir::DialectRegistry &registry);

} // namespace alula::opt

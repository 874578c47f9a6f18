// What callers may know about a compilation on its way, and how they end it.

#pragma once

#include "compiler/driver/options.h"

#include "mlir/IR/Diagnostics.h"

#include <chrono>

namespace alula::driver {

/// Lives as long as one compilation; reports progress and times, writes dumps,
/// skips all work once the compilation is cancelled.
class Watch {
public:
  Watch(mlir::MLIRContext *context, const CompileOptions &options);
  ~Watch();

  void beginRoom(Room room);
  /// Reports the time and writes the room's dump.
  mlir::LogicalResult endRoom(mlir::ModuleOp module);
  void report(llvm::StringRef step, unsigned done = 0, unsigned total = 0);
  bool isCancelled() const;

  /// Writes a file into the folder of stages, if there is one, under the number
  /// and name of the room that runs.
  mlir::LogicalResult
  dump(mlir::Location location, llvm::StringRef suffix,
       llvm::function_ref<void(llvm::raw_ostream &)> write);

private:
  std::string makeName(llvm::StringRef suffix) const;

  mlir::MLIRContext *context;
  const CompileOptions &options;
  mlir::ScopedDiagnosticHandler silence;
  Room room = Room::Input;
  std::chrono::steady_clock::time_point start;
};

} // namespace alula::driver

// Executables by themselves: written to files, put back from files.

#pragma once

#include "compiler/driver/options.h"
#include "dialect/dispatch/ops.h"

#include "llvm/ADT/MapVector.h"

#include <map>

namespace alula::driver {

/// The file of each executable without its ending, "MODULE_NAME": no two differ
/// in nothing but case. In the order of the module.
llvm::MapVector<mlir::StringAttr, std::string>
nameExecutables(mlir::ModuleOp module);

/// One kind of file for executables.
struct ExecutableFiles {
  /// "--dump-executable-sources-to" and what it was given; nothing is written
  /// if that is empty.
  llvm::StringRef flag, folder;
  /// ".source".
  llvm::StringRef kind;
  Room stage;
};

/// Writes the executables that `isWanted`, all if it is null.
mlir::LogicalResult writeExecutables(
    mlir::ModuleOp module, const ExecutableFiles &files,
    const CompileOptions &options,
    llvm::function_ref<bool(dispatch::ExecutableOp)> isWanted = {});

/// What executables are, to find those that change.
std::map<std::string, std::string> printExecutables(mlir::ModuleOp module);

/// How a module becomes an artifact: the whole compiler.
using MakeArtifact = llvm::function_ref<mlir::LogicalResult(
    mlir::ModuleOp, const CompileOptions &, std::string &artifact)>;
/// Writes every executable compiled by itself: an artifact without a host.
mlir::LogicalResult writeBinaries(mlir::ModuleOp module,
                                  const CompileOptions &options,
                                  MakeArtifact makeArtifact);

/// Puts executables of files in the place of those of `module`, which has been
/// through the passes of `stage`.
mlir::LogicalResult substituteExecutables(mlir::ModuleOp module, Room stage,
                                          const CompileOptions &options);

/// Writes a program for each call whose sizes are known, and skipped.txt with
/// the others.
mlir::LogicalResult writeBenchmarks(mlir::ModuleOp module,
                                    const CompileOptions &options);

/// Writes what kernels are on their way to code.
class IntermediateFiles {
public:
  IntermediateFiles(mlir::ModuleOp module, const CompileOptions &options)
      : module(module), folder(options.dumps.intermediates),
        names(nameExecutables(module)) {}

  /// For the code generator's hook, which is empty if nobody wants files.
  std::function<void(llvm::StringRef kernel, llvm::StringRef ending,
                     llvm::StringRef bytes)>
  listen(llvm::StringRef machine);
  /// Says what couldn't be written.
  mlir::LogicalResult check();

private:
  mlir::ModuleOp module;
  std::string folder, problem;
  llvm::MapVector<mlir::StringAttr, std::string> names;
};

/// Whether `module` is one executable and nothing else; says if it is not.
mlir::LogicalResult checkExecutableAlone(mlir::ModuleOp module);

} // namespace alula::driver

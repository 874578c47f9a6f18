// Where plugins take part in a compilation.

#pragma once

#include "compiler/driver/options.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

namespace alula::driver {

/// `input.detect`: what a plugin makes of a program in a form of its own; else
/// the program as it is. Null after a diagnostic.
std::unique_ptr<llvm::MemoryBuffer>
detectByPlugins(llvm::MemoryBufferRef program, mlir::MLIRContext *context,
                const CompileOptions &options);

/// The stages of plugins that come before a room's own work, and right after
/// its passes.
mlir::LogicalResult enterRoom(Room room, mlir::ModuleOp module,
                              const CompileOptions &options);
mlir::LogicalResult leaveRoom(Room room, mlir::ModuleOp module,
                              const CompileOptions &options);

/// `executable.preprocess`: each executable by itself, under the same contract
/// as tools.
void addPluginStep(const std::shared_ptr<plugin::Session> &session,
                   preprocess::Plan &plan);

/// Kernels for targets of plugins, from what the dispatch room leaves: kept in
/// the module until `addPluginVariant`.
mlir::LogicalResult translateByPlugins(mlir::ModuleOp module,
                                       const CompileOptions &options);
/// Adds the variant of `target`, "toy:small"; an error if nobody has it.
mlir::LogicalResult addPluginVariant(mlir::ModuleOp module,
                                     llvm::StringRef target,
                                     const CompileOptions &options);

/// `artifact.end`.
mlir::LogicalResult finishByPlugins(mlir::Location location,
                                    const CompileOptions &options,
                                    std::string &artifact);

/// "swap 1.0 mul-add=true" for each plugin that may change the program.
std::vector<std::string> describePlugins(const CompileOptions &options);
/// That the plugins of a dump take part now too. [stage-plugin]
llvm::Error checkPlugins(llvm::ArrayRef<std::string> recorded,
                         const CompileOptions &options);

} // namespace alula::driver

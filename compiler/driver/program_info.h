#pragma once

#include "alula/compiler.h"

#include "mlir/IR/BuiltinOps.h"

namespace alula::driver {

/// Reads what alula_program_info tells, from a program as it came. The caller
/// destroys it.
alula_program_info *inspectProgram(mlir::ModuleOp module);

/// Whether files that it names become a part of the artifact.
bool programReadsFiles(mlir::ModuleOp module);

/// The same of shardings that the program asks for, from one that has been
/// through `partition`. They are taken away: what they are told to are
/// addresses of the process.
void takeShownShardings(mlir::ModuleOp module, alula_program_info &info);

/// The same of kernels, from a program that has been through `dispatch`.
void addKernels(mlir::ModuleOp module, alula_program_info &info);

} // namespace alula::driver

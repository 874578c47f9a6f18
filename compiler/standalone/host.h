#pragma once

#include "compiler/standalone/program.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>

namespace alula::standalone {

struct Options {
  std::string prefix;
  std::optional<uint64_t> arenaBudget;
};

/// The host functions of a scheduled module as functions that C calls and that
/// call kernels directly: func, scf, arith and llvm. Fills `program`; null
/// after a diagnostic.
mlir::OwningOpRef<mlir::ModuleOp>
makeHost(mlir::ModuleOp module, const Options &options, Program &program);

} // namespace alula::standalone

// Executables to objects, several at a time.

#pragma once

#include "compiler/objects/code_plan.h"
#include "compiler/target/cpu/codegen_hooks.h"
#include "compiler/target/cpu/machine.h"
#include "dialect/dispatch/ops.h"

#include "mlir/IR/OwningOpRef.h"

namespace alula::cpu {

struct CompiledExecutable {
  dispatch::ExecutableOp executable;
  /// What others have brought for it.
  objects::CpuPlan plan;
  /// Our code, if it needs any.
  std::string object;
  /// Why LLVM made none.
  std::string problem;
};

/// The module of an executable by itself, entries marked for the lowering.
mlir::OwningOpRef<mlir::ModuleOp>
cloneBodies(dispatch::ExecutableOp executable);

/// Fills all but `executable`. After a failure some of them are not filled;
/// what is a `problem` has not been said yet.
mlir::LogicalResult
compileExecutables(llvm::MutableArrayRef<CompiledExecutable> all,
                   const Machine &machine, const CodegenHooks &hooks);

} // namespace alula::cpu

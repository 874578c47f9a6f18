// Code that needs no runtime: host and kernels as one object file.

#pragma once

#include "compiler/target/cpu/codegen_hooks.h"
#include "compiler/target/cpu/machine.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace alula::cpu {

struct StandaloneCode {
  std::string object;
  /// What it calls and has not, sorted; all of it is the C compiler's.
  std::vector<std::string> undefined;
  uint64_t codeBytes = 0, constantBytes = 0;
  /// The most that a call of an exported function has on the stack.
  uint64_t stackBytes = 0;
};

struct StandaloneOptions {
  /// Functions of the host that are seen from outside; no other name is.
  std::vector<std::string> exported;
  /// What the C compiler's functions do may be left to them.
  bool allowsCompilerRt = false;
};

/// `host` are functions in func, scf, arith and llvm that call the kernels of
/// `module` directly (dialect/dispatch/direct_host.h); it is consumed.
mlir::FailureOr<StandaloneCode>
generateStandalone(mlir::ModuleOp module, mlir::ModuleOp host,
                   const StandaloneOptions &options, const Machine &machine,
                   const CodegenHooks &hooks = {});

/// The same as a module that is not code yet. What it calls by name is what
/// `findNeeded` says of it, as far as there are builtins; others stay declared.
mlir::FailureOr<std::unique_ptr<llvm::Module>> makeStandaloneModule(
    mlir::ModuleOp module, mlir::ModuleOp host,
    const StandaloneOptions &options, const Machine &machine,
    llvm::LLVMContext &context,
    llvm::function_ref<std::vector<std::string>(llvm::Module &)> findNeeded,
    const CodegenHooks &hooks = {});

/// An archive with one object: the same bytes for the same object.
llvm::Expected<std::string> makeArchive(llvm::StringRef member,
                                        llvm::StringRef object);

} // namespace alula::cpu

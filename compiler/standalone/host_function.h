#pragma once

#include "compiler/standalone/arena.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace alula::standalone {

/// The module that host functions are written to, and what they share.
struct HostModule {
  mlir::ModuleOp source, target;
  unsigned indexBits;
  /// Of constants by their values, of kernels by their entries.
  llvm::DenseMap<mlir::Attribute, std::string> constants, kernels;
  /// Offsets of globals in the state, and of the bytes that say whether one has
  /// a value.
  llvm::DenseMap<mlir::StringAttr, uint64_t> globals, flags;
  /// Those whose values never change.
  llvm::DenseMap<mlir::StringAttr, mlir::ElementsAttr> known;
  uint64_t constantBytes = 0;
};

/// A constant of the host's; empty after a diagnostic.
std::string addConstant(HostModule &host, mlir::Location location,
                        mlir::ElementsAttr value);

/// Writes commands on slots, whose bytes are pointers: of arguments and results
/// after those of arena and state. The function returns 0 or a code.
mlir::LogicalResult convertFunction(HostModule &host,
                                    mlir::func::FuncOp function,
                                    const Arena &arena, llvm::StringRef name);

/// What it is called in the target.
std::string getBodyName(llvm::StringRef function);

} // namespace alula::standalone

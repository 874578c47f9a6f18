#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/OwningOpRef.h"

namespace llvm {
class SourceMgr;
} // namespace llvm

namespace alula::newer {

/// Parses the main buffer of `sources`: MLIR text of today or of a newer MLIR,
/// or MLIR's own bytecode. Every problem is a diagnostic at its line and
/// column; the result is then null. Text is checked against `limits.h` before
/// the parser sees it, which bytecode can't be (SECURITY.md).
mlir::OwningOpRef<mlir::ModuleOp> parseSource(const llvm::SourceMgr &sources,
                                              mlir::MLIRContext *context,
                                              bool verifyAfterParse = true);

/// The same for text in memory; `name` is its file in diagnostics.
mlir::OwningOpRef<mlir::ModuleOp> parseSource(llvm::StringRef text,
                                              mlir::MLIRContext *context,
                                              llvm::StringRef name = "-",
                                              bool verifyAfterParse = true);

/// Prints `op` in the spellings of a newer MLIR, with a final newline.
void printOperation(mlir::Operation *op, llvm::raw_ostream &os,
                    mlir::OpPrintingFlags flags = {});

} // namespace alula::newer

#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace alula::dispatch {

/// How a function that is declared in an executable gets its code.
enum class ImportKind { Static, Bitcode, Dynamic };

/// On the declaration: "static", "bitcode", "dynamic".
constexpr llvm::StringLiteral importAttributeName = "dispatch.import";

/// Nothing if `declaration` is no import, or its kind is none.
std::optional<ImportKind> getImportKind(mlir::Operation *declaration);

/// A function that is found when the artifact is loaded.
struct DynamicImport {
  /// Without the `?` of one that may be missing.
  std::string name;
  bool isOptional;
};

/// "?fast" is `fast` and may be missing.
DynamicImport readImportName(llvm::StringRef symbol);

/// The imports of all executables, by name: their order in the artifact. Who
/// needs one makes it needed for all.
std::vector<DynamicImport> collectDynamicImports(mlir::ModuleOp program);

} // namespace alula::dispatch

#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace alula::emit {

/// An executable's texts for people, a dictionary of file names: each becomes
/// a fact "debug.NAME".
inline constexpr llvm::StringLiteral debugTextsName = "dispatch.debug";

/// A module's texts of its kernels, a dictionary of their names: each becomes a
/// fact "kernel.NAME".
inline constexpr llvm::StringLiteral kernelFactsName = "dispatch.kernel_facts";

/// What the artifact says about its making.
struct Provenance {
  std::string compiler, options, inputHash;
};

/// Constants that go to a safetensors file.
struct ExternalConstants {
  /// As the artifact names it; empty: all constants stay inside.
  std::string file;
  uint64_t minimumBytes = 0;
  /// What the file must hold; empty if no constant is large enough.
  std::string bytes;
};

/// Writes a scheduled module with its variants as an artifact. Same module,
/// same bytes.
mlir::LogicalResult emitArtifact(mlir::ModuleOp module,
                                 const Provenance &provenance,
                                 std::string &bytes,
                                 ExternalConstants *external = nullptr);

} // namespace alula::emit

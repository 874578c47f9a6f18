#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace alula::preprocess {

/// On an executable: the pattern whose ops it holds.
constexpr llvm::StringLiteral patternAttributeName = "dispatch.pattern";

bool isPattern(llvm::StringRef name);
/// All names, for people.
std::string listPatterns();

/// Has each place of the functions that is one of pattern `name` become an
/// executable of its own: marks its ops, for whoever outlines them.
void claimPattern(mlir::ModuleOp module, llvm::StringRef name);

} // namespace alula::preprocess

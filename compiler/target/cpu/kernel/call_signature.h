#pragma once

#include "llvm/ADT/StringRef.h"

namespace mlir::stablehlo {
class CustomCallOp;
} // namespace mlir::stablehlo

namespace alula::cpu {

/// What a call of linear algebra must look like, as text, if this one does not:
/// the library relies on shapes. Empty if all is well.
llvm::StringRef findSignatureProblem(mlir::stablehlo::CustomCallOp call);

} // namespace alula::cpu

#pragma once

#include "compiler/preprocess/problem.h"

#include "mlir/IR/Operation.h"

#include <optional>

namespace alula::preprocess {

/// Constants that are named, and not there, or not as large as their type.
std::optional<Problem> findMissingData(mlir::Operation *op);

/// Constants whose data is a resource become constants like others, which our
/// rooms know.
void inlineResources(mlir::Operation *op);

} // namespace alula::preprocess

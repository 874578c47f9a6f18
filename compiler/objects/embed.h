#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LogicalResult.h"

#include <string>
#include <vector>

namespace alula::objects {

/// Reads the files that objects name and puts their content, its hash and their
/// target pattern into the attribute: from here on files don't matter.
/// `searchPaths` follow the path as it is, which is relative to the working
/// directory. `tool` is the command that has named them.
mlir::LogicalResult embedObjects(mlir::ModuleOp program,
                                 const std::vector<std::string> &searchPaths,
                                 llvm::StringRef tool);

/// "3a5f…": what manifests say of a file's content.
std::string hashContent(llvm::StringRef bytes);

} // namespace alula::objects

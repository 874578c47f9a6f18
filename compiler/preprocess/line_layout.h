#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace alula::preprocess {

/// MLIR text whose module, executable and entries have each attribute in a line
/// of its own, so that tools that know lines alone can find and change them. It
/// reads as the same program.
std::string layOutShell(llvm::StringRef text);

} // namespace alula::preprocess

#pragma once

#include "dialect/vhlo/artifact.h"

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace alula::preprocess {

/// MLIR's reader of bytecode makes room for as many things as the bytes say
/// that there are, and follows what refers to itself. Says what is wrong with
/// such bytes, at which byte; nothing if they are sound.
std::optional<std::string> checkBytecode(llvm::StringRef bytes);

/// The part of it that is about resources; the rest is sound.
bool checkResources(vhlo::Bytes file, const vhlo::Artifact &artifact,
                    vhlo::Error &error);

} // namespace alula::preprocess

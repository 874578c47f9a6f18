#pragma once

#include "compiler/objects/target_key.h"
#include "compiler/target/cpu/machine.h"

namespace alula::cpu {

/// What objects are chosen by.
objects::TargetKey getTargetKey(const Machine &machine);

/// Whether images have a function of this name for whoever calls it, such as
/// memcpy.
bool isBuiltin(const objects::TargetKey &key, llvm::StringRef name);

} // namespace alula::cpu

#pragma once

#include "compiler/target/cpu/machine.h"

namespace llvm {
class Module;
} // namespace llvm

namespace alula::cpu {

/// Optimizes `module` and returns a position-independent object file that calls
/// nothing: no libc, no libm.
llvm::Expected<std::string> generateObject(llvm::Module &module,
                                           const Machine &machine);

} // namespace alula::cpu

#pragma once

#include "compiler/target/cpu/machine.h"

namespace llvm {
class Module;
} // namespace llvm

namespace alula::cpu {

/// The most bytes that a call of a function of an optimized module has on the
/// stack, that of all it calls included: frames along the calls. An error if a
/// function calls itself, or has a frame whose size nobody knows. 0 where the
/// code generator says nothing of frames.
llvm::Expected<uint64_t> findStackBound(const llvm::Module &module,
                                        const Machine &machine);

} // namespace alula::cpu

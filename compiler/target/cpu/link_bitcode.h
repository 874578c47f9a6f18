#pragma once

#include "compiler/objects/code_plan.h"
#include "compiler/target/cpu/machine.h"

namespace llvm {
class Module;
} // namespace llvm

namespace alula::cpu {

/// Links the bitcode of a plan into the code of its executable, before that is
/// optimized: what is called may be inlined. Only entries stay visible.
llvm::Error linkBitcode(llvm::Module &code, const objects::CpuPlan &plan,
                        const Machine &machine);

} // namespace alula::cpu

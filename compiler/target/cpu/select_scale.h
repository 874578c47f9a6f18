#pragma once

#include "compiler/target/cpu/machine.h"

namespace llvm {
class Module;
} // namespace llvm

namespace alula::cpu {

/// The kernel library multiplies by powers of two in alula_scale_f32 and
/// alula_scale_f64, for which AVX-512 has an instruction, but LLVM 19 no
/// operation that loops could be vectorized with. On such machines this takes
/// the functions' bodies away and says of the calls that they have vector
/// forms. To be called before the optimizer. On others they are inlined.
void declareScale(llvm::Module &module, const Machine &machine);

/// Puts the instruction in the place of what declareScale left. To be called
/// after the optimizer.
void selectScale(llvm::Module &module);

} // namespace alula::cpu

#pragma once

namespace llvm {
class Module;
} // namespace llvm

namespace alula::cpu {

/// Where indexes have fewer bits than pointers, an address that went through an
/// index is lost: pointers made of such become the pointer and what was added.
void restorePointers(llvm::Module &module);

} // namespace alula::cpu

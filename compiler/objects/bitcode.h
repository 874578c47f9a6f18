#pragma once

#include "compiler/objects/elf_object.h"

namespace alula::objects {

/// What `checkElfObject` says, of LLVM's bitcode.
ElfSymbols checkBitcode(llvm::StringRef bytes, llvm::StringRef architecture,
                        Problems &problems);

} // namespace alula::objects

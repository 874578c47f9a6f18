#pragma once

#include "compiler/target/cpu/machine.h"

namespace alula::cpu {

/// Links objects into an ELF image without relocations that exports `entries`.
/// An object that calls anything outside is an error that names the symbol.
/// `isGuarded`: some are not ours and may be damaged so that the linker
/// crashes, which is an error then. `keepsNames`: what debuggers read stays.
llvm::Expected<std::string> linkImage(const std::vector<std::string> &objects,
                                      const std::vector<std::string> &entries,
                                      const Machine &machine,
                                      bool isGuarded = false,
                                      bool keepsNames = false);

} // namespace alula::cpu

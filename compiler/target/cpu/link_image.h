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

/// Code and constants as one piece that runs wherever it is put.
struct MovableImage {
  std::string bytes;
  /// Where `entries` begin, with the bit that calls of them have.
  std::vector<uint64_t> entries;
  uint64_t alignment = 1;
};

/// Links one object so; what it would need a loader for is an error.
llvm::Expected<MovableImage>
linkMovable(const std::string &object, const std::vector<std::string> &entries,
            const Machine &machine);

} // namespace alula::cpu

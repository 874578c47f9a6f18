// NVIDIA's assembler, which Alula does not bring along.

#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace alula::objects {

/// "sm_86" is 86, for this chip and later ones of the same generation; "sm_90a"
/// is 90 and exactly that chip.
struct Chip {
  unsigned number;
  bool isExact;
};
std::optional<Chip> parseChip(llvm::StringRef name);

/// The ptxas to use: `given` if that is not empty, else the one in PATH, or in
/// CUDA_HOME or CUDA_PATH; empty: there is none.
std::string findAssembler(llvm::StringRef given = "");

/// Machine code of `text` for a chip; an error has what ptxas says.
llvm::Expected<std::string>
makeCubin(llvm::StringRef program, llvm::StringRef text, llvm::StringRef chip);

} // namespace alula::objects

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace alula::newer {

/// Replaces as many characters as `text` has; nothing moves.
struct Edit {
  size_t offset;
  std::string text;
};

/// What the adapter found in one source text.
struct Adaptation {
  std::vector<Edit> edits;
  /// Set when the text goes beyond a limit (`limits.h`) and must not reach the
  /// parser.
  struct Refusal {
    size_t offset;
    std::string message;
  };
  std::optional<Refusal> refusal;
};

/// Scans MLIR source once, without recursion, and collects the edits that let
/// MLIR 19 parse it. Knows strings, comments, brackets and aliases; makes no
/// other demand on the text, which may be anything.
Adaptation adapt(llvm::StringRef text);

/// `text` with the edits of `adapt` applied; for tests and for pieces of IR
/// that are trusted to be small.
std::string adaptText(llvm::StringRef text);

/// Applies edits in place.
void applyEdits(llvm::ArrayRef<Edit> edits, char *text);

} // namespace alula::newer

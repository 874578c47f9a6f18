#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace alula::objects {

/// What code is made for, as objects are chosen by it.
struct TargetKey {
  std::string kind;         ///< "cpu", "cuda"
  std::string name;         ///< "x86-64-v3", "sm_80"
  std::string architecture; ///< "x86_64", "sm_80"
  std::vector<std::string> features;
  int vectorBytes = 0;

  std::string getText() const { return kind + ":" + name; }
};

/// A part of a key: KIND[:NAME][+FEATURE…][,vector_bytes=N]. What it does not
/// say, fits. NAME is that of a machine or of its architecture.
class TargetPattern {
public:
  static llvm::Expected<TargetPattern> parse(llvm::StringRef text);

  /// How many fields of `key` it has said right; nothing if one differs.
  std::optional<unsigned> match(const TargetKey &key) const;

private:
  std::string kind, name;
  std::vector<std::string> features;
  std::optional<int> vectorBytes;
};

} // namespace alula::objects

#pragma once

#include "llvm/ADT/Twine.h"

#include <string>

namespace alula::preprocess {

/// Why an executable can't be had: one of the tags that docs and tests name.
struct Problem {
  std::string tag, text;
  /// What else there is to say, in lines.
  std::string details;
  /// Whoever insists may go on: no memory is at stake.
  bool mayGoOn = false;
};

inline Problem breach(const llvm::Twine &text, bool mayGoOn = false) {
  return {"pre-contract", text.str(), "", mayGoOn};
}

} // namespace alula::preprocess

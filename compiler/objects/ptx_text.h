#pragma once

#include "compiler/objects/problem.h"

#include "llvm/ADT/StringRef.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace alula::objects {

/// A kernel as PTX declares it.
struct PtxEntry {
  /// Types of its parameters: "u64", "b32"; "bytes" for an array.
  std::vector<std::string> parameters;
  /// The block that it must run with.
  std::optional<std::array<int64_t, 3>> block;
};

/// What is said outside of the bodies.
struct PtxText {
  /// `.version 8.4` is 8, 4.
  unsigned major = 0, minor = 0;
  /// "sm_90a"
  std::string target;
  unsigned addressBits = 0;
  /// Those that are visible, by name.
  std::map<std::string, PtxEntry> entries;
  /// Functions that are declared and not defined.
  std::vector<std::string> externs;
};

PtxText readPtx(llvm::StringRef text, Problems &problems);

/// What the host will pass to a kernel.
struct PtxWish {
  std::string entry;
  size_t bindings = 0, constants = 0;
  std::optional<std::array<int64_t, 3>> block;
};

/// Whether `text` can be part of a variant for `device`, "sm_90".
void checkPtx(const PtxText &text, llvm::StringRef device, Problems &problems);
/// Whether it has a kernel as wished. Returns the block that it runs with.
std::array<int64_t, 3> checkPtxEntry(const PtxText &text, const PtxWish &wish,
                                     Problems &problems);

/// The newest PTX that a driver of CUDA takes: "12.4" takes 8.4. Nothing for a
/// version that is not known.
std::optional<std::pair<unsigned, unsigned>>
findPtxVersion(llvm::StringRef driver);

/// Has ptxas assemble `text` if there is one; what it says is a problem.
void assemblePtx(llvm::StringRef text, llvm::StringRef device,
                 Problems &problems);

} // namespace alula::objects

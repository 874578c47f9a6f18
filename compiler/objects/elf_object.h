#pragma once

#include "compiler/objects/problem.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <set>
#include <string>

namespace alula::objects {

/// What an object gives and needs.
struct ElfSymbols {
  /// Functions and data that others may use.
  std::set<std::string> defined;
  /// Of those, the functions.
  std::set<std::string> functions;
  std::set<std::string> undefined;
};

/// Reads an object for `architecture` and says all that keeps it from being
/// part of an image: what is no ELF of this machine, thread-local storage,
/// memory that is written, constructors, functions resolved at load,
/// relocations that need the address of the image.
ElfSymbols checkElfObject(llvm::StringRef bytes, llvm::StringRef architecture,
                          Problems &problems);

/// The same object with other names: `names` has what global symbols become.
llvm::Expected<std::string>
renameSymbols(llvm::StringRef bytes, const llvm::StringMap<std::string> &names);

} // namespace alula::objects

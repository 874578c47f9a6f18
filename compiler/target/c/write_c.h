// A module of LLVM as C99.

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace llvm {
class Module;
} // namespace llvm

namespace alula::c {

/// A function that others call: which of its arguments are arrays of pointers,
/// and how many each has.
struct Exported {
  std::string symbol;
  /// The parameters as C's header declares them.
  std::string parameters;
  /// Of each parameter: the number of its pointers, or -1.
  std::vector<int64_t> pointers;
};

/// Pointers take 64 bits and places 32, whatever machine the C compiler makes
/// code for.
extern const char *const dataLayout;

/// Vectors become numbers, and C is found for what is left. All functions but
/// the exported ones are static.
void prepare(llvm::Module &module);

/// Functions that the text of `module` would call by name, such as floorf,
/// sorted.
std::vector<std::string> listNeeded(const llvm::Module &module);

struct Text {
  std::string code;
  /// Functions of C's library that it calls.
  std::vector<std::string> undefined;
};

/// The text of the whole module; an error names what there is no C for.
llvm::Expected<Text> writeC(llvm::Module &module,
                            llvm::ArrayRef<Exported> exported);

} // namespace alula::c

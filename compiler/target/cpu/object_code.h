#pragma once

#include "compiler/target/cpu/machine.h"

#include <functional>

namespace llvm {
class Module;
} // namespace llvm

namespace alula::cpu {

/// Hears what a module is on its way: ".ll" as it comes, ".opt.ll", ".s", ".o".
using OnForm =
    std::function<void(llvm::StringRef ending, llvm::StringRef bytes)>;

/// Optimizes `module` and returns a position-independent object file that calls
/// nothing but routines and builtins: no libc, no libm. Other functions of the
/// kernel library that it calls are linked into it first. Once `isCancelled` is
/// true, passes that can be left out are, and the result is good for nothing.
llvm::Expected<std::string>
generateObject(llvm::Module &module, const Machine &machine,
               const std::function<bool()> &isCancelled = {},
               const OnForm &onForm = {});

/// What generateObject() does before the code generator.
llvm::Error optimizeProgram(llvm::Module &module, const Machine &machine);
/// The same for routines and builtins of the kernel library.
llvm::Error optimizeLibrary(llvm::Module &module, const Machine &machine);

/// The object file of modules that have been optimized. If `stackUsage` names a
/// file, it gets a line for each function: FILE:NAME, bytes, what kind.
llvm::Expected<std::string> emitObject(llvm::Module &module,
                                       const Machine &machine,
                                       llvm::StringRef stackUsage = {});

/// An object file that defines one routine of the kernel library, see
/// library.h; empty if there is none of this name. It is made once for each
/// machine in a process: it takes far longer than what calls it.
llvm::Expected<std::string> getRoutineObject(const Machine &machine,
                                             llvm::StringRef name);

/// An object file with those of `names` that LLVM's code generator calls where
/// a machine has no instruction; empty if there are none. It is made once for
/// each machine and set of names in a process.
llvm::Expected<std::string>
getBuiltinsObject(const Machine &machine,
                  const std::vector<std::string> &names);

} // namespace alula::cpu

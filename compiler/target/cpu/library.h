// The kernel library as the compiler sees it: bitcode embedded in the
// compiler, for modules of kernels.
#pragma once

#include "compiler/target/cpu/machine.h"

#include "llvm/ADT/ArrayRef.h"

#include <memory>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace alula::cpu {

/// Links the library functions that `module` calls into it, to be inlined or
/// dropped; routines stay declared. A module that calls none stays as it is.
/// The module has the triple and the data layout of the machine.
llvm::Error linkLibrary(llvm::Module &module, const Machine &machine);

/// The same with routines: for code that nothing is linked to afterwards.
llvm::Error linkWholeLibrary(llvm::Module &module, const Machine &machine);

/// Whether a routine multiplies bytes, which some levels of machines do by
/// instructions of their own.
bool multipliesBytes(llvm::StringRef routine);

/// What getRoutineObject() knows.
llvm::Expected<std::vector<std::string>> listRoutines(const Machine &machine);

/// A module that defines one routine: a large function of the library that
/// works on arrays, such as a Fourier transform, and gains nothing where it is
/// called. Null if no routine has this name.
llvm::Expected<std::unique_ptr<llvm::Module>>
loadRoutine(llvm::LLVMContext &context, const Machine &machine,
            llvm::StringRef name);

/// Of the functions that a code generator calls by name, such as memcpy and
/// fmodf, those of `names` that there are, each to be in its own section.
llvm::Expected<std::unique_ptr<llvm::Module>>
loadBuiltins(llvm::LLVMContext &context, const Machine &machine,
             llvm::ArrayRef<std::string> names);

/// What an object calls and doesn't define, sorted.
llvm::Expected<std::vector<std::string>> findUndefined(llvm::StringRef object);

} // namespace alula::cpu

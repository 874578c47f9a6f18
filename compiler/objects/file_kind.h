#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace alula::objects {

enum class FileKind {
  Elf,     ///< relocatable, for some CPU
  Bitcode, ///< of LLVM, for some CPU
  Ptx,
  Other
};

/// Told by its first bytes.
FileKind getFileKind(llvm::StringRef bytes);

/// For people: "an ELF object for aarch64", "a shared library", "a cubin".
std::string describeFile(llvm::StringRef bytes);

/// "x86_64", "aarch64", "riscv64" of an ELF file or bitcode; empty if it is for
/// none of them.
std::string getArchitecture(llvm::StringRef bytes);

/// The pattern of an object that brings none: "cpu:x86_64", "cuda"; empty if
/// there is no telling.
std::string inferPattern(llvm::StringRef bytes);

} // namespace alula::objects

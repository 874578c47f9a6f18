#pragma once

#include "compiler/driver/compile.h"

#include "llvm/Support/CommandLine.h"

namespace alula::tools {

/// Flags about code of other compilers.
struct ObjectFlags {
  llvm::cl::list<std::string> searchPaths{
      "object-path", llvm::cl::value_desc("folder"),
      llvm::cl::desc("where objects that are no files of the working directory "
                     "are looked for, repeatable")};
  llvm::cl::list<std::string> substitutions{
      "substitute-executable", llvm::cl::value_desc("name=file"),
      llvm::cl::desc("take an executable's code from a .o, .bc or .ptx, where "
                     "',entry=kernel' may follow, or the executable from a "
                     ".mlir; repeatable")};
  llvm::cl::list<std::string> folders{
      "substitute-executables-from", llvm::cl::value_desc("folder"),
      llvm::cl::desc("the same for all objects of a folder, which are named "
                     "after executables, or for the sources of a dump")};
  llvm::cl::list<std::string> ownObjects{
      "substitute-executable-object", llvm::cl::value_desc("name=file"),
      llvm::cl::desc("the same after the stage kernel: an object that "
                     "--dump-executable-intermediates-to has written")};
  llvm::cl::list<std::string> ownFolders{
      "substitute-executable-object-from", llvm::cl::value_desc("folder"),
      llvm::cl::desc("all objects of such a dump")};
  enum class Missing { Error, Warn };
  llvm::cl::opt<Missing> missing{
      "substitute-missing", llvm::cl::init(Missing::Error),
      llvm::cl::desc("what a name is that no executable has"),
      llvm::cl::values(clEnumValN(Missing::Error, "error", "an error"),
                       clEnumValN(Missing::Warn, "warn", "a warning"))};
  llvm::cl::opt<std::string> cudaDriver{
      "cuda-driver", llvm::cl::value_desc("version"),
      llvm::cl::desc("the CUDA of the driver that will load PTX, as 12.4")};

  /// Fills what the flags ask for; an error is one of usage.
  llvm::Error apply(driver::CompileOptions &options) const;
};

} // namespace alula::tools

#pragma once

#include "compiler/preprocess/plan.h"
#include "tools/flags/declared.h"

namespace alula::tools {

/// The flags of the preprocess room.
struct PreprocessFlags {
  Many steps{driver::Flag::PreprocessSteps};
  Many only{driver::Flag::PreprocessOnly, llvm::cl::CommaSeparated};
  Many onlyTargets{driver::Flag::PreprocessTarget, llvm::cl::CommaSeparated};
  enum class Format { Text, Bytecode };
  One<Format> format{
      driver::Flag::PreprocessFormat, llvm::cl::init(Format::Text),
      llvm::cl::values(
          clEnumValN(Format::Text, "text", "MLIR text"),
          clEnumValN(Format::Bytecode, "bytecode", "MLIR bytecode"))};
  // Text: numbers that are none have a status and a tag of their own.
  One<std::string> jobs{driver::Flag::PreprocessJobs};
  One<std::string> timeout{driver::Flag::PreprocessTimeout,
                           llvm::cl::init("300")};
  One<std::string> outputBytes{driver::Flag::PreprocessMaxOutput,
                               llvm::cl::init("1073741824")};
  One<std::string> keepDirectory{driver::Flag::PreprocessKeep};
  One<bool> keepGoing{driver::Flag::PreprocessKeepGoing};
  enum class Check { Strict, Warn };
  One<Check> check{
      driver::Flag::PreprocessCheck, llvm::cl::init(Check::Strict),
      llvm::cl::values(clEnumValN(Check::Strict, "strict", "errors"),
                       clEnumValN(Check::Warn, "warn", "warnings"))};
  One<std::string> cacheDirectory{driver::Flag::PreprocessCache};
  Many cacheVariables{driver::Flag::PreprocessCacheEnv,
                      llvm::cl::CommaSeparated};
  enum class Verify { None, Run };
  One<Verify> verify{
      driver::Flag::PreprocessVerify, llvm::cl::init(Verify::None),
      llvm::cl::values(clEnumValN(Verify::Run, "run", "compare both"))};
  One<bool> verbose{driver::Flag::Verbose};

  /// What the flags ask for, with the passes registered; an error is one of
  /// usage.
  llvm::Expected<preprocess::Plan>
  makePlan(llvm::ArrayRef<std::string> targets) const;
};

} // namespace alula::tools

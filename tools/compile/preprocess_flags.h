#pragma once

#include "compiler/preprocess/plan.h"

#include "llvm/Support/CommandLine.h"

namespace alula::tools {

/// The flags of the preprocess room.
struct PreprocessFlags {
  llvm::cl::list<std::string> steps{
      "preprocess-executables-with", llvm::cl::value_desc("step"),
      llvm::cl::desc("a tool with its arguments, or builtin.module(passes), "
                     "that each kernel goes through; repeatable")};
  llvm::cl::list<std::string> only{
      "preprocess-only", llvm::cl::value_desc("globs"),
      llvm::cl::CommaSeparated,
      llvm::cl::desc("the executables that are preprocessed")};
  llvm::cl::list<std::string> onlyTargets{
      "preprocess-target", llvm::cl::value_desc("globs"),
      llvm::cl::CommaSeparated,
      llvm::cl::desc("do so only if code is made for one of these machines")};
  enum class Format { Text, Bytecode };
  llvm::cl::opt<Format> format{
      "preprocess-format", llvm::cl::init(Format::Text),
      llvm::cl::desc("what tools get"),
      llvm::cl::values(
          clEnumValN(Format::Text, "text", "MLIR text"),
          clEnumValN(Format::Bytecode, "bytecode", "MLIR bytecode"))};
  // Text: numbers that are none have a status and a tag of their own.
  llvm::cl::opt<std::string> jobs{
      "preprocess-jobs", llvm::cl::value_desc("n"),
      llvm::cl::desc("most tools alive at once, by default one for each core")};
  llvm::cl::opt<std::string> timeout{
      "preprocess-timeout", llvm::cl::init("300"),
      llvm::cl::value_desc("seconds"),
      llvm::cl::desc("for one executable and tool, 0 is none")};
  llvm::cl::opt<std::string> outputBytes{
      "preprocess-max-output", llvm::cl::init("1073741824"),
      llvm::cl::value_desc("bytes"),
      llvm::cl::desc("the most that a tool may print")};
  llvm::cl::opt<std::string> keepDirectory{
      "preprocess-keep", llvm::cl::value_desc("folder"),
      llvm::cl::desc("keep what each tool got and gave")};
  llvm::cl::opt<bool> keepGoing{
      "preprocess-keep-going",
      llvm::cl::desc("run every tool even if one fails")};
  enum class Check { Strict, Warn };
  llvm::cl::opt<Check> check{
      "preprocess-check", llvm::cl::init(Check::Strict),
      llvm::cl::desc("what breaches of the contract are that put no memory at "
                     "risk"),
      llvm::cl::values(clEnumValN(Check::Strict, "strict", "errors"),
                       clEnumValN(Check::Warn, "warn", "warnings"))};
  llvm::cl::opt<std::string> cacheDirectory{
      "preprocess-cache", llvm::cl::value_desc("folder"),
      llvm::cl::desc("keep what tools answer for the next time: for tools that "
                     "answer the same to the same")};
  llvm::cl::list<std::string> cacheVariables{
      "preprocess-cache-env", llvm::cl::value_desc("names"),
      llvm::cl::CommaSeparated,
      llvm::cl::desc("variables of the environment that answers depend on")};
  enum class Verify { None, Run };
  llvm::cl::opt<Verify> verify{
      "preprocess-verify", llvm::cl::init(Verify::None),
      llvm::cl::desc("how kernels that others have changed are tried out"),
      llvm::cl::values(clEnumValN(Verify::Run, "run",
                                  "run what was and what is on the same "
                                  "numbers, on this machine"))};
  llvm::cl::opt<bool> again{
      "preprocess-again",
      llvm::cl::desc("do so also if compilation begins after it was done")};
  llvm::cl::opt<bool> verbose{"verbose",
                              llvm::cl::desc("print what tools say on stderr")};

  /// What the flags ask for, with the passes registered; an error is one of
  /// usage.
  llvm::Expected<preprocess::Plan>
  makePlan(llvm::ArrayRef<std::string> targets) const;
};

} // namespace alula::tools

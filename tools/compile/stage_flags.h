// Where a compilation begins and ends, what it writes on the way, and flags
// that a program brings along because an earlier run was given them.

#pragma once

#include "compiler/driver/compile.h"
#include "compiler/driver/reproduce.h"

#include "llvm/Support/CommandLine.h"

namespace alula::tools {

/// The words of the command line, sorted by what a later run needs to know.
class CommandLine {
public:
  /// Response files are replaced by what they hold.
  CommandLine(int argc, char **argv);

  /// Parses all flags; ends the process if that fails.
  void parse();
  /// Parses again, together with the flags of a record. A contradiction is an
  /// error unless the record is to be overridden.
  llvm::Error parseAgain(const driver::Resumption &resumption, bool overrides,
                         bool preprocessAgain);

  /// Flags that decide what the artifact is, as --name=value.
  std::vector<std::string> getRecorded() const;
  /// All flags of plugins, as given.
  std::vector<std::string> getPluginFlags() const;
  /// Whether a flag's value comes from the program, not from the caller.
  bool isFromRecord(llvm::StringRef flag) const;

private:
  struct Flag {
    std::string name, value;
    bool hasValue, isFromRecord;
    std::string print() const;
  };
  void collect();
  std::vector<std::string> getValues(llvm::StringRef name) const;

  llvm::BumpPtrAllocator memory;
  llvm::SmallVector<const char *> words;
  std::vector<Flag> flags;
};

struct StageFlags {
  llvm::cl::opt<std::string> to{
      "compile-to", llvm::cl::init("emit"), llvm::cl::value_desc("stage"),
      llvm::cl::desc("the last stage; the program after it is written if that "
                     "is not emit")};
  llvm::cl::opt<std::string> from{
      "compile-from", llvm::cl::init("auto"), llvm::cl::value_desc("stage"),
      llvm::cl::desc("the stage that the program has been through; auto: as it "
                     "says itself")};
  // Text: numbers that are none have a status of their own.
  llvm::cl::opt<std::string> debug{
      "debug", llvm::cl::init("0"), llvm::cl::value_desc("level"),
      llvm::cl::desc("what code says of where it comes from: 1 names, 2 lines "
                     "of the program, 3 lines of texts that the artifact "
                     "holds")};
  llvm::cl::opt<std::string> stages{
      "dump-stages-to", llvm::cl::value_desc("folder"),
      llvm::cl::desc("write the program after each stage")};
  using Folder = llvm::cl::opt<std::string>;
  Folder executables{"dump-executables-to", llvm::cl::value_desc("folder"),
                     llvm::cl::desc("all that follows")};
  Folder sources{"dump-executable-sources-to", llvm::cl::value_desc("folder"),
                 llvm::cl::desc("write each executable")};
  Folder preprocessed{
      "dump-executable-preprocessed-to", llvm::cl::value_desc("folder"),
      llvm::cl::desc("write executables that others have changed")};
  Folder configs{"dump-executable-configs-to", llvm::cl::value_desc("folder"),
                 llvm::cl::desc("write executables as loops, with grids")};
  Folder benchmarks{
      "dump-executable-benchmarks-to", llvm::cl::value_desc("folder"),
      llvm::cl::desc("write a program for each call of an executable")};
  llvm::cl::list<std::string> benchmarkSizes{
      "bench-dim", llvm::cl::value_desc("argument.dimension=n"),
      llvm::cl::desc("a size of an argument, by number, for these programs; "
                     "function:argument.dimension=n is for one function")};
  Folder intermediates{"dump-executable-intermediates-to",
                       llvm::cl::value_desc("folder"),
                       llvm::cl::desc("write LLVM's IR, assembly, objects")};
  Folder binaries{"dump-executable-binaries-to", llvm::cl::value_desc("folder"),
                  llvm::cl::desc("write executables compiled by themselves")};
  llvm::cl::list<std::string> substituteSource{
      "substitute-executable-source", llvm::cl::value_desc("name=file"),
      llvm::cl::desc("take an executable from a file, repeatable")};
  llvm::cl::list<std::string> substituteSourceFrom{
      "substitute-executable-source-from", llvm::cl::value_desc("folder"),
      llvm::cl::desc("take executables from a folder that "
                     "--dump-executable-sources-to has written")};
  llvm::cl::list<std::string> substituteConfig{
      "substitute-executable-config", llvm::cl::value_desc("name=file"),
      llvm::cl::desc("the same after the stage kernel")};
  llvm::cl::list<std::string> substituteConfigFrom{
      "substitute-executable-config-from", llvm::cl::value_desc("folder"),
      llvm::cl::desc("the same after the stage kernel")};
  llvm::cl::opt<bool> executableOnly{
      "executable-only",
      llvm::cl::desc("the program is one executable; what is written has no "
                     "host code")};
  llvm::cl::alias keepIntermediates{
      "keep-intermediates",
      llvm::cl::desc("--dump-executable-intermediates-to"),
      llvm::cl::aliasopt(intermediates)};
  llvm::cl::opt<bool> bytecode{
      "emit-bytecode",
      llvm::cl::desc("programs are written as bytecode, not as text")};
  llvm::cl::opt<std::string> elide{
      "elide-constants-larger", llvm::cl::value_desc("n"),
      llvm::cl::desc("leave constants of more elements out of programs, which "
                     "then can only be read")};
  llvm::cl::opt<bool> overrides{
      "override-recorded",
      llvm::cl::desc("flags win over those that a program brings along")};

  llvm::cl::opt<std::string> reproducer{
      "crash-reproducer", llvm::cl::value_desc("folder"),
      llvm::cl::desc("where it is kept what a failure takes to be seen again; "
                     "without it, only crashes leave a folder, here; off: "
                     "nothing does")};
  llvm::cl::opt<bool> reproducerLocal{
      "crash-reproducer-local",
      llvm::cl::desc("narrow it to one pass, which takes another run")};
  llvm::cl::opt<bool> reproducerFull{
      "reproducer-full", llvm::cl::desc("keep folders of this machine in it")};
  llvm::cl::opt<bool> printStages{
      "print-stages", llvm::cl::desc("write the stages and their passes")};
  llvm::cl::opt<std::string> fail{"test-fail-in", llvm::cl::ReallyHidden};

  /// What --print-stages writes.
  std::string describeStages(const driver::CompileOptions &options) const;
  /// Ready for a failure; null if none is wanted.
  std::unique_ptr<driver::Reproducer>
  makeReproducer(const CommandLine &line, const driver::CompileOptions &options,
                 llvm::StringRef input, llvm::StringRef inputBytes) const;

  /// Fills what the flags ask for; an error is one of usage.
  llvm::Error apply(driver::CompileOptions &options) const;
  /// Sets where to go on, once the program's own word is known.
  llvm::Error applyStart(const std::optional<driver::Resumption> &resumption,
                         driver::CompileOptions &options) const;
};

} // namespace alula::tools

// Where a compilation begins and ends, what it writes on the way, and flags
// that a program brings along because an earlier run was given them.

#pragma once

#include "compiler/driver/reproduce.h"
#include "tools/flags/listing.h"

namespace alula::tools {

/// The words of the command line, sorted by what a later run needs to know.
class CommandLine {
public:
  /// Response files are replaced by what they hold.
  CommandLine(int argc, char **argv);

  /// Parses all flags; false after it has said what is wrong.
  bool parse(const options::Tool &tool);
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
  One<bool> overrides{driver::Flag::Override};
  One<std::string> reproducer{driver::Flag::Reproducer};
  One<bool> reproducerLocal{driver::Flag::ReproducerLocal};
  One<bool> reproducerFull{driver::Flag::ReproducerFull};
  One<bool> printStages{driver::Flag::PrintStages};
  One<std::string> fail{driver::Flag::TestFail, llvm::cl::ReallyHidden};

  /// What --print-stages writes.
  std::string describeStages(const driver::CompileOptions &options) const;
  /// Ready for a failure; null if none is wanted.
  std::unique_ptr<driver::Reproducer>
  makeReproducer(const CommandLine &line, const driver::CompileOptions &options,
                 llvm::StringRef input, llvm::StringRef inputBytes,
                 llvm::ArrayRef<std::string> from) const;

  /// MLIR's flags for passes and a failure for tests; an error is one of usage.
  llvm::Error apply(driver::CompileOptions &options) const;
  /// Sets where to go on, once the program's own word is known.
  llvm::Error applyStart(const std::optional<driver::Resumption> &resumption,
                         driver::CompileOptions &options) const;
};

} // namespace alula::tools

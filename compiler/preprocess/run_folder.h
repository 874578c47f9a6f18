#pragma once

#include "compiler/preprocess/tool_process.h"

#include "llvm/Support/Error.h"

#include <string>

namespace alula::preprocess {

/// The folder of one run: the tool may work in it, and what it got and gave is
/// put there for whoever wants to see it. Deleted unless it is kept.
class RunFolder {
public:
  /// A new folder under the system's place for temporary files.
  static llvm::Expected<RunFolder> make();
  /// This one, which stays.
  static llvm::Expected<RunFolder> makeAt(std::string path);

  /// One of these for an executable in a step: a place of its own in `home`, if
  /// that is not empty.
  static llvm::Expected<RunFolder> makeFor(llvm::StringRef home, unsigned step,
                                           llvm::StringRef executable);

  RunFolder(RunFolder &&other);
  ~RunFolder();

  llvm::StringRef getPath() const { return path; }
  /// Writes stdin, stdout, stderr, command.json and rerun.sh, and stays.
  llvm::Error keep(const ToolRun &run, const ToolResult &result);

private:
  RunFolder(std::string path, bool stays)
      : path(std::move(path)), stays(stays) {}

  std::string path;
  bool stays;
};

/// "exited with status 3", "was ended by signal 11, SIGSEGV".
std::string describeEnd(const ToolResult &result, const ToolLimits &limits);

} // namespace alula::preprocess

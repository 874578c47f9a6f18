#pragma once

#include "compiler/preprocess/plan.h"
#include "compiler/preprocess/tool_process.h"

#include <optional>
#include <string>

namespace alula::preprocess {

/// A folder of what tools have answered, under the SHA-256 of all that they
/// may have looked at: what they got, their words, their own file and those
/// that words name, and the variables that are named. Whether they look at
/// more, only who turns it on knows.
class ReplyCache {
public:
  ReplyCache(const Options &options, const Step &step);

  bool isOn() const { return !folder.empty(); }
  std::string makeKey(llvm::StringRef bytecode, llvm::StringRef executable,
                      llvm::StringRef targets) const;
  /// Nothing if there is none, or if its file is damaged.
  std::optional<ToolResult> find(llvm::StringRef key) const;
  /// That a result can't be kept is nobody's error.
  void add(llvm::StringRef key, const ToolResult &result) const;

private:
  std::string folder;
  /// Of the step: the same for every executable.
  std::string prefix;
  std::vector<std::string> words;
};

} // namespace alula::preprocess

// What a tool with LLVM's command line can be told, as a table; and how it
// says what is wrong.

#pragma once

#include "tools/flags/declared.h"
#include "tools/options/table.h"

namespace alula::tools {

/// The rows of the compiler's table that this tool has declared.
std::vector<options::Option> getDeclaredRows();

/// All passes that can be named, for completion and hints.
std::vector<options::Option> getPassRows();

/// Parses a command line. If that fails, it says so the way every tool does,
/// and what may have been meant: LLVM's own flags are no candidates.
bool parseCommandLine(const options::Tool &tool,
                      llvm::ArrayRef<const char *> words);

/// A flag of a tool's own table.
template <typename T> struct Own : llvm::cl::opt<T> {
  template <typename... More>
  Own(const options::Option &row, const More &...more)
      : llvm::cl::opt<T>(llvm::StringRef(row.name), llvm::cl::desc(row.help),
                         llvm::cl::value_desc(row.value), more...) {}
};

} // namespace alula::tools

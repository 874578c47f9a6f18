#pragma once

#include "llvm/Support/raw_ostream.h"

#include <string>

namespace alula::newer {

/// Writes printed IR with the official spellings: the stand-ins of this
/// dialect become what a newer MLIR calls them, and hex of i1 gets one byte an
/// element. Strings are left alone. `text` is whole lines.
void restoreText(llvm::StringRef text, llvm::raw_ostream &os);

/// A stream that does so line by line; flushes the last line when destroyed.
/// For printing IR and for diagnostics that mention types.
class RestoringStream : public llvm::raw_ostream {
public:
  explicit RestoringStream(llvm::raw_ostream &os) : os(os) {}
  ~RestoringStream() override;

private:
  void write_impl(const char *data, size_t size) override;
  uint64_t current_pos() const override { return written; }

  llvm::raw_ostream &os;
  std::string line;
  uint64_t written = 0;
};

} // namespace alula::newer

#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace alula::preprocess {

/// The tokens of a `make -j` that we run under: each tool but one takes one
/// while it lives.
class JobServer {
public:
  /// As MAKEFLAGS says; without one there are tokens for all.
  static JobServer fromEnvironment();
  explicit JobServer(llvm::StringRef makeFlags);
  JobServer(JobServer &&other);
  JobServer(const JobServer &) = delete;
  /// Gives everything back.
  ~JobServer();

  /// Whether so many tools may live; takes and gives back what that needs.
  bool hold(unsigned tools);
  /// What can be read once there is a token; -1 if nobody counts.
  int getDescriptor() const { return read; }

private:
  bool take();
  void giveBack();

  int read = -1, write = -1;
  std::string tokens;
};

} // namespace alula::preprocess

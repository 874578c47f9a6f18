#pragma once

#include "compiler/standalone/program.h"

namespace alula::standalone {

/// What machine code adds to a program.
struct CodeFacts {
  std::string machine, triple, compiler, options, inputHash;
  std::vector<std::string> features;
  /// Names that the code needs from elsewhere.
  std::vector<std::string> undefined;
  uint64_t codeBytes = 0, constantBytes = 0;
  /// The most that a call may have on the stack.
  uint64_t stackBytes = 0;
};

/// The C header: sizes as macros, functions. For C99 and C++.
std::string writeHeader(const Program &program, const CodeFacts &facts);

/// All that is known of the code, as JSON.
std::string writeManifest(const Program &program, const CodeFacts &facts);

} // namespace alula::standalone

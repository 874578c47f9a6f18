// What a program without a runtime is, for those who call it.

#pragma once

#include "alula/dtype.h"

#include <cstdint>
#include <string>
#include <vector>

namespace alula::standalone {

/// An argument or a result.
struct Port {
  /// As the program calls it; may be empty.
  std::string name;
  alula_dtype dtype;
  std::vector<int64_t> shape;
  uint64_t bytes = 0;
};

/// Bytes of the arena that something has from one step of its function to
/// another, both included.
struct Piece {
  std::string name;
  uint64_t offset, bytes;
  int64_t first, last;
};

struct Function {
  /// In the program, and what C calls it.
  std::string name, symbol;
  std::vector<Port> inputs, outputs;
  uint64_t arenaBytes = 0;
  /// The most bytes that live at once.
  uint64_t lowerBound = 0;
  std::vector<Piece> pieces;
  /// Others are called by these.
  bool isExported = false;
};

/// A value that stays from one call to the next.
struct State {
  std::string name;
  uint64_t offset, bytes;
  bool isInitialised;
};

struct Program {
  /// What C names begin with.
  std::string prefix;
  std::vector<Function> functions;
  std::vector<State> state;
  uint64_t stateBytes = 0;
  /// Of arena and state.
  uint64_t alignment = 1;
  uint64_t constantBytes = 0;
};

/// What a call returns, besides 0.
enum class Code {
  Null = 1,
  Align = 2,
  Alias = 3,
  Arena = 4,
  Assertion = 5,
  State = 6
};

} // namespace alula::standalone

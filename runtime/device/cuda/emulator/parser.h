// From text to statements: names are found, numbers are read.

#pragma once

#include "runtime/device/cuda/emulator/program.h"

#include <optional>

namespace alula::ptx {

struct Type {
  enum Kind : uint8_t {
    none,
    pred,
    bits,
    uint,
    sint,
    real,
    half,
    bfloat,
    tf32,
    e4m3,
    e5m2
  };
  Kind kind = none;
  uint32_t size = 0; ///< in bits
  bool isPair = false;
  uint32_t bytes() const { return size / 8; }
};
/// "u32", "f16x2": none if it is no type.
Type readType(std::string_view word);

/// A token: an identifier with its dots, a number, or a single sign.
struct Token {
  std::string_view text;
  uint32_t line;
};

/// One operand of an instruction, as written.
struct Written {
  enum Kind { word, memory, list } kind = word;
  /// A name or a number; of memory its base.
  std::string_view text;
  /// Of memory: what is added. Of a word: 1 if it is negated by '!'.
  int64_t offset = 0;
  bool isNegated = false;
  std::vector<std::string_view> words;
  /// Behind '|'.
  std::string_view second;
};

struct Statement {
  uint32_t line = 0;
  std::string_view predicate;
  bool isNegated = false;
  /// Split at the dots.
  std::vector<std::string_view> opcode;
  std::vector<Written> operands;
  bool has(std::string_view modifier) const {
    for (size_t i = 1; i < opcode.size(); ++i)
      if (opcode[i] == modifier)
        return true;
    return false;
  }
};

bool readTokens(std::string_view text, std::vector<Token> &tokens,
                std::string &error);
/// The bits of a number as a value of this type; false if it is none.
bool readNumber(std::string_view text, Type type, uint64_t &bits);

} // namespace alula::ptx

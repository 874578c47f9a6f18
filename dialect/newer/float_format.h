#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace alula::newer {

/// The element types of StableHLO that MLIR 19 has no float type for.
enum class FloatFormat : uint8_t {
  F8E3M4,
  F8E8M0FNU,
  F6E2M3FN,
  F6E3M2FN,
  F4E2M1FN,
};

inline constexpr FloatFormat allFloatFormats[] = {
    FloatFormat::F8E3M4, FloatFormat::F8E8M0FNU, FloatFormat::F6E2M3FN,
    FloatFormat::F6E3M2FN, FloatFormat::F4E2M1FN};

/// What distinguishes one small float from another.
struct FloatFormatInfo {
  llvm::StringLiteral name; ///< The official spelling, such as "f8E3M4".
  unsigned bitWidth;        ///< Bits of a code; a code lives in one byte.
  unsigned mantissaBits;
  int bias;
  bool isSigned;
  bool hasInfinity; ///< The largest exponent means infinity and NaN.
  /// The magnitude of the largest finite value.
  uint8_t largestFinite;
};

const FloatFormatInfo &getInfo(FloatFormat format);

/// The format that is spelled `name`, if it is one of ours.
std::optional<FloatFormat> parseFloatFormat(llvm::StringRef name);

/// The exact value of `code`; bits above the width are ignored.
double decode(FloatFormat format, uint8_t code);

/// Rounds to nearest, ties to even. What is too large becomes infinity in
/// f8E3M4, the largest value in the f6 and f4 kinds, NaN in f8E8M0FNU. NaN
/// becomes NaN where there is one, otherwise the negative zero's code (as
/// ml_dtypes has it). f8E8M0FNU holds powers of two only: ties go up, zero and
/// what is too small become its smallest value, negative numbers NaN.
uint8_t encode(FloatFormat format, double value);

/// Whether a code stands for NaN.
bool isNaN(FloatFormat format, uint8_t code);

} // namespace alula::newer

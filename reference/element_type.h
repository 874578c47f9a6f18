// The element types of a tensor as the reference sees them, and the cell in
// which it computes: integers in 64 bits, floats in double (which holds every
// smaller float exactly and, for one arithmetic operation, rounds to it
// innocuously), complex numbers as two doubles.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace mlir {
class Type;
} // namespace mlir

namespace alula::reference {

/// How one stored element is encoded. Signless integers are signed ones.
enum class Kind : uint8_t {
  Bool,
  S2,
  S4,
  S8,
  S16,
  S32,
  S64,
  U2,
  U4,
  U8,
  U16,
  U32,
  U64,
  F4E2M1FN,
  F6E2M3FN,
  F6E3M2FN,
  F8E3M4,
  F8E4M3,
  F8E4M3FN,
  F8E4M3FNUZ,
  F8E4M3B11FNUZ,
  F8E5M2,
  F8E5M2FNUZ,
  F8E8M0FNU,
  BF16,
  F16,
  F32,
  F64,
  C64,
  C128,
};
inline constexpr unsigned numKinds = unsigned(Kind::C128) + 1;

/// The arithmetic that a kind computes in.
enum class Domain : uint8_t { Bool, Signed, Unsigned, Float, Complex };

/// One value being computed with. Which member is live follows from the
/// domain: u (Bool, Unsigned), i (Signed), re (Float), re and im (Complex).
struct Cell {
  union {
    double re;
    int64_t i;
    uint64_t u;
  };
  double im;
};

/// The kind that stores a type's elements; quantized types give their
/// storage kind. None if the reference has no such element.
std::optional<Kind> getKind(mlir::Type elementType);

Domain getDomain(Kind kind);
/// Bytes of one stored element; types below eight bits take one.
size_t getByteWidth(Kind kind);
/// Bits that carry value: 1 for i1, 4 for f4, 128 for complex<f64>.
unsigned getBitWidth(Kind kind);
/// The name in values and messages: "f32", "ui8", "complex<f64>".
llvm::StringRef getName(Kind kind);

inline bool isFloat(Kind kind) { return getDomain(kind) == Domain::Float; }
inline bool isComplex(Kind kind) { return getDomain(kind) == Domain::Complex; }
inline bool isInteger(Kind kind) {
  Domain domain = getDomain(kind);
  return domain == Domain::Signed || domain == Domain::Unsigned;
}
/// f32 for complex<f32>; other kinds give themselves.
Kind getRealKind(Kind kind);

/// Reads n elements, `stride` elements apart.
void load(Kind kind, const uint8_t *bytes, Cell *cells, size_t n,
          int64_t stride = 1);
/// Reads the elements at the given element offsets.
void loadAt(Kind kind, const uint8_t *bytes, const int64_t *offsets,
            Cell *cells, size_t n);
/// Writes n elements next to each other; rounds and wraps as the kind says.
void store(Kind kind, const Cell *cells, uint8_t *bytes, size_t n);
/// Rounds and wraps cells to what `kind` can hold.
void roundTo(Kind kind, Cell *cells, size_t n);

/// A float of up to 16 bits from its bits, and back with one rounding to
/// nearest even. Overflow gives infinity, else NaN, else the largest value,
/// whichever the format has first.
double decodeFloat(Kind kind, uint64_t bits);
uint64_t encodeFloat(Kind kind, double value);

/// Facts of a float kind.
struct FloatFormat {
  int exponentBits;
  int mantissaBits;
  int bias;
};
FloatFormat getFloatFormat(Kind kind);

/// Distance in representable values between two finite floats of a kind;
/// nothing when one of them is not finite.
std::optional<uint64_t> getUlpDistance(Kind kind, double a, double b);

} // namespace alula::reference

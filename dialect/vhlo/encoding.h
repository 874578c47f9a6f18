#pragma once

#include "dialect/vhlo/version.h"

namespace alula::vhlo {

/// Who defined the bytes of an attribute or type.
enum class Family : uint8_t {
  Builtin,
  /// Builtin too, and never in a portable artifact.
  Other,
  Vhlo,
  Sdy,
  /// Types of operands of sdy's ops, beside those of vhlo.
  Stablehlo,
  /// MLIR text; the fallback of dialects without an encoding of their own.
  Text,
  /// An encoding that this codec does not know. An error once it is used.
  Opaque,
};

namespace builtin {
enum class Attr : uint16_t {
#define BUILTIN_ATTR(CODE, NAME, FIELDS) NAME = CODE,
#include "dialect/vhlo/encoding.inc"
};
enum class Type : uint16_t {
#define BUILTIN_TYPE(CODE, NAME, FIELDS, BITS) NAME = CODE,
#include "dialect/vhlo/encoding.inc"
};
} // namespace builtin

enum class AttrCode : uint16_t {
#define VHLO_ATTR(CODE, NAME, FIELDS, MAJOR, MINOR) NAME = CODE,
#include "dialect/vhlo/encoding.inc"
};
enum class TypeCode : uint16_t {
#define VHLO_TYPE(CODE, NAME, FIELDS, BITS, MAJOR, MINOR) NAME = CODE,
#include "dialect/vhlo/encoding.inc"
};

namespace sdy {
enum class Attr : uint16_t {
#define SDY_ATTR(CODE, NAME, FIELDS) NAME = CODE,
#include "dialect/vhlo/encoding.inc"
};
} // namespace sdy

/// The dialect of a family, empty for Text and Opaque.
std::string_view dialectOf(Family family);

/// One row of encoding.inc.
struct Encoding {
  uint16_t code;
  /// Width of a number of this type, or 0.
  uint16_t bits;
  const char *name;
  const char *fields;
  /// The first StableHLO version that has it.
  Version since;
};

/// The row of a code, or null. `isType` picks the table.
const Encoding *findEncoding(Family family, bool isType, uint64_t code);

} // namespace alula::vhlo

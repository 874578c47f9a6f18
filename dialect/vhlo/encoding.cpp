#include "dialect/vhlo/encoding.h"

#include <span>

namespace alula::vhlo {
namespace {

constexpr Encoding builtinAttrs[] = {
#define BUILTIN_ATTR(CODE, NAME, FIELDS)                                       \
  {CODE, 0, #NAME, FIELDS, Version::minimum()},
#include "dialect/vhlo/encoding.inc"
};
constexpr Encoding builtinTypes[] = {
#define BUILTIN_TYPE(CODE, NAME, FIELDS, BITS)                                 \
  {CODE, BITS, #NAME, FIELDS, Version::minimum()},
#include "dialect/vhlo/encoding.inc"
};
constexpr Encoding vhloAttrs[] = {
#define VHLO_ATTR(CODE, NAME, FIELDS, MAJOR, MINOR)                            \
  {CODE, 0, #NAME, FIELDS, Version{MAJOR, MINOR, 0}},
#include "dialect/vhlo/encoding.inc"
};
constexpr Encoding vhloTypes[] = {
#define VHLO_TYPE(CODE, NAME, FIELDS, BITS, MAJOR, MINOR)                      \
  {CODE, BITS, #NAME, FIELDS, Version{MAJOR, MINOR, 0}},
#include "dialect/vhlo/encoding.inc"
};
constexpr Encoding sdyAttrs[] = {
#define SDY_ATTR(CODE, NAME, FIELDS)                                           \
  {CODE, 0, #NAME, FIELDS, Version::minimum()},
#include "dialect/vhlo/encoding.inc"
};
constexpr Encoding stablehloTypes[] = {
#define STABLEHLO_TYPE(CODE, NAME, FIELDS)                                     \
  {CODE, 0, #NAME, FIELDS, Version::minimum()},
#include "dialect/vhlo/encoding.inc"
};
constexpr Encoding otherAttrs[] = {
#define OTHER_ATTR(CODE, NAME, FIELDS)                                         \
  {CODE, 0, #NAME, FIELDS, Version::minimum()},
#include "dialect/vhlo/encoding.inc"
};
constexpr Encoding otherTypes[] = {
#define OTHER_TYPE(CODE, NAME, FIELDS)                                         \
  {CODE, 0, #NAME, FIELDS, Version::minimum()},
#include "dialect/vhlo/encoding.inc"
};

} // namespace

std::string_view dialectOf(Family family) {
  switch (family) {
  case Family::Builtin:
  case Family::Other:
    return "builtin";
  case Family::Vhlo:
    return "vhlo";
  case Family::Sdy:
    return "sdy";
  case Family::Stablehlo:
    return "stablehlo";
  case Family::Text:
  case Family::Opaque:
    break;
  }
  return "";
}

const Encoding *findEncoding(Family family, bool isType, uint64_t code) {
  std::span<const Encoding> table;
  if (family == Family::Builtin)
    table = isType ? std::span<const Encoding>(builtinTypes) : builtinAttrs;
  else if (family == Family::Other)
    table = isType ? std::span<const Encoding>(otherTypes) : otherAttrs;
  else if (family == Family::Vhlo)
    table = isType ? std::span<const Encoding>(vhloTypes) : vhloAttrs;
  else if (family == Family::Sdy && !isType)
    table = sdyAttrs;
  else if (family == Family::Stablehlo && isType)
    table = stablehloTypes;
  // Rows stand in the order of their codes, almost without gaps.
  for (const Encoding &row : table)
    if (row.code == code)
      return &row;
  return nullptr;
}

} // namespace alula::vhlo

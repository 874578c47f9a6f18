#pragma once

#include "dialect/vhlo/version.h"

#include <span>
#include <string_view>

namespace alula::vhlo {

/// How an attribute of the portable form maps to one of StableHLO.
enum class Mapping : uint8_t {
  /// The same name and meaning.
  Plain,
  /// A tensor of i64 or i1; an array there.
  I64Array,
  BoolArray,
  /// A string; a symbol there.
  Symbol,
  Symbols,
  /// An integer; `channel_handle` there.
  ChannelId,
  /// A boolean; there or not there.
  UnitFlag,
  /// An enumeration; a 32-bit integer there.
  ApiVersion,
  /// One field of a structured attribute: the dimension numbers or channel
  /// handle of the operation.
  Part,
  /// One field of dot_general's `algorithm`.
  AlgorithmPart,
};

/// What the portable form holds where StableHLO has no attribute.
enum class Default : uint8_t {
  Required,
  False,
  Zero,
  MinusOne,
  EmptyString,
  EmptyArray,
  EmptyDictionary,
  /// tensor<0xi64>
  EmptyInts,
  /// One for each spatial or window dimension.
  Ones,
  ZeroPairs,
  FalseSplat,
  DefaultPrecisions,
  NoComparisonType,
  OriginalApi,
  DefaultAccuracy,
  NoneType,
};

/// Which forms of an operation have an attribute.
enum class Forms : uint8_t { Both, V1, V2 };

struct AttrSpec {
  const char *name = nullptr;
  Mapping mapping = Mapping::Plain;
  Default fallback = Default::Required;
  Forms forms = Forms::Both;

  bool isIn(unsigned form) const {
    return forms == Forms::Both || unsigned(forms) == form;
  }
};

enum OpFlags : uint8_t {
  /// The first form has exactly one operand and one result.
  oneOperandInV1 = 1,
  /// The first form has no regions.
  noRegionsInV1 = 2,
  /// Results may have other element types than operands since 0.17.0.
  mayPromote = 4,
};

/// One row of op_table.inc.
struct OpSpec {
  const char *name;
  /// The first version of the operation and of its second form, if any.
  Version first;
  Version second;
  uint8_t flags;
  AttrSpec attributeRows[20];

  bool hasSecondForm() const { return second.major != UINT32_MAX; }
  std::span<const AttrSpec> attributes() const;
  const AttrSpec *findAttribute(std::string_view attribute) const;
  /// The form that a version has; 0 if it does not have the operation.
  unsigned formAt(Version version) const;
};

/// The row of an operation without its "_v1"; null if there is none.
const OpSpec *findOp(std::string_view name);
std::span<const OpSpec> allOps();

/// Splits "add_v1" into the operation and its form.
struct VersionedName {
  std::string_view name;
  unsigned form;
};
std::optional<VersionedName> splitVersionedName(std::string_view name);

} // namespace alula::vhlo

#include "dialect/vhlo/op_table.h"

#include <algorithm>
#include <charconv>

namespace alula::vhlo {
namespace {

using enum Mapping;
using enum Default;
using enum Forms;

constexpr Version V(uint32_t major, uint32_t minor) {
  return {major, minor, 0};
}
constexpr Version never = {UINT32_MAX, 0, 0};

constexpr OpSpec table[] = {
#define OP(NAME, FIRST, SECOND, FLAGS, ...)                                    \
  {NAME, FIRST, SECOND, FLAGS, {__VA_ARGS__}},
#include "dialect/vhlo/op_table.inc"
};

} // namespace

std::span<const AttrSpec> OpSpec::attributes() const {
  size_t count = 0;
  while (attributeRows[count].name)
    ++count;
  return {attributeRows, count};
}

const AttrSpec *OpSpec::findAttribute(std::string_view attribute) const {
  for (const AttrSpec &row : attributes())
    if (row.name == attribute)
      return &row;
  return nullptr;
}

unsigned OpSpec::formAt(Version version) const {
  if (version < first)
    return 0;
  return hasSecondForm() && version >= second ? 2 : 1;
}

const OpSpec *findOp(std::string_view name) {
  const OpSpec *row = std::lower_bound(
      std::begin(table), std::end(table), name,
      [](const OpSpec &op, std::string_view key) { return op.name < key; });
  return row != std::end(table) && row->name == name ? row : nullptr;
}

std::span<const OpSpec> allOps() { return table; }

std::optional<VersionedName> splitVersionedName(std::string_view name) {
  size_t mark = name.rfind("_v");
  if (mark == std::string_view::npos)
    return std::nullopt;
  unsigned form = 0;
  const char *end = name.data() + name.size();
  auto [next, status] = std::from_chars(name.data() + mark + 2, end, form);
  if (status != std::errc() || next != end || form == 0)
    return std::nullopt;
  return VersionedName{name.substr(0, mark), form};
}

} // namespace alula::vhlo

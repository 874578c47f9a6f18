#pragma once

#include <cstdint>
#include <string_view>

namespace alula::vhlo {

/// The sections of the bytecode container.
enum SectionId : uint8_t {
  stringSection = 0,
  dialectSection = 1,
  attrTypeSection = 2,
  attrTypeOffsetSection = 3,
  irSection = 4,
  resourceSection = 5,
  resourceOffsetSection = 6,
  dialectVersionsSection = 7,
  propertiesSection = 8,
};
inline constexpr uint8_t numSections = 9;

constexpr std::string_view sectionName(uint8_t id) {
  constexpr std::string_view names[numSections] = {
      "string",           "dialect",         "attribute",
      "attribute offset", "operation",       "resource",
      "resource offset",  "dialect version", "properties"};
  return names[id];
}

/// Which parts of an operation are there.
enum OpParts : uint8_t {
  hasAttributes = 1 << 0,
  hasResults = 1 << 1,
  hasOperands = 1 << 2,
  hasSuccessors = 1 << 3,
  hasRegions = 1 << 4,
  hasUseListOrders = 1 << 5,
  hasProperties = 1 << 6,
};

} // namespace alula::vhlo

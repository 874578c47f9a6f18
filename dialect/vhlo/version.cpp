#include "dialect/vhlo/version.h"

#include <charconv>

namespace alula::vhlo {

std::optional<Version> Version::parse(std::string_view text) {
  Version version;
  uint32_t *parts[] = {&version.major, &version.minor, &version.patch};
  const char *cursor = text.data();
  const char *end = text.data() + text.size();
  for (int i = 0; i < 3; ++i) {
    if (i != 0) {
      if (cursor == end || *cursor != '.')
        return std::nullopt;
      ++cursor;
    }
    auto [next, status] = std::from_chars(cursor, end, *parts[i]);
    if (status != std::errc())
      return std::nullopt;
    cursor = next;
  }
  if (cursor != end)
    return std::nullopt;
  return version;
}

std::string Version::str() const {
  return std::to_string(major) + "." + std::to_string(minor) + "." +
         std::to_string(patch);
}

uint32_t Version::containerVersion() const {
  if (*this < Version{0, 10, 0})
    return 0;
  if (*this < Version{0, 12, 0})
    return 1;
  if (*this < Version{0, 14, 0})
    return 3;
  if (*this < Version{0, 15, 0})
    return 4;
  return 6;
}

std::optional<Version> portableVersion(std::string_view bytes) {
  if (!bytes.starts_with("ML\xefR"))
    return std::nullopt;
  // The container version is one varint; all that exist fit one byte.
  bytes.remove_prefix(4);
  if (bytes.empty() || !(bytes[0] & 1))
    return std::nullopt;
  bytes.remove_prefix(1);
  if (!bytes.starts_with(producerPrefix))
    return std::nullopt;
  bytes.remove_prefix(producerPrefix.size());
  size_t end = bytes.find('\0');
  if (end == std::string_view::npos)
    return std::nullopt;
  return Version::parse(bytes.substr(0, end));
}

} // namespace alula::vhlo

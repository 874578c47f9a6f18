#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace alula::vhlo {

/// A StableHLO version. The opset is fixed by major and minor; a patch number
/// only names a release.
struct Version {
  uint32_t major = 0;
  uint32_t minor = 0;
  uint32_t patch = 0;

  /// The newest version that this codec reads and writes.
  static constexpr Version current() { return {1, 20, 0}; }
  /// The oldest one.
  static constexpr Version minimum() { return {0, 9, 0}; }
  /// Parses "major.minor.patch"; nothing else is accepted.
  static std::optional<Version> parse(std::string_view text);

  std::string str() const;
  /// The version whose opset this one has (patch 0).
  constexpr Version opset() const { return {major, minor, 0}; }
  /// The bytecode container that portable artifacts of this version use.
  uint32_t containerVersion() const;

  friend constexpr auto operator<=>(const Version &, const Version &) = default;
};

/// Prefix of the producer string in the header of every portable artifact.
inline constexpr std::string_view producerPrefix = "StableHLO_v";

/// The version in the header of a portable artifact; nothing if `bytes` are
/// not one.
std::optional<Version> portableVersion(std::string_view bytes);

} // namespace alula::vhlo

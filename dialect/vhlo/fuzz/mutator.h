#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace alula::vhlo {

/// Damages artifacts, the same way for the same seed on every machine.
class Mutator {
public:
  Mutator(std::vector<std::string> artifacts, uint64_t seed)
      : seeds(std::move(artifacts)), state(seed) {}

  /// The next mutant: one to four of bit flips, overwritten bytes, truncation,
  /// splices of two seeds, pieces left out, doubled or put in.
  std::string next();

private:
  uint64_t random();
  size_t below(size_t limit) { return limit ? size_t(random() % limit) : 0; }
  void damage(std::string &bytes);

  std::vector<std::string> seeds;
  uint64_t state;
};

} // namespace alula::vhlo

#include "dialect/vhlo/fuzz/mutator.h"

namespace alula::vhlo {

// SplitMix64.
uint64_t Mutator::random() {
  uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

void Mutator::damage(std::string &bytes) {
  if (bytes.empty()) {
    bytes.push_back(char(random()));
    return;
  }
  size_t at = below(bytes.size());
  switch (random() % 9) {
  case 0:
  case 1:
    bytes[at] = char(bytes[at] ^ (1 << below(8)));
    break;
  case 2:
    bytes[at] = char(random());
    break;
  case 3: {
    // Values at the edges of varints and of sizes.
    constexpr uint8_t edges[] = {0, 1, 2, 3, 0x7f, 0x80, 0xfe, 0xff};
    bytes[at] = char(edges[below(sizeof(edges))]);
    break;
  }
  case 4:
    bytes.resize(at);
    break;
  case 5: {
    const std::string &other = seeds[below(seeds.size())];
    bytes = bytes.substr(0, at) + other.substr(below(other.size()));
    break;
  }
  case 6:
    bytes.erase(at, 1 + below(8));
    break;
  case 7:
    bytes.insert(at, bytes.substr(below(bytes.size()), 1 + below(16)));
    break;
  case 8: {
    // A nine-byte varint: the largest of numbers.
    std::string huge(9, char(0xff));
    huge[0] = 0;
    if (random() & 1)
      huge[8] = char(random());
    bytes.replace(at, 1, huge);
    break;
  }
  }
}

std::string Mutator::next() {
  std::string bytes = seeds[below(seeds.size())];
  for (size_t i = 1 + below(2) * below(4); i > 0; --i)
    damage(bytes);
  return bytes;
}

} // namespace alula::vhlo

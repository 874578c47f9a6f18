#pragma once

#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace alula::preprocess {

/// Keeps the first and the last `bytes` of what is written to it.
class Excerpt {
public:
  explicit Excerpt(uint64_t bytes) : bytes(bytes) {}

  void add(llvm::StringRef text) {
    size_t room = std::min<uint64_t>(bytes - head.size(), text.size());
    head += text.take_front(room);
    tail += text.drop_front(room);
    // Not at every write: that would move the tail each time.
    if (tail.size() > 2 * bytes)
      cut();
  }

  std::string take() {
    cut();
    if (dropped)
      head += "\n[" + std::to_string(dropped) + " bytes left out]\n";
    return std::move(head) + tail;
  }

private:
  void cut() {
    if (tail.size() <= bytes)
      return;
    dropped += tail.size() - bytes;
    tail.erase(0, tail.size() - bytes);
  }

  uint64_t bytes, dropped = 0;
  std::string head, tail;
};

} // namespace alula::preprocess

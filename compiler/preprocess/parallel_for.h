#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace alula::preprocess {

/// Calls `work` for 0, 1, … below `count`, on at most `threads` threads, this
/// one among them. Each takes the least number that is left, until one returns
/// false: what is running then still ends.
inline void forEachInParallel(size_t count, size_t threads,
                              const std::function<bool(size_t)> &work) {
  std::atomic<size_t> next = 0;
  std::atomic<bool> isOver = false;
  auto run = [&] {
    for (size_t i; !isOver && (i = next++) < count;)
      if (!work(i))
        isOver = true;
  };
  std::vector<std::thread> others;
  for (size_t i = 1; i < threads && i < count; ++i)
    others.emplace_back(run);
  run();
  for (std::thread &other : others)
    other.join();
}

} // namespace alula::preprocess

#pragma once

#include <string>
#include <vector>

namespace alula::pjrt {

/// Someone who wants to know how the partitioner divides an array.
struct ShownSharding {
  /// What jaxlib has put into the program: whom to call, in this process.
  std::string request;
  /// XLA's message OpSharding.
  std::string message;
};

/// Tells all of them. The error is the first one that any of them gives.
void *showShardings(const std::vector<ShownSharding> &shardings);

} // namespace alula::pjrt

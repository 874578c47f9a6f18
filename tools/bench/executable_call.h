// A kernel without a host: an artifact around it with one function that runs it
// once over a grid.

#pragma once

#include <string>
#include <vector>

namespace alula::bench {

struct ExecutableCall {
  /// What alula-compile --executable-only wrote.
  std::string file;
  /// A kernel's name or number.
  std::string entry = "0";
  /// Values as for --input, one for each binding; those that are only written
  /// need no elements.
  std::vector<std::string> bindings;
  /// Three sizes, and the integers of the call: "1,2,3".
  std::string workgroups = "1,1,1", constants;
};

/// The artifact's bytes; its function "main" takes all bindings and gives those
/// that are written. False and `error` if the call does not fit the kernel.
bool makeArtifact(const ExecutableCall &call, std::string &bytes,
                  std::string &error);

} // namespace alula::bench

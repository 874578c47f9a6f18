// Copies of tensors that interpreter.probe has seen.
#pragma once

#include "reference/evaluator.h"

#include <map>

namespace alula::reference {

struct ProbeState {
  /// By probe id, in the order they came.
  std::map<std::string, std::vector<Tensor>> seen;
};

/// Writes `<directory>/<id>_<number>.npy` and a line of index.csv. False with
/// a message if a file can't be written.
bool writeProbe(llvm::StringRef directory, llvm::StringRef id, size_t number,
                const Tensor &tensor, std::string &error);

} // namespace alula::reference

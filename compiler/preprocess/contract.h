#pragma once

#include "compiler/preprocess/problem.h"
#include "dialect/dispatch/ops.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace alula::preprocess {

/// What the host relies on of an executable, as text: it is compared with what
/// comes back, which lives in another context.
struct Contract {
  struct Entry {
    std::string name;
    /// Each attribute that has a meaning for us.
    std::map<std::string, std::string> attributes;
    /// Of the function with the body; empty if there is none.
    std::string functionType;
  };
  std::string name;
  std::vector<Entry> entries;
  /// Symbols that are used and not defined in the executable.
  std::set<std::string> outside;
};

/// Name, and entries without their functions. Holds before `executable` has
/// been verified.
Contract readShell(dispatch::ExecutableOp executable);
/// All of it.
Contract readContract(dispatch::ExecutableOp executable);

std::optional<Problem> compareShells(const Contract &before,
                                     const Contract &after);
std::optional<Problem> compareBodies(const Contract &before,
                                     const Contract &after);

/// Constants that are named, and not there.
std::optional<Problem> findMissingData(mlir::Operation *op);

/// Puts back what is ours: the location, visibility, and attributes of ours.
void restoreOwn(dispatch::ExecutableOp before, dispatch::ExecutableOp after);

} // namespace alula::preprocess

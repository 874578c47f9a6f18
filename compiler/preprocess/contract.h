#pragma once

#include "dialect/dispatch/ops.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace alula::preprocess {

/// How far the function of an entry has been lowered.
enum class BodyForm {
  /// There is none.
  None,
  /// Of tensors: what tools get.
  Tensors,
  /// Of buffers and sizes, as the kernel room leaves it.
  Loops,
  /// In LLVM's dialect: the entry that the runtime calls.
  Llvm
};

/// What a launch may ask of the machines that are compiled for.
struct GridLimits {
  int64_t count[3] = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
  int64_t size = UINT32_MAX;

  static GridLimits of(llvm::ArrayRef<std::string> targets);
};

/// What the host relies on of an executable, as text: it is compared with what
/// comes back, which lives in another context.
struct Contract {
  using Numbers = std::vector<std::optional<int64_t>>;
  struct Entry {
    std::string name;
    /// Each attribute that has a meaning for us.
    std::map<std::string, std::string> attributes;
    BodyForm form = BodyForm::None;
    /// Types of the function with the body.
    std::vector<std::string> inputs, results;
    /// The constants of each launch, as far as they are known.
    std::vector<Numbers> launches;
  };
  std::string name;
  std::vector<Entry> entries;
  /// Symbols that are used and not defined in the executable.
  std::set<std::string> outside;
  GridLimits limits;
};

/// Whether code for `executable` comes from elsewhere: it needs no body.
bool hasObjects(dispatch::ExecutableOp executable);

/// The function with the body of an entry; null if there is none.
mlir::FunctionOpInterface getBody(dispatch::ExecutableOp executable,
                                  llvm::StringRef entry);

} // namespace alula::preprocess

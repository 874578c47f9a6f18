// Flags that are rows of the compiler's table.

#pragma once

#include "compiler/driver/options.h"

#include "llvm/Support/CommandLine.h"

#include <memory>
#include <vector>

namespace alula::tools {

/// A flag with one value, or a switch.
template <typename T> struct One : llvm::cl::opt<T> {
  template <typename... More>
  One(driver::Flag flag, const More &...more)
      : llvm::cl::opt<T>(llvm::StringRef(driver::getFlag(flag).name),
                         llvm::cl::desc(driver::getFlag(flag).help),
                         llvm::cl::value_desc(driver::getFlag(flag).value),
                         more...) {}
};

/// A flag that may be repeated.
struct Many : llvm::cl::list<std::string> {
  template <typename... More>
  Many(driver::Flag flag, const More &...more)
      : llvm::cl::list<std::string>(
            llvm::StringRef(driver::getFlag(flag).name),
            llvm::cl::desc(driver::getFlag(flag).help),
            llvm::cl::value_desc(driver::getFlag(flag).value), more...) {}
};

/// All flags that the driver reads itself.
class TableFlags {
public:
  TableFlags();

  /// Sets what was given, in the table's order; an error is one of usage.
  llvm::Error apply(driver::CompileOptions &options) const;
  /// The values of a flag, those of a switch are "".
  std::vector<std::string> getValues(driver::Flag flag) const;

private:
  struct Declared {
    driver::Flag flag;
    std::unique_ptr<One<std::string>> text;
    std::unique_ptr<Many> texts;
    std::unique_ptr<One<bool>> isOn;
  };
  static std::vector<std::string> getValues(const Declared &declared);

  std::vector<Declared> all;
};

} // namespace alula::tools

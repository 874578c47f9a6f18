#pragma once

#include "dialect/dispatch/ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace alula::kernel {

/// The launches of each entry, as they are when it is made.
class Launches {
public:
  explicit Launches(mlir::ModuleOp module) {
    for (auto function : module.getOps<mlir::func::FuncOp>())
      function.walk([&](dispatch::LaunchOp launch) {
        byEntry[launch.getEntryAttr()].push_back(launch);
      });
  }

  llvm::ArrayRef<dispatch::LaunchOp> of(dispatch::EntryOp entry) const {
    auto executable = entry->getParentOfType<dispatch::ExecutableOp>();
    auto found = byEntry.find(mlir::SymbolRefAttr::get(
        executable.getSymNameAttr(),
        mlir::FlatSymbolRefAttr::get(entry.getSymNameAttr())));
    if (found == byEntry.end())
      return {};
    return found->second;
  }

private:
  llvm::DenseMap<mlir::SymbolRefAttr, llvm::SmallVector<dispatch::LaunchOp>>
      byEntry;
};

} // namespace alula::kernel

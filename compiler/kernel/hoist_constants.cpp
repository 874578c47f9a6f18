// Data of kernels that is large becomes a constant of the host's program, which
// each launch reads: no code generator copies it, programs of several machines
// share it, and a device has it once.
//   memref.global @plan = dense_resource<…> : tensor<…xi8>
//   memref.get_global @plan
//   →  stablehlo.constant dense_resource<…>;  dispatch.launch …(…, %constant)
// Relies on: whoever makes data that is large makes it a resource.

#include "compiler/kernel/launches.h"
#include "compiler/kernel/passes.h"
#include "dialect/dispatch/ops.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace alula::kernel {
#define GEN_PASS_DEF_HOISTCONSTANTS
#include "compiler/kernel/passes.h.inc"
} // namespace alula::kernel

using namespace mlir;
using namespace alula::dispatch;

namespace {
/// What a kernel reads of large data, by its value.
using Readers = llvm::MapVector<DenseResourceElementsAttr,
                                SmallVector<memref::GetGlobalOp>>;

Readers findReaders(func::FuncOp kernel) {
  Readers readers;
  auto module = kernel->getParentOfType<ModuleOp>();
  kernel.walk([&](memref::GetGlobalOp reader) {
    auto global = module.lookupSymbol<memref::GlobalOp>(reader.getName());
    auto data = dyn_cast_or_null<DenseResourceElementsAttr>(
        global.getInitialValueAttr());
    if (data && global.getConstant() && data.getType().getRank() == 1 &&
        data.getElementType().isInteger(8))
      readers[data].push_back(reader);
  });
  return readers;
}

class ConstantHoister {
public:
  ConstantHoister(func::FuncOp kernel, EntryOp entry,
                  ArrayRef<LaunchOp> launches)
      : kernel(kernel), entry(entry), launches(launches) {}

  void run() {
    Readers readers = findReaders(kernel);
    if (readers.empty() || entry.getPinned() || launches.empty())
      return;
    for (auto &[data, own] : readers)
      bind(own);
    for (LaunchOp launch : launches)
      extendLaunch(launch, readers);
  }

private:
  /// Behind the other inputs, before the results.
  void bind(ArrayRef<memref::GetGlobalOp> readers) {
    auto number = static_cast<unsigned>(llvm::count_if(
        entry.getBindings().getAsRange<AccessAttr>(),
        [](AccessAttr access) { return access.getValue() != Access::Write; }));
    OpBuilder builder(kernel.getContext());
    kernel.insertArgument(number, MemRefType::get({}, builder.getI8Type()), {},
                          kernel.getLoc());
    SmallVector<Attribute> accesses(entry.getBindings().getValue());
    accesses.insert(accesses.begin() + number,
                    AccessAttr::get(builder.getContext(), Access::Read));
    entry.setBindingsAttr(builder.getArrayAttr(accesses));
    kernel->setAttr(
        "kernel.bindings",
        builder.getI64IntegerAttr(static_cast<int64_t>(accesses.size())));
    for (memref::GetGlobalOp reader : readers) {
      builder.setInsertionPoint(reader);
      Value data = builder.create<memref::ReinterpretCastOp>(
          reader.getLoc(), reader.getType(), kernel.getArgument(number),
          /*offset=*/0, reader.getType().getShape(), ArrayRef<int64_t>{1});
      reader.replaceAllUsesWith(data);
      reader.erase();
    }
  }

  static void extendLaunch(LaunchOp launch, const Readers &readers) {
    OpBuilder builder(launch);
    SmallVector<Value> constants;
    for (const auto &[data, own] : readers)
      constants.push_back(
          builder.create<stablehlo::ConstantOp>(launch.getLoc(), data));
    launch.getInputsMutable().append(constants);
  }

  func::FuncOp kernel;
  EntryOp entry;
  ArrayRef<LaunchOp> launches;
};

/// Data that nobody reads any more.
void eraseUnread(ModuleOp module) {
  llvm::SmallDenseSet<StringRef> read;
  module.walk(
      [&](memref::GetGlobalOp reader) { read.insert(reader.getName()); });
  for (auto global :
       llvm::make_early_inc_range(module.getOps<memref::GlobalOp>()))
    if (!read.contains(global.getSymName()))
      global.erase();
}

struct HoistConstants
    : public alula::kernel::impl::HoistConstantsBase<HoistConstants> {
  void runOnOperation() override {
    alula::kernel::Launches launches(getOperation());
    for (auto executable : getOperation().getOps<ExecutableOp>()) {
      ModuleOp module = executable.getInnerModule();
      if (!module || module.getOps<memref::GlobalOp>().empty())
        continue;
      for (auto entry : executable.getBody().getOps<EntryOp>()) {
        auto kernel = module.lookupSymbol<func::FuncOp>(entry.getSymName());
        if (kernel)
          ConstantHoister(kernel, entry, launches.of(entry)).run();
      }
      eraseUnread(module);
    }
  }
};
} // namespace

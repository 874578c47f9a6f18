#include "compiler/preprocess/comparison.h"

#include "compiler/preprocess/envelope.h"
#include "compiler/preprocess/host_functions.h"
#include "compiler/preprocess/splice.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace alula::preprocess;
namespace dispatch = alula::dispatch;
using alula::dispatch::ExecutableOp;
using alula::dispatch::LaunchOp;

static bool isKnown(LaunchOp launch) {
  auto isStatic = [](Type type) {
    return cast<RankedTensorType>(type).hasStaticShape();
  };
  return launch.getWorkgroups().empty() &&
         llvm::all_of(launch.getInputs().getTypes(), isStatic) &&
         llvm::all_of(launch.getResultTypes(), isStatic) &&
         llvm::all_of(readConstants(launch),
                      [](const auto &number) { return number.has_value(); });
}

static OwningOpRef<ModuleOp> isolate(ExecutableOp executable, LaunchOp launch) {
  OwningOpRef<ModuleOp> program = ModuleOp::create(launch.getLoc());
  auto builder = OpBuilder::atBlockEnd(program->getBody());
  builder.clone(*executable);
  SmallVector<Type> inputs(launch.getInputs().getTypes());
  auto main = builder.create<func::FuncOp>(
      launch.getLoc(), "main",
      builder.getFunctionType(inputs, launch.getResultTypes()));
  Block *block = main.addEntryBlock();
  builder.setInsertionPointToStart(block);
  SmallVector<Value> constants;
  for (std::optional<int64_t> number : readConstants(launch))
    constants.push_back(builder.create<arith::ConstantIndexOp>(launch.getLoc(),
                                                               number.value()));
  auto copy = builder.create<LaunchOp>(
      launch.getLoc(), launch.getResultTypes(), launch.getEntryAttr(),
      block->getArguments(), constants, /*workgroups=*/ValueRange(),
      /*result_dims=*/ValueRange(), launch.getInPlaceAttr());
  builder.create<func::ReturnOp>(launch.getLoc(), copy.getResults());
  return program;
}

std::optional<Comparison>
alula::preprocess::makeComparison(const Candidate &candidate) {
  for (auto &[entry, launches] : findLaunches(candidate.original))
    for (LaunchOp launch : launches) {
      if (!isKnown(launch))
        continue;
      Comparison comparison{isolate(candidate.original, launch),
                            isolate(candidate.original, launch)};
      OwningOpRef<ModuleOp> envelope = candidate.envelope.get().clone();
      auto copy = *comparison.after->getOps<ExecutableOp>().begin();
      if (failed(finishBodies(*envelope)))
        return std::nullopt;
      splice(copy, candidate.contract, *envelope);
      return comparison;
    }
  return std::nullopt;
}

std::optional<Comparison>
alula::preprocess::makeComparison(const Candidate &candidate,
                                  const dispatch::LibraryCall &call) {
  for (auto &[entry, launches] : findLaunches(candidate.original))
    for (LaunchOp launch : launches) {
      if (!isKnown(launch))
        continue;
      Comparison comparison{isolate(candidate.original, launch),
                            isolate(candidate.original, launch)};
      dispatch::LibraryCall required = call;
      required.isRequired = true;
      auto copy = *comparison.after->getOps<ExecutableOp>().begin();
      setLibraryCall(*copy.getBody().getOps<dispatch::EntryOp>().begin(),
                     required);
      return comparison;
    }
  return std::nullopt;
}

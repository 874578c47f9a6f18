// A program of its own for each call of a kernel.

#include "compiler/driver/stages_dump.h"
#include "compiler/driver/stages_executables.h"
#include "compiler/driver/stages_file.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace alula::driver;
using alula::dispatch::ExecutableOp;
using alula::dispatch::LaunchOp;

namespace {
struct Benchmark {
  OwningOpRef<ModuleOp> program;
  StringAttr executable;
  unsigned calls = 0;
};

/// What the call is passed besides tensors.
SmallVector<Value> getNumbers(LaunchOp launch) {
  SmallVector<Value> numbers(launch.getConstants());
  llvm::append_range(numbers, launch.getWorkgroups());
  return numbers;
}

/// Why a call can't stand alone; empty if it can.
std::string explain(LaunchOp launch) {
  SmallVector<Type> types(launch.getInputs().getTypes());
  llvm::append_range(types, launch.getResultTypes());
  for (Type type : types)
    if (!cast<RankedTensorType>(type).hasStaticShape())
      return "a size is only known when it runs: " + debugString(type);
  for (Value number : getNumbers(launch))
    if (!number.getDefiningOp<arith::ConstantOp>())
      return "a number that it is passed is only known when it runs";
  return "";
}

OwningOpRef<ModuleOp> isolate(LaunchOp launch, ModuleOp whole) {
  OwningOpRef<ModuleOp> program = ModuleOp::create(launch.getLoc());
  OpBuilder builder = OpBuilder::atBlockEnd(program->getBody());
  StringAttr name = launch.getEntry().getRootReference();
  builder.clone(*whole.lookupSymbol<ExecutableOp>(name));
  SmallVector<Type> inputs(launch.getInputs().getTypes());
  auto function = builder.create<func::FuncOp>(
      launch.getLoc(), "main",
      builder.getFunctionType(inputs, launch.getResultTypes()));
  builder.setInsertionPointToStart(function.addEntryBlock());
  IRMapping mapping;
  for (Value number : getNumbers(launch))
    if (!mapping.contains(number))
      builder.clone(*number.getDefiningOp(), mapping);
  auto call = cast<LaunchOp>(builder.clone(*launch, mapping));
  // A value that is read twice is two arguments, and may differ.
  call.getInputsMutable().assign(function.getArguments());
  builder.create<func::ReturnOp>(launch.getLoc(), call.getResults());
  return program;
}
} // namespace

LogicalResult alula::driver::writeBenchmarks(ModuleOp module,
                                             const CompileOptions &options) {
  StringRef folder = options.dumps.benchmarks;
  if (folder.empty())
    return success();
  llvm::MapVector<StringRef, Benchmark> benchmarks;
  llvm::BumpPtrAllocator memory;
  std::string skipped;
  auto names = nameExecutables(module);
  module.walk([&](LaunchOp launch) {
    StringAttr executable = launch.getEntry().getRootReference();
    if (std::string reason = explain(launch); !reason.empty()) {
      skipped += names[executable] + ": " +
                 debugString(launch.getEntryAttr()) + ": " + reason + "\n";
      return;
    }
    OwningOpRef<ModuleOp> program = isolate(launch, module);
    // Without locations: calls of two lines may be the same.
    std::string text;
    llvm::raw_string_ostream os(text);
    (*program)->print(os);
    auto [found, isNew] = benchmarks.insert(
        {StringRef(text).copy(memory), Benchmark()});
    if (isNew) {
      found->second.program = std::move(program);
      found->second.executable = executable;
    }
    ++found->second.calls;
  });
  if (folder == "-" && benchmarks.size() != 1)
    return emitError(module.getLoc())
           << "[stage-usage] --dump-executable-benchmarks-to=-: standard "
              "output takes one file: there are "
           << benchmarks.size();
  llvm::DenseMap<StringAttr, unsigned> counts;
  for (auto &[text, benchmark] : benchmarks) {
    unsigned number = ++counts[benchmark.executable];
    std::string name = names[benchmark.executable] +
                       (number > 1 ? "." + std::to_string(number) : "") +
                       ".bench.mlir";
    if (llvm::Error error = writeWholeInFolder(
            folder, name, [&](llvm::raw_ostream &os) {
              os << "// calls in the program: " << benchmark.calls << "\n";
              writeStage(*benchmark.program, Room::Dispatch, options, name, os);
            }))
      return emitError(module.getLoc()) << "'builtin.module': can't write "
                                        << toString(std::move(error));
  }
  if (folder == "-")
    return success();
  if (llvm::Error error = writeWholeInFolder(
          folder, "skipped.txt",
          [&](llvm::raw_ostream &os) { os << skipped; }))
    return emitError(module.getLoc()) << "'builtin.module': can't write "
                                      << toString(std::move(error));
  return success();
}

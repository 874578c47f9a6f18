// A program of its own for each call of a kernel.

#include "compiler/driver/machines.h"
#include "compiler/driver/stages_dump.h"
#include "compiler/driver/stages_executables.h"
#include "compiler/driver/stages_file.h"
#include "compiler/driver/stages_sizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <variant>

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

/// A call whose numbers and sizes are all known.
struct KnownCall {
  SmallVector<int64_t> constants, workgroups, resultDims;
  SmallVector<Type> inputs, results;
};

/// The call, or why it can't stand alone.
std::variant<KnownCall, std::string> know(LaunchOp launch, KnownSizes &sizes) {
  KnownCall call;
  for (auto [values, types] :
       {std::pair(ValueRange(launch.getInputs()), &call.inputs),
        std::pair(ValueRange(launch.getResults()), &call.results)})
    for (Value value : values) {
      RankedTensorType type = sizes.evaluateType(value);
      if (!type)
        return "a size is only known when it runs: " +
               debugString(value.getType()) +
               "; --bench-dim=ARGUMENT.DIMENSION=N may give it";
      types->push_back(type);
    }
  for (auto [values, numbers] :
       {std::pair(ValueRange(launch.getConstants()), &call.constants),
        std::pair(ValueRange(launch.getWorkgroups()), &call.workgroups),
        std::pair(ValueRange(launch.getResultDims()), &call.resultDims)})
    for (Value value : values) {
      auto number = sizes.evaluate(value);
      if (!number)
        return std::string(
            "a number that it is passed is only known when it runs");
      numbers->push_back(*number);
    }
  return call;
}

OwningOpRef<ModuleOp> isolate(LaunchOp launch, const KnownCall &call,
                              ModuleOp whole) {
  Location location = launch.getLoc();
  OwningOpRef<ModuleOp> program = ModuleOp::create(location);
  copyMachine(whole, *program);
  OpBuilder builder = OpBuilder::atBlockEnd(program->getBody());
  StringAttr name = launch.getEntry().getRootReference();
  builder.clone(*whole.lookupSymbol<ExecutableOp>(name));
  auto function = builder.create<func::FuncOp>(
      location, "main", builder.getFunctionType(call.inputs, call.results));
  builder.setInsertionPointToStart(function.addEntryBlock());
  auto makeNumbers = [&](ArrayRef<int64_t> numbers) {
    SmallVector<Value> values;
    for (int64_t number : numbers)
      values.push_back(
          builder.create<arith::ConstantIndexOp>(location, number));
    return values;
  };
  // Where the kernel knows no size, the same bytes as a value of its type.
  auto view = [&](Value value, Type type) -> Value {
    if (value.getType() == type)
      return value;
    SmallVector<int64_t> dims;
    auto from = cast<RankedTensorType>(value.getType());
    auto to = cast<RankedTensorType>(type);
    for (auto [i, size] : llvm::enumerate(to.getShape()))
      if (ShapedType::isDynamic(size))
        dims.push_back(from.getShape()[i]);
    return builder.create<alula::dispatch::ViewOp>(location, type, value,
                                                   makeNumbers(dims));
  };
  // A value that is read twice is two arguments, and may differ.
  SmallVector<Value> inputs, results;
  for (auto [argument, input] :
       llvm::zip_equal(function.getArguments(), launch.getInputs()))
    inputs.push_back(view(argument, input.getType()));
  auto alone = builder.create<LaunchOp>(
      location, launch.getResultTypes(), launch.getEntryAttr(), inputs,
      makeNumbers(call.constants), makeNumbers(call.workgroups),
      makeNumbers(call.resultDims), launch.getInPlaceAttr());
  for (auto [result, type] : llvm::zip_equal(alone.getResults(), call.results))
    results.push_back(view(result, type));
  builder.create<func::ReturnOp>(location, results);
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
  KnownSizes sizes(options.dumps.benchmarkSizes);
  module.walk([&](LaunchOp launch) {
    StringAttr executable = launch.getEntry().getRootReference();
    auto call = know(launch, sizes);
    if (auto *reason = std::get_if<std::string>(&call)) {
      skipped += names[executable] + ": " + debugString(launch.getEntryAttr()) +
                 ": " + *reason + "\n";
      return;
    }
    OwningOpRef<ModuleOp> program =
        isolate(launch, std::get<KnownCall>(call), module);
    // Without locations: calls of two lines may be the same.
    std::string text;
    llvm::raw_string_ostream os(text);
    (*program)->print(os);
    auto [found, isNew] =
        benchmarks.insert({StringRef(text).copy(memory), Benchmark()});
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
    if (llvm::Error error =
            writeWholeInFolder(folder, name, [&](llvm::raw_ostream &os) {
              os << "// calls in the program: " << benchmark.calls << "\n";
              writeStage(*benchmark.program, Room::Dispatch, options, name, os);
            }))
      return emitError(module.getLoc())
             << "'builtin.module': can't write " << toString(std::move(error));
  }
  if (folder == "-")
    return success();
  if (llvm::Error error = writeWholeInFolder(
          folder, "skipped.txt", [&](llvm::raw_ostream &os) { os << skipped; }))
    return emitError(module.getLoc())
           << "'builtin.module': can't write " << toString(std::move(error));
  return success();
}

#include "compiler/driver/stages.h"

#include "compiler/dispatch/pipeline.h"
#include "compiler/driver/compile.h"
#include "compiler/input/pipeline.h"
#include "compiler/kernel/pipeline.h"
#include "compiler/optimize/pipeline.h"
#include "compiler/partition/pipeline.h"
#include "compiler/schedule/pipeline.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace alula;
using namespace alula::driver;

static void addInput(OpPassManager &pm, const CompileOptions &) {
  input::PipelineOptions options;
  options.lowerQuantized = true;
  options.dynamicShapes = true;
  input::addInputPipeline(pm, options);
  pm.addPass(createInlinerPass());
  pm.addPass(createSymbolDCEPass());
}

static void addDispatch(OpPassManager &pm, const CompileOptions &options) {
  partition::addCollectivesPipeline(pm);
  // Whoever supplies constants knows them as they were.
  dispatch::addDispatchPipeline(pm,
                                {.packWeights = options.externalFile.empty()});
}

template <void (*add)(OpPassManager &)>
static void addRoom(OpPassManager &pm, const CompileOptions &) {
  add(pm);
}

static constexpr Stage stages[roomCount] = {
    {Room::Input, "input", "", "legal StableHLO", addInput},
    {Room::Optimize, "optimize", "", "the same, less work",
     addRoom<optimize::addOptimizePipeline>},
    {Room::Partition, "partition", "", "what each device runs",
     addRoom<partition::addPartitionPipeline>},
    // Its passes, then what others do to each executable by itself.
    {Room::Dispatch, "dispatch", "executable-sources",
     "a host function and executables", addDispatch},
    // Here grids, tiles and scratch are chosen.
    {Room::Kernel, "kernel", "executable-configs", "executables as loops",
     addRoom<kernel::addKernelPipeline>},
    {Room::Schedule, "schedule", "", "the host as commands",
     addRoom<schedule::addSchedulePipeline>},
    {Room::Target, "target", "executable-targets", "machine code", nullptr},
    {Room::Emit, "emit", "", "the artifact", nullptr}};

const Stage &alula::driver::getStage(Room room) {
  return stages[static_cast<unsigned>(room)];
}

llvm::StringRef alula::driver::getRoomName(Room room) {
  return getStage(room).name;
}

std::optional<Room> alula::driver::findRoom(llvm::StringRef name) {
  for (const Stage &stage : stages)
    if (!name.empty() && (stage.name == name || stage.alias == name))
      return stage.room;
  return std::nullopt;
}

std::string alula::driver::listStages() {
  std::string text;
  for (const Stage &stage : stages) {
    text += (text.empty() ? "" : ", ") + stage.name.str();
    if (!stage.alias.empty())
      text += " (" + stage.alias.str() + ")";
  }
  return text;
}

std::string alula::driver::printPipeline(Room room,
                                         const CompileOptions &options) {
  if (!getStage(room).addPasses)
    return "";
  OpPassManager pm(ModuleOp::getOperationName());
  getStage(room).addPasses(pm, options);
  std::string text;
  llvm::raw_string_ostream os(text);
  pm.printAsTextualPipeline(os);
  return text;
}

Room alula::driver::getLastUse(llvm::StringRef flag) {
  for (StringRef prefix :
       {"substitute-executable-config", "substitute-executable-object",
        "substitute-missing", "object-path"})
    if (flag.starts_with(prefix))
      return Room::Kernel;
  for (StringRef prefix : {"preprocess-", "substitute-"})
    if (flag.starts_with(prefix))
      return Room::Dispatch;
  return Room::Emit;
}

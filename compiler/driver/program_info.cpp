// What the compiler can tell of a program besides its artifact.

#include "compiler/driver/program_info.h"

#include "compiler/driver/cost_analysis.h"
#include "compiler/driver/kernel_functions.h"
#include "compiler/partition/layout_mode.h"
#include "compiler/partition/placement.h"
#include "dialect/dispatch/ops.h"
#include "dialect/stablehlo/ops.h"
#include "dialect/vhlo/version.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>
#include <vector>

using namespace mlir;

static_assert(
    [] {
      constexpr uint32_t newest[] = {ALULA_STABLEHLO_NEWEST};
      constexpr uint32_t oldest[] = {ALULA_STABLEHLO_OLDEST};
      constexpr auto current = alula::vhlo::Version::current();
      constexpr auto minimum = alula::vhlo::Version::minimum();
      return newest[0] == current.major && newest[1] == current.minor &&
             newest[2] == current.patch && oldest[0] == minimum.major &&
             oldest[1] == minimum.minor && oldest[2] == minimum.patch;
    }(),
    "compiler.h says what the reader reads");

struct alula_program_info {
  std::string name;
  uint32_t flags = 0;
  std::vector<uint8_t> donated;
  std::vector<std::string> argumentMemories, resultMemories;
  std::vector<std::string> argumentLayouts, resultLayouts;
  std::vector<std::string> argumentShardings, resultShardings;
  /// What a request says, and what it is told.
  std::vector<std::pair<std::string, std::string>> shownShardings;
  std::vector<std::pair<std::string, double>> costs;
  std::vector<alula::driver::KernelDescription> kernels;
};

namespace {
bool isCollective(Operation *op) {
  StringRef name = op->getName().getStringRef();
  return llvm::is_contained(
      {"stablehlo.all_gather", "stablehlo.all_reduce", "stablehlo.all_to_all",
       "stablehlo.collective_broadcast", "stablehlo.collective_permute",
       "stablehlo.collective_reduce",
       "stablehlo.cross-replica-sum", "stablehlo.partition_id",
       "stablehlo.recv", "stablehlo.reduce_scatter", "stablehlo.replica_id",
       "stablehlo.send"},
      name);
}

bool callsBack(Operation *op) {
  if (isa<stablehlo::InfeedOp, stablehlo::OutfeedOp>(op))
    return true;
  auto call = dyn_cast<stablehlo::CustomCallOp>(op);
  if (!call)
    return false;
  // The functions of our own library compute and do nothing else.
  StringRef target = call.getCallTargetName();
  return target == "alula.python_callback" ||
         (!target.starts_with("alula.") &&
          target != "annotate_device_placement" &&
          target != "LayoutConstraint");
}

/// Whether code of other compilers is named by a path.
bool namesFiles(alula::dispatch::ExecutableOp executable) {
  bool names = false;
  executable->walk([&](Operation *op) {
    op->getAttrDictionary().walk([&](alula::dispatch::ObjectAttr object) {
      names |= !object.getData();
    });
  });
  return names;
}

/// "" for row-major, and for what the compiler was not asked to decide.
std::string readLayout(Attribute mode, Type type) {
  std::string error;
  auto read = alula::partition::readLayoutMode(mode, type, error);
  if (failed(read) || alula::partition::isRowMajor(read->order))
    return "";
  return alula::partition::printOrder(read->order);
}

void addLayouts(func::FuncOp main, alula_program_info &info) {
  constexpr StringRef mode = alula::partition::layoutModeName;
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    info.argumentLayouts.push_back(
        readLayout(main.getArgAttr(i, mode), main.getArgumentTypes()[i]));
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    info.resultLayouts.push_back(
        readLayout(main.getResultAttr(i, mode), main.getResultTypes()[i]));
  auto isOther = [](const std::string &text) { return !text.empty(); };
  if (llvm::any_of(info.argumentLayouts, isOther) ||
      llvm::any_of(info.resultLayouts, isOther))
    info.flags |= ALULA_PROGRAM_LAYOUTS;
}

std::string readMemory(Attribute kind) {
  auto text = dyn_cast_or_null<StringAttr>(kind);
  return text ? text.getValue().str() : std::string();
}

void addMemories(func::FuncOp main, alula_program_info &info) {
  constexpr StringRef kind = "mhlo.memory_kind";
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    info.argumentMemories.push_back(readMemory(main.getArgAttr(i, kind)));
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    info.resultMemories.push_back(readMemory(main.getResultAttr(i, kind)));
}

/// The parts of "{{replicated}, {devices=[2]0,1}}", or the text itself.
std::vector<std::string> splitTuple(StringRef text) {
  if (!text.starts_with("{{"))
    return {text.str()};
  std::vector<std::string> parts;
  int depth = 0;
  size_t begin = 0;
  for (auto [i, character] : llvm::enumerate(text)) {
    if (character == '{' && ++depth == 2)
      begin = i;
    if (character == '}' && depth-- == 2)
      parts.push_back(text.slice(begin, i + 1).str());
  }
  return parts;
}

/// As the partition room leaves them; deeper braces are within one sharding.
void addShardings(ModuleOp module, func::FuncOp main,
                  alula_program_info &info) {
  auto arguments =
      module->getAttrOfType<ArrayAttr>(alula::partition::argumentShardingsName);
  auto results =
      module->getAttrOfType<StringAttr>(alula::partition::resultShardingsName);
  if (!arguments || !results)
    return;
  for (Attribute argument : arguments)
    if (auto text = dyn_cast<StringAttr>(argument))
      info.argumentShardings.push_back(text.getValue().str());
  if (main.getNumResults() > 0)
    info.resultShardings = splitTuple(results.getValue());
}

void addCosts(const alula::driver::Costs &costs, alula_program_info &info) {
  info.costs = {{"flops", costs.flops},
                {"transcendentals", costs.transcendentals},
                {"bytes accessed", costs.bytesAccessed},
                {"bytes accessedout{}", costs.resultBytes}};
  for (auto [i, bytes] : llvm::enumerate(costs.argumentBytes))
    info.costs.emplace_back("bytes accessed" + std::to_string(i) + "{}", bytes);
  if (costs.isUnknown)
    info.flags |= ALULA_PROGRAM_UNKNOWN_COST;
}
} // namespace

bool alula::driver::programReadsFiles(ModuleOp module) {
  return llvm::any_of(module.getOps<alula::dispatch::ExecutableOp>(),
                      namesFiles);
}

alula_program_info *alula::driver::inspectProgram(ModuleOp module) {
  auto *info = new alula_program_info;
  info->name = module.getSymName().value_or("main").str();
  module.walk([&](Operation *op) {
    if (isCollective(op))
      info->flags |= ALULA_PROGRAM_COLLECTIVE;
    if (callsBack(op))
      info->flags |= ALULA_PROGRAM_CALLS_BACK;
  });
  if (programReadsFiles(module))
    info->flags |= ALULA_PROGRAM_READS_FILES;
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal())
    return info;
  for (unsigned i = 0; i < main.getNumArguments(); ++i) {
    auto donor = main.getArgAttrOfType<BoolAttr>(i, "jax.buffer_donor");
    info->donated.push_back((donor && donor.getValue()) ||
                            main.getArgAttr(i, "tf.aliasing_output"));
  }
  addMemories(main, *info);
  addShardings(module, main, *info);
  addLayouts(main, *info);
  addCosts(analyzeCosts(main), *info);
  return info;
}

void alula::driver::takeShownShardings(ModuleOp module,
                                       alula_program_info &info) {
  auto all = dyn_cast_or_null<ArrayAttr>(
      module->removeAttr(alula::partition::shownShardingsName));
  for (Attribute shown : all ? all.getValue() : ArrayRef<Attribute>()) {
    auto pair = dyn_cast<ArrayAttr>(shown);
    if (!pair || pair.size() != 2)
      continue;
    auto request = dyn_cast<StringAttr>(pair[0]),
         text = dyn_cast<StringAttr>(pair[1]);
    if (request && text)
      info.shownShardings.emplace_back(request.getValue(), text.getValue());
  }
}

void alula::driver::addKernels(ModuleOp module, alula_program_info &info) {
  info.kernels = describeKernels(module);
}

int alula_program_info_get_kernel(const alula_program_info *info,
                                  uint32_t index, alula_kernel_info *kernel) {
  if (index >= info->kernels.size())
    return 0;
  const auto &found = info->kernels[index];
  alula_kernel_info told = {
      kernel->struct_bytes,        found.name.c_str(),
      found.operations.c_str(),    found.sourceName.c_str(),
      found.source.c_str(),        found.costs.flops,
      found.costs.transcendentals, found.costs.bytesAccessed,
      found.typedOperations.c_str()};
  memcpy(kernel, &told, std::min(kernel->struct_bytes, sizeof told));
  return 1;
}

void alula_program_info_destroy(alula_program_info *info) { delete info; }

const char *alula_program_info_get_name(const alula_program_info *info) {
  return info->name.c_str();
}

uint32_t alula_program_info_get_flags(const alula_program_info *info) {
  return info->flags;
}

uint32_t alula_program_info_get_argument_count(const alula_program_info *info) {
  return static_cast<uint32_t>(info->donated.size());
}

uint32_t alula_program_info_get_result_count(const alula_program_info *info) {
  return static_cast<uint32_t>(info->resultMemories.size());
}

int alula_program_info_is_donated(const alula_program_info *info,
                                  uint32_t argument) {
  return argument < info->donated.size() && info->donated[argument];
}

const char *
alula_program_info_get_argument_memory(const alula_program_info *info,
                                       uint32_t argument) {
  const auto &all = info->argumentMemories;
  return argument < all.size() ? all[argument].c_str() : "";
}

const char *alula_program_info_get_result_memory(const alula_program_info *info,
                                                 uint32_t result) {
  const auto &all = info->resultMemories;
  return result < all.size() ? all[result].c_str() : "";
}

const char *
alula_program_info_get_argument_layout(const alula_program_info *info,
                                       uint32_t argument) {
  const auto &all = info->argumentLayouts;
  return argument < all.size() ? all[argument].c_str() : "";
}

const char *alula_program_info_get_result_layout(const alula_program_info *info,
                                                 uint32_t result) {
  const auto &all = info->resultLayouts;
  return result < all.size() ? all[result].c_str() : "";
}

const char *
alula_program_info_get_argument_sharding(const alula_program_info *info,
                                         uint32_t argument) {
  const auto &all = info->argumentShardings;
  return argument < all.size() ? all[argument].c_str() : nullptr;
}

const char *
alula_program_info_get_result_sharding(const alula_program_info *info,
                                       uint32_t result) {
  const auto &all = info->resultShardings;
  return result < all.size() ? all[result].c_str() : nullptr;
}

int alula_program_info_get_shown_sharding(const alula_program_info *info,
                                          uint32_t index, const void **request,
                                          size_t *request_bytes,
                                          const char **sharding) {
  if (index >= info->shownShardings.size())
    return 0;
  const auto &[asked, told] = info->shownShardings[index];
  *request = asked.data();
  *request_bytes = asked.size();
  *sharding = told.c_str();
  return 1;
}

int alula_program_info_get_cost(const alula_program_info *info, uint32_t index,
                                const char **name, double *value) {
  if (index >= info->costs.size())
    return 0;
  *name = info->costs[index].first.c_str();
  *value = info->costs[index].second;
  return 1;
}

#include "compiler/driver/targets.h"

#include "compiler/target/cpu/library.h"
#include "compiler/target/cpu/machine.h"
#include "dialect/dispatch/ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace llvm;

/// Those that are not of this compiler, or that nobody knows, have no place
/// among others: who needs them says so later.
static std::optional<alula::cpu::Machine> findCpu(StringRef target) {
  auto [kind, name] = target.split(':');
  if (kind != "cpu")
    return std::nullopt;
  auto machine = alula::cpu::findMachine(name);
  if (machine)
    return *machine;
  consumeError(machine.takeError());
  return std::nullopt;
}

/// Where a target stands among those of its kind that a machine could take,
/// best first, and what they have in common.
static std::optional<std::pair<std::string, unsigned>>
findRank(StringRef target) {
  if (auto machine = findCpu(target)) {
    auto rank = alula::cpu::getRank(*machine);
    return rank ? std::optional(std::pair(machine->target, *rank))
                : std::nullopt;
  }
  // The latest chip; of one chip, what is made for it alone.
  if (!target.consume_front("cuda:sm_"))
    return std::nullopt;
  unsigned number = 0;
  if (target.consumeInteger(10, number) || number > 9999 ||
      !is_contained({"", "a", "f"}, target))
    return std::nullopt;
  unsigned scope = target == "a" ? 0 : target == "f" ? 1 : 2;
  return std::pair(std::string("cuda"), (9999 - number) * 3 + scope);
}

void alula::driver::settleTargets(std::vector<std::string> &targets,
                                  StringRef byDefault) {
  if (targets.empty())
    targets.push_back(byDefault.str());
  std::vector<std::string> all;
  auto add = [&](const std::string &target) {
    if (!is_contained(all, target))
      all.push_back(target);
  };
  for (const std::string &target : targets) {
    if (target != "cpu:portable")
      add(target);
    else
      for (const std::string &name : cpu::listPortable())
        add("cpu:" + name);
  }
  // By instruction set: the places that its machines take, and these.
  using Ranked = std::pair<unsigned, size_t>;
  std::map<std::string, std::pair<std::vector<size_t>, std::vector<Ranked>>>
      sets;
  for (size_t i = 0; i < all.size(); ++i)
    if (auto found = findRank(all[i])) {
      auto &[places, ranked] = sets[found->first];
      places.push_back(i);
      ranked.push_back({found->second, i});
    }
  targets = all;
  for (auto &[name, set] : sets) {
    auto &[places, ranked] = set;
    llvm::sort(ranked);
    for (auto [place, one] : zip_equal(places, ranked))
      targets[place] = all[one.second];
  }
}

static bool multipliesBytes(alula::dispatch::ExecutableOp executable) {
  return executable
      ->walk([](mlir::func::CallOp call) {
        return alula::cpu::multipliesBytes(call.getCallee())
                   ? mlir::WalkResult::interrupt()
                   : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

std::vector<std::string>
alula::driver::addByteLevels(mlir::ModuleOp module,
                             ArrayRef<std::string> targets) {
  std::vector<std::string> all = targets.vec();
  if (!all_of(cpu::listPortable(), [&](const std::string &name) {
        return is_contained(targets, "cpu:" + name);
      }))
    return all;
  bool isWorthIt = false;
  for (auto executable : module.getOps<dispatch::ExecutableOp>()) {
    if (executable.getObjects() && !executable.getObjects()->empty())
      return all;
    isWorthIt |= multipliesBytes(executable);
  }
  if (!isWorthIt)
    return all;
  for (const std::string &name : cpu::listByteLevels())
    all.push_back("cpu:" + name);
  settleTargets(all, "");
  return all;
}

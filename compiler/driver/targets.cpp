#include "compiler/driver/targets.h"

#include "compiler/target/cpu/machine.h"

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
    if (auto machine = findCpu(all[i]))
      if (auto rank = cpu::getRank(*machine)) {
        auto &[places, ranked] = sets[machine->target];
        places.push_back(i);
        ranked.push_back({*rank, i});
      }
  targets = all;
  for (auto &[name, set] : sets) {
    auto &[places, ranked] = set;
    llvm::sort(ranked);
    for (auto [place, one] : zip_equal(places, ranked))
      targets[place] = all[one.second];
  }
}

#include "compiler/plugin/order.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace alula::plugin;

namespace {
using Plugins = std::vector<std::unique_ptr<Plugin>>;

ArrayRef<const char *> getAfter(const Plugin &plugin) {
  return ArrayRef(plugin.table.after, plugin.table.n_after);
}

bool isBefore(const std::unique_ptr<Plugin> &a,
              const std::unique_ptr<Plugin> &b) {
  auto makeKey = [](const Plugin &plugin) {
    return std::make_tuple(!plugin.isActive, plugin.foundBy != FoundBy::Static,
                           plugin.rank, plugin.getId());
  };
  return makeKey(*a) < makeKey(*b);
}

Error checkNeeds(const PluginSet &set) {
  for (const auto &plugin : set.plugins) {
    if (!plugin->isActive)
      continue;
    for (StringRef id : getAfter(*plugin)) {
      const Plugin *needed = set.find(id);
      if (!needed || !needed->isActive)
        return makeProblem("plug-missing-dep",
                           "plugin '" + plugin->getId() + "' needs '" + id +
                               "', which is not " +
                               (needed ? "active: --plugin=" + id.str()
                                       : std::string("loaded")));
    }
  }
  return Error::success();
}

bool isReady(const Plugin &plugin, const Plugins &done) {
  return all_of(getAfter(plugin), [&](StringRef id) {
    return any_of(done,
                  [&](const auto &other) { return other->getId() == id; });
  });
}
} // namespace

Error alula::plugin::sortPlugins(PluginSet &set) {
  if (Error error = checkNeeds(set))
    return error;
  Plugins left = std::move(set.plugins), done;
  llvm::sort(left, isBefore);
  while (!left.empty()) {
    auto next = find_if(left, [&](const auto &plugin) {
      return !plugin->isActive || isReady(*plugin, done);
    });
    if (next == left.end()) {
      std::string ids;
      for (const auto &plugin : left)
        ids += (ids.empty() ? "" : ", ") + plugin->getId().str();
      return makeProblem("plug-cycle",
                         "each of these plugins wants to come after another: " +
                             ids);
    }
    done.push_back(std::move(*next));
    left.erase(next);
  }
  set.plugins = std::move(done);
  return Error::success();
}

#include "compiler/plugin/table.h"

#include "compiler/plugin/build_key.h"
#include "compiler/plugin/hook.h"
#include "compiler/plugin/options.h"

#include "llvm/ADT/StringExtras.h"

#include <cstring>

using namespace llvm;
using namespace alula::plugin;

namespace {
/// What there is of a table; the rest stays zero.
template <typename Table> Table readSized(const Table *given) {
  Table table = {};
  memcpy(&table, given, std::min<size_t>(given->struct_size, sizeof table));
  return table;
}

/// Tables that stand one after the other, each as long as it says.
template <typename Table>
std::vector<Table> readArray(const Table *given, uint32_t count) {
  std::vector<Table> tables;
  auto *bytes = reinterpret_cast<const char *>(given);
  for (uint32_t i = 0; i < count; ++i) {
    auto *entry = reinterpret_cast<const Table *>(bytes);
    tables.push_back(readSized(entry));
    bytes += entry->struct_size;
  }
  return tables;
}

bool isId(StringRef id) {
  return !id.empty() && id.size() <= 32 && isLower(id[0]) &&
         all_of(id, [](char c) {
           return isLower(c) || isDigit(c) || c == '_' || c == '-';
         });
}

std::string printVersion(uint16_t major, uint16_t minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

Error checkStages(const Plugin &plugin) {
  for (StringRef stage : ArrayRef(plugin.hooks.stages, plugin.hooks.n_stages)) {
    if (!is_contained(getStageNames(), stage))
      return makeProblem("plug-abi", "plugin '" + plugin.getId() +
                                         "': there is no stage '" + stage +
                                         "': there are " +
                                         join(getStageNames(), ", "));
    if (plugin.table.activation == ALULA_ACTIVE_DEFAULT &&
        !stage.starts_with("input.") && !stage.starts_with("target."))
      return makeProblem("plug-abi", "plugin '" + plugin.getId() +
                                         "' is active by default and so may "
                                         "not take part in stage '" +
                                         stage + "'");
  }
  if (plugin.hooks.n_stages && !plugin.hooks.pipeline && !plugin.hooks.rewrite)
    return makeProblem("plug-abi", "plugin '" + plugin.getId() +
                                       "' names stages and has no hook");
  return Error::success();
}

Error checkTier(const Plugin &plugin) {
  bool hasMlir =
      plugin.hooks.dialects || plugin.hooks.passes || plugin.hooks.pipeline;
  if (plugin.table.tier == ALULA_TIER_C && !hasMlir)
    return Error::success();
  if (plugin.table.tier != ALULA_TIER_M)
    return makeProblem("plug-abi",
                       "plugin '" + plugin.getId() + "': tier " +
                           Twine(plugin.table.tier) +
                           (hasMlir ? " has no hooks that take MLIR's objects"
                                    : ": there are 1 and 2"));
  if (Error error = compareBuildKeys(
          plugin.path, plugin.table.build_key ? plugin.table.build_key : ""))
    return error;
  if (plugin.table.mlir_anchor != getAnchor())
    return makeProblem("plug-two-mlirs",
                       plugin.path +
                           ": carries an MLIR of its own, and its passes would "
                           "be known to that one alone; link libMLIR.so");
  return Error::success();
}
} // namespace

Error alula::plugin::readTable(alula_plugin_query_function query,
                               HostVersion host, Plugin &plugin) {
  const alula_plugin *given = nullptr;
  if (std::optional<std::string> crash = callHook(
          plugin.path, "query", [&] { given = query(host.major, host.minor); }))
    return makeProblem("plug-abi", plugin.path + ": " + *crash);
  std::string ours = printVersion(host.major, host.minor);
  if (!given)
    return makeProblem("plug-abi", plugin.path +
                                       ": speaks no version of the interface "
                                       "that we do, which is " +
                                       ours);
  if (given->abi_major != host.major)
    return makeProblem("plug-abi",
                       plugin.path + ": speaks version " +
                           printVersion(given->abi_major, given->abi_minor) +
                           " of the interface, we " + ours);
  if (given->struct_size < offsetof(alula_plugin, version))
    return makeProblem("plug-abi", plugin.path + ": its table has " +
                                       Twine(given->struct_size) +
                                       " bytes, too few for an id");
  plugin.table = readSized(given);
  if (!plugin.table.id || !isId(plugin.table.id))
    return makeProblem("plug-abi",
                       plugin.path + ": '" +
                           (plugin.table.id ? plugin.table.id : "") +
                           "' is no id: [a-z][a-z0-9_-]{0,31}");
  if (plugin.table.hooks)
    plugin.hooks = readSized(plugin.table.hooks);
  if (plugin.table.options)
    plugin.options = readArray(plugin.table.options, plugin.table.n_options);
  for (uint32_t i = 0; plugin.hooks.targets && i < plugin.hooks.n_targets; ++i)
    plugin.targets.push_back(readSized(plugin.hooks.targets[i]));
  if (Error error = checkTier(plugin))
    return error;
  if (Error error = checkStages(plugin))
    return error;
  return checkOptions(plugin);
}

#include "compiler/plugin/listing.h"

#include "compiler/plugin/options.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace alula::plugin;

namespace {
StringRef printTier(const Plugin &plugin) {
  return plugin.table.tier == ALULA_TIER_M ? "M" : "C";
}

json::Object toJson(const alula_option &option) {
  json::Object object{
      {"name", option.name},
      {"type", getTypeName(option)},
      {"default", option.default_value ? option.default_value : ""},
      {"help", option.help ? option.help : ""}};
  if (option.minimum)
    object["minimum"] = option.minimum;
  if (option.maximum)
    object["maximum"] = option.maximum;
  json::Array choices;
  for (uint32_t i = 0; i < option.n_choices; ++i)
    choices.push_back(option.choices[i]);
  if (!choices.empty())
    object["choices"] = std::move(choices);
  return object;
}

json::Object toJson(const Plugin &plugin) {
  json::Array options, stages, targets, after;
  for (const alula_option &option : plugin.options)
    options.push_back(toJson(option));
  for (uint32_t i = 0; i < plugin.hooks.n_stages; ++i)
    stages.push_back(plugin.hooks.stages[i]);
  for (const alula_target &target : plugin.targets)
    targets.push_back(target.name);
  for (uint32_t i = 0; i < plugin.table.n_after; ++i)
    after.push_back(plugin.table.after[i]);
  return json::Object{
      {"id", plugin.table.id},
      {"version", plugin.table.version},
      {"description", plugin.table.description},
      {"tier", printTier(plugin)},
      {"path", plugin.path},
      {"found", getName(plugin.foundBy)},
      {"active", plugin.isActive},
      {"default", plugin.table.activation == ALULA_ACTIVE_DEFAULT},
      {"options", std::move(options)},
      {"stages", std::move(stages)},
      {"targets", std::move(targets)},
      {"after", std::move(after)}};
}
} // namespace

std::string alula::plugin::printPlugins(const PluginSet &set) {
  std::string text;
  raw_string_ostream os(text);
  for (const auto &plugin : set.plugins) {
    os << plugin->getId() << " " << plugin->table.version << ", tier "
       << printTier(*plugin) << ", " << (plugin->isActive ? "" : "not ")
       << "active: " << plugin->table.description << "\n  "
       << getName(plugin->foundBy) << " " << plugin->path << "\n";
    for (const alula_option &option : plugin->options)
      os << "  --" << plugin->getId() << "-" << option.name << "=<"
         << getTypeName(option) << "> "
         << (option.default_value ? option.default_value : "") << ": "
         << (option.help ? option.help : "") << "\n";
  }
  for (const std::string &note : set.notes)
    os << note << "\n";
  return text;
}

std::string alula::plugin::printPluginsAsJson(const PluginSet &set) {
  json::Array plugins;
  for (const auto &plugin : set.plugins)
    plugins.push_back(toJson(*plugin));
  json::Array notes;
  for (const std::string &note : set.notes)
    notes.push_back(note);
  std::string text;
  raw_string_ostream os(text);
  os << formatv("{0:2}",
                json::Value(json::Object{{"plugins", std::move(plugins)},
                                         {"notes", std::move(notes)}}))
     << "\n";
  return text;
}

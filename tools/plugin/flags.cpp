#include "tools/plugin/flags.h"

#include "compiler/plugin/listing.h"
#include "compiler/plugin/options.h"
#include "compiler/plugin/stage.h"

#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/StringSaver.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace llvm;
using namespace alula::plugin;
using namespace alula::tools;

/// --ID-NAME=VALUE
struct PluginFlags::OptionFlag {
  OptionFlag(const Plugin &plugin, const alula_option &option)
      : id(plugin.table.id), name(option.name), flagName(id + "-" + name),
        help((option.help ? option.help : "") +
             (option.default_value && *option.default_value
                  ? std::string(" (") + option.default_value + ")"
                  : "")),
        valueName(getTypeName(option).str()),
        flag(StringRef(flagName), cl::desc(help), cl::value_desc(valueName),
             option.type == ALULA_OPTION_BOOL ? cl::ValueOptional
                                              : cl::ValueRequired) {}
  std::string id, name, flagName, help, valueName;
  cl::list<std::string> flag;
};

namespace {
/// The words with what response files hold in their place.
SmallVector<const char *> expand(int argc, const char *const *argv,
                                 StringSaver &saver) {
  SmallVector<const char *> words(argv + 1, argv + argc);
  cl::ExpandResponseFiles(saver, cl::TokenizeGNUCommandLine, words);
  return words;
}

/// Values of --name=value and --name value.
std::vector<std::string> findValues(ArrayRef<const char *> words,
                                    StringRef name) {
  std::vector<std::string> values;
  for (size_t i = 0; i < words.size() && StringRef(words[i]) != "--"; ++i) {
    StringRef word = words[i];
    if (!word.consume_front("-"))
      continue;
    word.consume_front("-");
    if (!word.consume_front(name))
      continue;
    if (word.consume_front("="))
      values.push_back(word.str());
    else if (word.empty() && i + 1 < words.size())
      values.push_back(words[++i]);
  }
  return values;
}

/// As a shell reads it; the tool by its full path.
std::string quote(int argc, const char *const *argv) {
  static char here;
  std::string text;
  for (int i = 0; i < argc; ++i) {
    std::string word = i ? argv[i] : sys::fs::getMainExecutable(nullptr, &here);
    text += i ? " '" : "'";
    for (char c : word)
      text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += "'";
  }
  return text;
}

bool hasFlag(ArrayRef<const char *> words, StringRef name) {
  return any_of(words, [&](StringRef word) {
    return word.consume_front("-") &&
           (word == name || (word.consume_front("-") && word == name));
  });
}

std::string findInstalled() {
  static char here;
  SmallString<128> path(sys::path::parent_path(
      sys::path::parent_path(sys::fs::getMainExecutable(nullptr, &here))));
  sys::path::append(path, "lib", "alula", "plugins");
  return path.str().str();
}
} // namespace

Error PluginFlags::load(int argc, const char *const *argv) {
  BumpPtrAllocator allocator;
  StringSaver saver(allocator);
  SmallVector<const char *> words = expand(argc, argv, saver);
  command = quote(argc, argv);
  LoadOptions options;
  options.files = findValues(words, files.ArgStr);
  options.passFiles = findValues(words, passFiles.ArgStr);
  options.folders = findValues(words, folders.ArgStr);
  options.selected = findValues(words, selected.ArgStr);
  options.isolated = findValues(words, isolated.ArgStr);
  options.noDefaults = hasFlag(words, noDefaults.ArgStr);
  options.defaultFolder = findInstalled();
  options.linked = getLinkedPlugins();
  if (const char *path = getenv("ALULA_PLUGIN_PATH"))
    options.environment = path;
  auto loaded = loadPlugins(options);
  if (!loaded)
    return loaded.takeError();
  set = *loaded;
  return declareOptions();
}

Error PluginFlags::declareOptions() {
  for (const auto &plugin : set->plugins)
    for (const alula_option &option : plugin->options) {
      std::string name = (plugin->getId() + "-" + option.name).str();
      if (cl::getRegisteredOptions().count(name) ||
          mlir::PassInfo::lookup(name) || mlir::PassPipelineInfo::lookup(name))
        return makeProblem("plug-duplicate", "plugin '" + plugin->getId() +
                                                 "': there is another flag --" +
                                                 name);
      optionFlags.push_back(std::make_shared<OptionFlag>(*plugin, option));
    }
  return Error::success();
}

std::vector<alula::options::Option> PluginFlags::getRows() const {
  std::vector<options::Option> rows;
  for (const auto &option : optionFlags)
    rows.push_back({option->flagName.c_str(), option->valueName.c_str(),
                    "Options of plugins", option->help.c_str(),
                    option->flag.getValueExpectedFlag() == cl::ValueOptional
                        ? options::Takes::MaybeValue
                        : options::Takes::Value});
  return rows;
}

Error PluginFlags::registerAll(mlir::DialectRegistry &registry) const {
  if (Error error = addDialects(*set, registry))
    return error;
  if (Error error = registerPasses(*set))
    return error;
  for (const auto &option : optionFlags)
    if (mlir::PassInfo::lookup(option->flagName))
      return makeProblem("plug-duplicate", "option --" + option->flagName +
                                               " of plugin '" + option->id +
                                               "' is a pass too");
  return Error::success();
}

bool PluginFlags::printList() const {
  if (!list.getNumOccurrences())
    return false;
  outs() << (list == "json" ? printPluginsAsJson(*set) : printPlugins(*set));
  return true;
}

Expected<std::shared_ptr<Session>> PluginFlags::createSession() const {
  std::vector<OptionSetting> all;
  for (const std::string &text : settings) {
    Expected<OptionSetting> setting = readSetting(text);
    if (!setting)
      return setting.takeError();
    all.push_back(*setting);
  }
  for (const auto &option : optionFlags)
    for (const std::string &value : option->flag)
      all.push_back({option->id, option->name, value.empty() ? "true" : value});
  auto session = Session::create(set, all);
  if (session)
    (*session)->command = command;
  if (session)
    (*session)->isolate =
        [seconds = double(timeout)](const Session::Instance &instance,
                                    const alula_stage &stage, StringRef input) {
          return runIsolated(instance, stage, input, seconds);
        };
  return session;
}

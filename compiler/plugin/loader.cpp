#include "compiler/plugin/loader.h"

#include "compiler/plugin/hook.h"
#include "compiler/plugin/library_file.h"
#include "compiler/plugin/order.h"
#include "compiler/plugin/table.h"

#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace alula::plugin;

namespace {
std::vector<std::string> listOptionNames() {
  std::vector<std::string> names;
  for (const auto &entry : cl::getRegisteredOptions())
    names.push_back(entry.getKey().str());
  return names;
}

/// Loads it in a child first: an option that exists already ends the process.
Error tryInChild(const std::string &path) {
  pid_t child = fork();
  if (child == 0) {
    int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    for (int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE})
      ::signal(signal, SIG_DFL);
    dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    _exit(0);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || status == 0)
    return Error::success();
  return makeProblem("plug-duplicate",
                     path + ": defines a command-line option of LLVM's kind "
                            "that there is already, which would end this "
                            "process; options belong in the plugin's table");
}

class Loader {
public:
  explicit Loader(const LoadOptions &options) : options(options) {}

  Expected<std::shared_ptr<const PluginSet>> run() {
    if (Error error = loadAll())
      return error;
    if (Error error = select())
      return error;
    if (Error error = sortPlugins(*set))
      return error;
    if (Error error = checkTargets())
      return error;
    return set;
  }

private:
  Error loadAll() {
    for (const StaticPlugin &linked : options.linked) {
      auto plugin = std::make_unique<Plugin>();
      plugin->path = linked.name;
      if (Error error = readTable(linked.query, options.host, *plugin))
        return error;
      plugin->path.clear();
      plugin->rank = static_cast<unsigned>(options.selected.size());
      if (Error error = add(std::move(plugin)))
        return error;
    }
    for (StringRef file : options.files)
      if (Error error = loadNamed(file))
        return error;
    ++rank;
    for (StringRef file : options.passFiles)
      if (Error error = loadFile(file, FoundBy::Flag, /*passesOnly=*/true))
        return error;
    SmallVector<StringRef> entries;
    StringRef(options.environment).split(entries, ':', -1, /*KeepEmpty=*/false);
    for (StringRef entry : entries) {
      ++rank;
      if (Error error = sys::fs::is_directory(entry)
                            ? loadFolder(entry, FoundBy::Environment)
                            : loadFile(entry, FoundBy::Environment))
        return error;
    }
    for (StringRef folder : options.folders) {
      ++rank;
      if (Error error = loadFolder(folder, FoundBy::Folder))
        return error;
    }
    ++rank;
    if (!options.noDefaults && !options.defaultFolder.empty() &&
        sys::fs::is_directory(options.defaultFolder))
      return loadFolder(options.defaultFolder, FoundBy::Folder);
    return Error::success();
  }

  Error loadNamed(StringRef text) {
    ++rank;
    auto [path, query] = text.split('?');
    bool isRequired = true;
    if (query == "required=0")
      isRequired = false;
    else if (!query.empty() && query != "required=1")
      return makeProblem("plug-open", "--load-plugin=" + text +
                                          ": after '?' there may be "
                                          "required=0 or required=1");
    Error error = loadFile(path, FoundBy::Flag);
    if (error && !isRequired) {
      set->notes.push_back("left out: " + toString(std::move(error)));
      return Error::success();
    }
    return error;
  }

  Error loadFolder(StringRef folder, FoundBy foundBy) {
    if (std::string why = findLooseness(folder); !why.empty())
      return makeProblem("plug-open", "folder " + folder + ": " + why);
    std::vector<std::string> files;
    std::error_code code;
    for (sys::fs::directory_iterator i(folder, code), end; i != end && !code;
         i.increment(code)) {
      StringRef name = sys::path::filename(i->path());
      if (name.starts_with("alula-plugin-") && name.ends_with(".so"))
        files.push_back(i->path());
    }
    if (code)
      return makeProblem("plug-open",
                         "folder " + folder + ": " + code.message());
    llvm::sort(files);
    for (const std::string &file : files) {
      if (std::string why = findLooseness(file); !why.empty())
        return makeProblem("plug-open", file + ": " + why);
      if (Error error = loadFile(file, foundBy))
        return error;
    }
    return Error::success();
  }

  Error loadFile(StringRef given, FoundBy foundBy, bool passesOnly = false) {
    SmallString<256> path;
    if (std::error_code code = sys::fs::real_path(given, path))
      return makeProblem("plug-open", given + ": " + code.message());
    for (const auto &other : set->plugins)
      if (other->path == path)
        return Error::success();
    Expected<LibraryFile> file = readLibraryFile(path);
    if (!file)
      return file.takeError();
    if (!passesOnly && !file->hasEntry)
      return makeProblem("plug-no-entry",
                         path + ": has no function alula_plugin_query" +
                             (file->hasPassEntry
                                  ? "; it is a pass plugin of MLIR's kind: "
                                    "--load-mlir-plugin takes it"
                                  : ""));
    if (passesOnly && !file->hasPassEntry)
      return makeProblem("plug-no-entry",
                         path + ": has no function mlirGetPassPluginInfo");
    Expected<void *> handle = open(std::string(path), file->usesOptions);
    if (!handle)
      return handle.takeError();
    auto plugin = std::make_unique<Plugin>();
    plugin->path = std::string(path);
    plugin->foundBy = foundBy;
    plugin->rank = rank;
    if (Error error = passesOnly ? readPasses(*handle, *plugin)
                                 : readEntry(*handle, *plugin))
      return error;
    return add(std::move(plugin));
  }

  Expected<void *> open(const std::string &path, bool usesOptions) {
    if (usesOptions)
      if (Error error = tryInChild(path))
        return error;
    std::vector<std::string> before = listOptionNames();
    void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      return makeProblem("plug-open", dlerror());
    for (const std::string &name : listOptionNames())
      if (!is_contained(before, name))
        return makeProblem("plug-option",
                           path + ": defines the command-line option '" + name +
                               "' of LLVM's kind; options belong in the "
                               "plugin's table");
    return handle;
  }

  Error readEntry(void *handle, Plugin &plugin) {
    void *entry = dlsym(handle, "alula_plugin_query");
    if (!entry)
      return makeProblem("plug-no-entry",
                         plugin.path + ": has no function alula_plugin_query");
    return readTable(reinterpret_cast<alula_plugin_query_function>(entry),
                     options.host, plugin);
  }

  Error readPasses(void *handle, Plugin &plugin) {
    using Entry = mlir::PassPluginLibraryInfo (*)();
    auto entry =
        reinterpret_cast<Entry>(dlsym(handle, "mlirGetPassPluginInfo"));
    mlir::PassPluginLibraryInfo info = entry();
    if (info.apiVersion != MLIR_PLUGIN_API_VERSION)
      return makeProblem("plug-abi", plugin.path + ": speaks version " +
                                         Twine(info.apiVersion) +
                                         " of MLIR's interface, we " +
                                         Twine(MLIR_PLUGIN_API_VERSION));
    for (char c : StringRef(info.pluginName))
      plugin.foreignName += isAlnum(c) ? toLower(c) : '-';
    plugin.foreignVersion = info.pluginVersion ? info.pluginVersion : "";
    plugin.table.id = plugin.foreignName.c_str();
    plugin.table.version = plugin.foreignVersion.c_str();
    plugin.table.tier = ALULA_TIER_M;
    plugin.registerPasses = info.registerPassRegistryCallbacks;
    return Error::success();
  }

  Error add(std::unique_ptr<Plugin> plugin) {
    if (const Plugin *other = set->find(plugin->getId())) {
      // Who names a file means that file.
      if (other->foundBy == FoundBy::Static && plugin->foundBy == FoundBy::Flag)
        return makeProblem(
            "plug-duplicate",
            "plugin '" + plugin->getId() +
                "' is a part of this tool, --plugin=" + plugin->getId() +
                ", and is brought by " + plugin->path);
      if (other->foundBy == plugin->foundBy)
        return makeProblem("plug-duplicate",
                           "there are two plugins '" + plugin->getId() +
                               "': " + other->path + " and " + plugin->path);
      set->notes.push_back("left out: " + plugin->path + ": '" +
                           plugin->getId().str() + "' is " +
                           (other->path.empty() ? "linked in" : other->path));
      return Error::success();
    }
    if (!plugin->table.version)
      plugin->table.version = "";
    if (!plugin->table.description)
      plugin->table.description = "";
    plugin->isActive = plugin->foundBy == FoundBy::Flag ||
                       plugin->table.activation == ALULA_ACTIVE_DEFAULT;
    set->plugins.push_back(std::move(plugin));
    return Error::success();
  }

  Expected<Plugin *> findSelected(StringRef flag, StringRef id) {
    for (const auto &plugin : set->plugins)
      if (plugin->getId() == id)
        return plugin.get();
    std::string known;
    for (const auto &plugin : set->plugins)
      known += (known.empty() ? "; there is " : ", ") + plugin->getId().str();
    return makeProblem("plug-option",
                       flag + ": no plugin '" + id + "' is loaded" + known);
  }

  Error select() {
    for (auto [i, text] : enumerate(options.selected)) {
      StringRef word = text, id = word;
      bool isActive = !id.consume_front("-");
      // What is not there need not be suppressed.
      Expected<Plugin *> plugin = findSelected("--plugin=" + word.str(), id);
      if (plugin) {
        (*plugin)->isActive = isActive;
        // Nothing else says in which order linked ones are asked for.
        if ((*plugin)->foundBy == FoundBy::Static)
          (*plugin)->rank = static_cast<unsigned>(i);
      } else if (isActive)
        return plugin.takeError();
      else
        consumeError(plugin.takeError());
    }
    for (StringRef id : options.isolated) {
      Expected<Plugin *> plugin =
          findSelected("--plugin-isolate=" + id.str(), id);
      if (!plugin)
        return plugin.takeError();
      if ((*plugin)->table.tier != ALULA_TIER_C || (*plugin)->path.empty())
        return makeProblem("plug-option",
                           "--plugin-isolate=" + id +
                               ": only a library of tier C can run in a "
                               "process of its own");
      (*plugin)->isIsolated = true;
    }
    return Error::success();
  }

  Error checkTargets() {
    StringMap<StringRef> owners;
    for (StringRef own : {"cpu", "cuda"})
      owners[own] = "the compiler";
    for (const auto &plugin : set->plugins)
      for (const alula_target &target : plugin->targets) {
        if (!plugin->isActive)
          continue;
        auto [place, isNew] = owners.try_emplace(target.name, plugin->getId());
        if (!isNew)
          return makeProblem("plug-duplicate",
                             "plugin '" + plugin->getId() + "': target '" +
                                 Twine(target.name) + "' is already one of " +
                                 place->second);
      }
    return Error::success();
  }

  const LoadOptions &options;
  std::shared_ptr<PluginSet> set = std::make_shared<PluginSet>();
  unsigned rank = 0;
};
} // namespace

Expected<std::shared_ptr<const PluginSet>>
alula::plugin::loadPlugins(const LoadOptions &options) {
  return Loader(options).run();
}

#include "runtime/imports/imports.h"

namespace alula::runtime {
namespace {

/// What there is of a table; the rest is zero.
template <class Table> Table readSized(const Table *given) {
  Table table = {};
  if (given)
    memcpy(static_cast<void *>(&table), given,
           given->struct_size < sizeof table ? given->struct_size
                                             : sizeof table);
  return table;
}

Status fail(const alula_import_plugin &table, const char *what, int32_t code) {
  return makeError(ALULA_STATUS_FAILED_PRECONDITION,
                   "import plugin '%s': %s: code %d", table.name, what, code);
}

Status checkTable(const alula_import_plugin *given) {
  if (!given || given->abi_major != ALULA_IMPORT_ABI_MAJOR ||
      given->struct_size < offsetof(alula_import_plugin, features))
    return makeError(ALULA_STATUS_FAILED_PRECONDITION,
                     "import plugin: speaks no version of the interface that "
                     "the runtime does, which is %d.%d",
                     ALULA_IMPORT_ABI_MAJOR, ALULA_IMPORT_ABI_MINOR);
  uint32_t sanitizer = readSized(given).sanitizer;
  if (sanitizer != ALULA_IMPORT_SANITIZER)
    return makeError(ALULA_STATUS_FAILED_PRECONDITION,
                     "import plugin '%s': is built with another sanitizer: "
                     "kind %u, the runtime has kind %d",
                     given->name, sanitizer, ALULA_IMPORT_SANITIZER);
  return nullptr;
}

bool append(Array<char> &text, const char *more) {
  size_t used = text.size(), bytes = strlen(more);
  if (!text.resize(used + bytes))
    return false;
  memcpy(text.data() + used, more, bytes);
  return true;
}

/// The names of all imports that are needed and not there.
Status complain(const artifact::Artifact &file,
                const Array<alula_import> &imports) {
  Array<char> text;
  bool isGood = true;
  for (uint64_t i = 0; i < file.imports.size; ++i)
    if (!imports[i].function &&
        !(file.imports[i].flags & ALULA_IMPORT_OPTIONAL))
      isGood &= append(text, text.size() ? "', '" : "'") &&
                append(text, file.getString(file.imports[i].name));
  if (!text.size() && isGood)
    return nullptr;
  if (!isGood || !text.push(0))
    return makeOutOfMemory("imports", text.size());
  return makeError(ALULA_STATUS_NOT_FOUND,
                   "no plugin has what kernels import: %s'", text.data());
}

/// A variant in the hands of a plugin.
struct ImportedKernels {
  ImportProvider provider;
  void *loaded;
};

void unloadImported(LoadedKernels *kernels) {
  auto *mine = reinterpret_cast<ImportedKernels *>(kernels);
  if (mine->provider.loader.unload)
    mine->provider.loader.unload(mine->provider.self, mine->loaded);
  destroy(mine);
}

Status dispatchImported(Stream *, LoadedKernels *kernels,
                        const Dispatch &dispatch) {
  auto *mine = reinterpret_cast<ImportedKernels *>(kernels);
  alula_kernel_args args = dispatch.args;
  args.worker_count = 1;
  args.scratch = dispatch.scratch;
  int32_t code = mine->provider.loader.dispatch(
      mine->provider.self, mine->loaded, dispatch.kernel, &args);
  if (code == 0)
    return nullptr;
  return makeKernelError(dispatch.functionName, dispatch.kernelName, code);
}

} // namespace

constexpr KernelRunner importRunner = {unloadImported, dispatchImported};

Status addImports(Instance &instance, alula_import_query_function query,
                  const alula_import_setting *settings, size_t count) {
  const alula_import_plugin *given =
      query(ALULA_IMPORT_ABI_MAJOR, ALULA_IMPORT_ABI_MINOR);
  ALULA_TRY(checkTable(given));
  ImportProvider provider = {};
  provider.table = readSized(given);
  provider.loader = readSized(provider.table.loader);
  alula_import_environment environment = {sizeof environment,
                                          ALULA_IMPORT_ABI_MAJOR,
                                          ALULA_IMPORT_ABI_MINOR,
                                          malloc,
                                          free,
                                          settings,
                                          count};
  if (provider.table.load) {
    int32_t code = provider.table.load(&environment, &provider.self);
    if (code != 0)
      return fail(provider.table, "could not be loaded", code);
  }
  Lock lock(instance.importMutex);
  if (instance.importProviders.push(provider))
    return nullptr;
  if (provider.table.unload)
    provider.table.unload(provider.self);
  return makeOutOfMemory("an import plugin", sizeof provider);
}

Status resolveImports(Instance &instance, const artifact::Artifact &file,
                      bool mayBeMissing, Array<alula_import> &imports,
                      bool &missing) {
  size_t count = file.imports.size;
  if (!count)
    return nullptr;
  // Names, then functions, then contexts.
  Array<void *> all;
  if (!imports.resize(count) || !all.resize(3 * count))
    return makeOutOfMemory("imports", count * sizeof(alula_import));
  auto *names =
      const_cast<const char **>(reinterpret_cast<char **>(all.data()));
  auto *functions = reinterpret_cast<alula_import_call *>(all.data() + count);
  void **contexts = all.data() + 2 * count;
  for (size_t i = 0; i < count; ++i)
    names[i] = file.getString(file.imports[i].name);
  Lock lock(instance.importMutex);
  for (size_t p = instance.importProviders.size(); p > 0; --p) {
    const ImportProvider &provider = instance.importProviders[p - 1];
    if (!provider.table.resolve)
      continue;
    if (int32_t code = provider.table.resolve(provider.self, count, names,
                                              functions, contexts))
      return fail(provider.table, "could not look for functions", code);
  }
  for (size_t i = 0; i < count; ++i)
    imports[i] = {functions[i], contexts[i]};
  Status status = complain(file, imports);
  missing = status != nullptr;
  if (!status || !mayBeMissing)
    return status;
  alula_error_destroy(status);
  return nullptr;
}

uint32_t findImportedVariant(const Instance &instance,
                             const artifact::Artifact &file, const char *wanted,
                             const ImportProvider *&found) {
  // Plugins work in the host's memory, on the calling thread.
  if (!instance.driver->sharesMemory || !instance.driver->runsAtOnce)
    return ALULA_NONE;
  for (uint32_t i = 0; i < file.variants.size; ++i) {
    const alula_file_variant &variant = file.variants[i];
    if (wanted && strcmp(wanted, file.getString(variant.name)) != 0)
      continue;
    for (size_t p = instance.importProviders.size(); p > 0; --p) {
      const ImportProvider &provider = instance.importProviders[p - 1];
      if (provider.loader.dispatch && provider.loader.target &&
          strcmp(provider.loader.target, file.getString(variant.target)) == 0) {
        found = &provider;
        return i;
      }
    }
  }
  return ALULA_NONE;
}

Status loadImportedVariant(const ImportProvider &provider,
                           const artifact::Artifact &file, uint32_t index,
                           LoadedKernels **kernels) {
  const alula_file_variant &variant = file.variants[index];
  Array<const char *> names;
  auto *made = create<ImportedKernels>();
  if (!made || !names.resize(file.kernels.size)) {
    destroy(made);
    return makeOutOfMemory("kernels", file.kernels.size * 8);
  }
  for (uint64_t i = 0; i < file.kernels.size; ++i)
    names[i] = file.getString(file.kernels[i].name);
  made->provider = provider;
  int32_t code = 0;
  if (provider.loader.load)
    code = provider.loader.load(
        provider.self, file.images.data + variant.image_offset,
        variant.image_bytes, file.kernels.size, names.data(),
        file.entries.data + variant.first_entry, &made->loaded);
  if (code != 0) {
    destroy(made);
    return fail(provider.table, "can't load its variant", code);
  }
  *kernels = reinterpret_cast<LoadedKernels *>(made);
  return nullptr;
}

} // namespace alula::runtime

using namespace alula::runtime;

alula_error *alula_instance_add_imports(
    alula_instance *instance, alula_import_query_function query,
    const struct alula_import_setting *settings, size_t setting_count) {
  if (!instance || !query || (setting_count && !settings))
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "alula_instance_add_imports: an argument is null");
  return addImports(*reinterpret_cast<Instance *>(instance), query, settings,
                    setting_count);
}

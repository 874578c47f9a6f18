#include "tools/model/model.h"

#include "alula/import.h"
#include "tools/values/value_io.h"

#include <dlfcn.h>

namespace alula::model {
namespace {

/// "NAME=REST"; false without a "=".
bool splitName(const std::string &text, std::string &name, std::string &rest) {
  size_t equals = text.find('=');
  if (equals == text.npos)
    return false;
  name = text.substr(0, equals);
  rest = text.substr(equals + 1);
  return true;
}

bool addCustomCall(const std::string &text, Model &model, std::string &error) {
  std::string name, library;
  if (!splitName(text, name, library)) {
    error = "--custom-call wants NAME=LIBRARY.so[:SYMBOL], not '" + text + "'";
    return false;
  }
  std::string symbol = name;
  size_t colon = library.find(':');
  if (colon != library.npos) {
    symbol = library.substr(colon + 1);
    library.resize(colon);
  }
  // dlopen looks for names without a slash elsewhere.
  if (library.find('/') == library.npos)
    library = "./" + library;
  // It stays open as long as the process.
  void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  void *function = handle ? dlsym(handle, symbol.c_str()) : nullptr;
  if (!function) {
    const char *why = dlerror();
    error = "custom call '" + name + "': " + (why ? why : "is null");
    return false;
  }
  Error problem;
  problem.take(alula_instance_register_custom_call(
      model.instance.get(), name.c_str(),
      reinterpret_cast<alula_custom_call>(function), nullptr));
  error = problem.message();
  return !problem;
}

bool addPlugin(const std::string &text, Model &model, std::string &error) {
  std::string path = text.substr(0, text.find('?')), rest;
  if (path.size() < text.size())
    rest = text.substr(path.size() + 1);
  // Kept until the table is read; keys and values lie in one string each.
  std::vector<std::pair<std::string, std::string>> pairs;
  while (!rest.empty()) {
    size_t end = std::min(rest.find('&'), rest.size());
    std::string key, value, item = rest.substr(0, end);
    if (!splitName(item, key, value)) {
      error = "--executable-plugin wants LIBRARY.so[?KEY=VALUE], not '" + text +
              "'";
      return false;
    }
    pairs.emplace_back(key, value);
    rest.erase(0, end + 1);
  }
  std::vector<alula_import_setting> settings;
  for (const auto &[key, value] : pairs)
    settings.push_back({key.c_str(), value.c_str()});
  // dlopen looks for names without a slash elsewhere.
  if (path.find('/') == path.npos)
    path = "./" + path;
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void *query = handle ? dlsym(handle, "alula_import_plugin_query") : nullptr;
  if (!query) {
    const char *why = dlerror();
    error = "plugin: " + std::string(why ? why : "its function is null");
    return false;
  }
  Error problem;
  problem.take(alula_instance_add_imports(
      model.instance.get(),
      reinterpret_cast<alula_import_query_function>(query), settings.data(),
      settings.size()));
  error = problem ? text + ": " + problem.message() : "";
  return !problem;
}

/// A value's bytes as buffers have them: its own, or those of packed elements,
/// which `packed` then holds.
const void *getBytesOfBuffer(const values::Value &value, std::string &packed) {
  if (alula_dtype_get_packing(value.type) == 1)
    return value.data.get();
  packed.resize(alula_dtype_get_packed_bytes(value.type, value.size));
  alula_dtype_pack(value.type, value.data.get(), packed.data(), value.size);
  return packed.data();
}

bool setGlobal(const std::string &text, Model &model, std::string &error) {
  std::string name, spec;
  if (!splitName(text, name, spec)) {
    error = "--global wants NAME=VALUE, not '" + text + "'";
    return false;
  }
  values::Value value;
  if (!values::readValue(spec, value, error)) {
    error = "global '" + name + "': " + error;
    return false;
  }
  uint32_t index = 0;
  Error problem;
  if (problem.take(
          alula_executable_find_global(model.get(), name.c_str(), &index))) {
    alula_value_info info = {};
    info.struct_bytes = sizeof info;
    alula_executable_get_global(model.get(), index, &info);
    std::vector<int64_t> dims(info.dims, info.dims + info.rank);
    if (info.dtype != value.type || dims != value.shape) {
      error = "global '" + name + "' is " +
              values::printType(info.dtype, dims) + ", not " +
              values::printType(value.type, value.shape);
      return false;
    }
    std::string packed;
    const void *bytes = getBytesOfBuffer(value, packed);
    problem.take(
        alula_global_set(model.get(), nullptr, index, bytes,
                         alula_dtype_get_packed_bytes(value.type, value.size)));
  }
  error = problem.message();
  return !problem;
}

bool load(const Options &options, Model &model, std::string &error) {
  alula_load_options load = {};
  load.struct_bytes = sizeof load;
  load.max_global_bytes = options.maxGlobalBytes;
  if (options.mayMissImports)
    load.flags |= ALULA_LOAD_MISSING_IMPORTS;
  if (!options.variant.empty())
    load.variant = options.variant.c_str();
  if (!options.constants.empty())
    load.external_directory = options.constants.c_str();
  Error problem;
  if (!options.bytes.empty()) {
    model.executable.emplace(
        Executable::loadMemory(model.instance, options.bytes.data(),
                               options.bytes.size(), problem, &load));
  } else if (options.file != "-") {
    model.executable.emplace(Executable::loadFile(
        model.instance, options.file.c_str(), problem, &load));
  } else {
    std::string bytes;
    if (!values::readFile("-", bytes, error))
      return false;
    model.executable.emplace(Executable::loadMemory(
        model.instance, bytes.data(), bytes.size(), problem, &load));
  }
  if (problem)
    error =
        (options.file == "-" ? "stdin: " : "") + std::string(problem.message());
  return !problem;
}

} // namespace

bool openModel(const Options &options, Model &model, std::string &error) {
  alula_instance_options instance = {};
  instance.struct_bytes = sizeof instance;
  instance.device = options.device.c_str();
  instance.thread_count = options.threads;
  Error problem;
  model.instance = Instance::create(&instance, problem);
  if (problem) {
    error = problem.message();
    return false;
  }
  for (const std::string &call : options.customCalls)
    if (!addCustomCall(call, model, error))
      return false;
  for (const std::string &plugin : options.plugins)
    if (!addPlugin(plugin, model, error))
      return false;
  if (!load(options, model, error))
    return false;
  for (const std::string &global : options.globals)
    if (!setGlobal(global, model, error))
      return false;
  return true;
}

bool chooseFunction(const Options &options, Model &model, std::string &error) {
  Error problem;
  if (!options.function.empty())
    model.function = model.executable->find(options.function.c_str(), problem);
  else if (alula_executable_get_function_count(model.get()) != 1)
    model.function = model.executable->find("main", problem);
  error = problem.message();
  return !problem;
}

std::string printValueInfo(const alula_value_info &info) {
  std::vector<int64_t> dims(info.dims, info.dims + info.rank);
  std::string name = info.name;
  return (name.empty() ? "" : name + ": ") +
         values::printType(info.dtype, dims);
}

bool getArgument(const Model &model, uint32_t index, alula_value_info &info) {
  info = {};
  info.struct_bytes = sizeof info;
  return alula_executable_get_argument(model.get(), model.function, index,
                                       &info);
}

bool readBuffer(const Buffer &buffer, values::Value &value,
                std::string &error) {
  alula_dtype dtype = buffer.dtype();
  if (!values::createValue(dtype, buffer.dims(), value, error))
    return false;
  Error problem;
  if (alula_dtype_get_packing(dtype) == 1) {
    buffer.read(value.data.get(), problem);
  } else {
    std::string packed(buffer.bytes(), '\0');
    buffer.read(packed.data(), problem);
    alula_dtype_unpack(dtype, packed.data(), value.data.get(), 0, value.size);
  }
  error = problem.message();
  return !problem;
}

Buffer wrapValue(const Instance &instance, values::Value &value, Error &error) {
  bool isPacked = alula_dtype_get_packing(value.type) > 1;
  if (!isPacked && alula_instance_shares_memory(instance.get()))
    return Buffer::wrap(instance, value.type, value.shape, value.data.get(),
                        value.size, error);
  Buffer copy = Buffer::create(instance, value.type, value.shape, error);
  std::string packed;
  copy.write(getBytesOfBuffer(value, packed), error);
  return copy;
}

} // namespace alula::model

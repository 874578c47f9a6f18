// Programs come in, executables go out.

#include "pjrt/functions.h"
#include "pjrt/program.h"

#include "alula/compiler.h"

using namespace alula::pjrt;

namespace {
/// Of the size and both ends: what is between, mostly weights, is compared, and
/// that is faster than hashing it.
size_t hashSource(std::string_view source) {
  constexpr size_t endBytes = 1 << 14;
  std::hash<std::string_view> hash;
  std::string_view begin = source.substr(0, endBytes);
  std::string_view end = source.substr(source.size() - begin.size());
  return hash(begin) ^ hash(end) * 31 ^ source.size() * 0x9E3779B97F4A7C15;
}
} // namespace

std::shared_ptr<Program> ProgramCache::find(std::string_view source,
                                            const std::string &options) {
  std::lock_guard lock(mutex);
  auto [first, last] = entries.equal_range(hashSource(source));
  for (; first != last; ++first)
    if (first->second.options == options)
      if (std::shared_ptr<Program> program = first->second.program.lock())
        if (program->getOrigin() == source)
          return program;
  return nullptr;
}

void ProgramCache::add(std::string_view source, const std::string &options,
                       const std::shared_ptr<Program> &program) {
  std::lock_guard lock(mutex);
  entries.emplace(hashSource(source), Entry{options, program});
  if (entries.size() < sweepAt)
    return;
  std::erase_if(entries,
                [](auto &entry) { return entry.second.program.expired(); });
  sweepAt = std::max<size_t>(64, 2 * entries.size());
}

namespace {
/// The code of a PJRT_Program in the only format that we read.
void *readSource(void *given, std::string_view &source) {
  auto *program = as<PJRT_Program>(given);
  auto *format =
      static_cast<const char *>(take(program, &PJRT_Program::format));
  std::string_view name(format ? format : "",
                        format ? take(program, &PJRT_Program::format_size) : 0);
  if (name != "mlir")
    return makeError(
        ALULA_STATUS_UNIMPLEMENTED,
        "alula: programs must have the format mlir, this one has '" +
            std::string(name) + "'");
  auto *code = static_cast<const char *>(take(program, &PJRT_Program::code));
  if (!code)
    return missing("program.code");
  source = {code, take(program, &PJRT_Program::code_size)};
  return nullptr;
}

/// What makes two compilations of a program the same.
std::string makeKey(const CompileOptions &options) {
  std::string key = std::to_string(options.replicas) + ' ' +
                    std::to_string(options.partitions);
  for (const std::string &target : options.targets)
    key += ' ' + target;
  for (const std::string &word : options.accuracy)
    key += " accuracy " + word;
  // Who asks for a dump gets one.
  if (!options.dumpTo.empty())
    key += " dump " + options.dumpTo;
  return key;
}
} // namespace

void *alula::pjrt::findDevices(Client &client, const CompileOptions &options,
                               std::vector<int64_t> &ids) {
  size_t count = client.topology.devices.size();
  ids = options.deviceIds;
  if (ids.empty() && options.countDevices() == 1)
    ids.push_back(options.deviceOrdinal >= 0 ? options.deviceOrdinal
                                             : client.topology.getFirst().id);
  for (int64_t id = 0; ids.empty() || id < options.countDevices(); ++id) {
    if (static_cast<int64_t>(ids.size()) > id)
      continue;
    ids.push_back(id);
  }
  for (int64_t id : ids)
    if (id < 0 || static_cast<size_t>(id) >= count)
      return invalid("alula: the program is for device " + std::to_string(id) +
                     ", there are " + std::to_string(count));
  return nullptr;
}

void *alula::pjrt::makeLoadedExecutable(Client &client,
                                        std::shared_ptr<Program> program,
                                        const CompileOptions &options,
                                        std::vector<int64_t> ids,
                                        LoadedExecutable *&result) {
  auto loaded = std::make_unique<LoadedExecutable>();
  bool isShared = false;
  for (int64_t id : ids) {
    Device *device = client.topology.devices[static_cast<size_t>(id)].get();
    loaded->processOf.push_back(static_cast<uint32_t>(device->process));
    loaded->name += std::to_string(id) + ' ';
    isShared |= !device->isLocal;
    if (!device->isLocal)
      continue;
    loaded->participants.push_back(
        static_cast<uint32_t>(loaded->processOf.size() - 1));
    alula_executable *executable;
    if (void *error = program->loads.get(*device, executable))
      return error;
    loaded->devices.push_back(device);
  }
  if (!isShared)
    loaded->processOf.clear();
  loaded->program = std::move(program);
  loaded->replicas = options.replicas;
  loaded->partitions = options.partitions;
  loaded->deviceIds = std::move(ids);
  result = loaded.release();
  return nullptr;
}

namespace {
/// What a client asks to be compiled; the bytes are the client's.
struct Request {
  std::string_view source, optionBytes = "";
  CompileOptions options;
};

template <typename Args> void *readRequest(Args *args, Request &request) {
  ALULA_TAKE(void, program);
  if (void *error = readSource(program, request.source))
    return error;
  if (auto *given =
          static_cast<const char *>(take(args, &Args::compile_options)))
    request.optionBytes = {given, take(args, &Args::compile_options_size)};
  return readCompileOptions(request.optionBytes, request.options);
}
} // namespace

size_t alula::pjrt::findFirst(const Client &client,
                              const std::vector<int64_t> &ids) {
  for (int64_t id : ids)
    if (client.topology.devices[static_cast<size_t>(id)]->isLocal)
      return static_cast<size_t>(id);
  return static_cast<size_t>(client.topology.getFirst().id);
}

void *alula::pjrt::Client_Compile(PJRT_Client_Compile_Args *args) {
  ALULA_TAKE(Client, client);
  Request request;
  if (void *error = readRequest(args, request))
    return error;
  std::vector<int64_t> ids;
  if (void *error = findDevices(*client, request.options, ids))
    return error;
  std::string key = makeKey(request.options);
  std::shared_ptr<Program> compiled =
      client->programs.find(request.source, key);
  if (!compiled) {
    if (void *error = compileProgram(client->getPlace(findFirst(*client, ids)),
                                     request.source, request.optionBytes,
                                     request.options, compiled))
      return error;
    // What its key doesn't hold may change.
    if (!(compiled->flags & ALULA_PROGRAM_READS_FILES))
      client->programs.add(request.source, key, compiled);
  }
  if (void *error = showShardings(compiled->shownShardings))
    return error;
  LoadedExecutable *loaded;
  if (void *error =
          makeLoadedExecutable(*client, std::move(compiled), request.options,
                               std::move(ids), loaded))
    return error;
  put(args, &ALULA_ARGS::executable, loaded);
  return nullptr;
}

void *alula::pjrt::Compile(PJRT_Compile_Args *args) {
  ALULA_TAKE(Topology, topology);
  Request request;
  if (void *error = readRequest(args, request))
    return error;
  Place place = {};
  if (void *error = topology->getPlace(place))
    return error;
  std::shared_ptr<Program> compiled;
  if (void *error = compileProgram(place, request.source, request.optionBytes,
                                   request.options, compiled))
    return error;
  if (void *error = showShardings(compiled->shownShardings))
    return error;
  put(args, &ALULA_ARGS::executable,
      new Executable{std::move(compiled), request.options.replicas,
                     request.options.partitions});
  return nullptr;
}

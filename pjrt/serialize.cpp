// Executables in bytes:
//
//   "ALULAPJX", a version, the hash of what follows, then texts, each after its
//   size: who made it, name, program, compile options, costs, donated
//   arguments, memories of arguments and of results, layouts of both, shardings
//   of both, flags, artifact.
//
// Everything is little endian, as the artifact is.

#include "pjrt/functions.h"
#include "pjrt/program.h"

using namespace alula::pjrt;

namespace {
constexpr std::string_view magic = "ALULAPJX";
constexpr uint64_t formatVersion = 4;
constexpr size_t headerBytes = 24;

/// FNV-1a over words: finds damage, not malice.
uint64_t hashBytes(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    uint64_t word;
    memcpy(&word, bytes.data(), 8);
    hash = (hash ^ word) * 0x100000001b3;
    hash ^= hash >> 29;
  }
  for (char byte : bytes)
    hash = (hash ^ static_cast<uint8_t>(byte)) * 0x100000001b3;
  return hash ^ hash >> 32;
}

void writeNumber(std::string &out, uint64_t value) {
  out.append(reinterpret_cast<const char *>(&value), sizeof value);
}

void writeText(std::string &out, std::string_view text) {
  writeNumber(out, text.size());
  out += text;
}

class Reader {
public:
  explicit Reader(std::string_view bytes) : rest(bytes) {}

  uint64_t number() {
    uint64_t value = 0;
    std::string_view bytes = take(sizeof value);
    if (!bytes.empty())
      memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::string_view text() { return take(number()); }
  bool isValid() const { return valid; }

private:
  std::string_view take(uint64_t size) {
    if (size > rest.size()) {
      valid = false;
      rest = {};
      return {};
    }
    std::string_view taken = rest.substr(0, size);
    rest.remove_prefix(size);
    return taken;
  }

  std::string_view rest;
  bool valid = true;
};

std::string writeTexts(const std::vector<std::string> &texts) {
  std::string out;
  for (const std::string &text : texts)
    writeText(out, text);
  return out;
}

void readTexts(std::string_view bytes, std::vector<std::string> &texts) {
  for (Reader reader(bytes);;) {
    std::string_view text = reader.text();
    if (!reader.isValid())
      return;
    texts.emplace_back(text);
  }
}

std::string writeCosts(const std::vector<Cost> &costs) {
  std::string out;
  for (const Cost &cost : costs) {
    writeText(out, cost.name);
    uint64_t bits;
    memcpy(&bits, &cost.value, sizeof bits);
    writeNumber(out, bits);
  }
  return out;
}

void readCosts(std::string_view bytes, std::vector<Cost> &costs) {
  for (Reader reader(bytes);;) {
    std::string_view name = reader.text();
    uint64_t bits = reader.number();
    if (!reader.isValid())
      return;
    Cost cost{std::string(name), 0};
    memcpy(&cost.value, &bits, sizeof bits);
    costs.push_back(std::move(cost));
  }
}
} // namespace

std::string alula::pjrt::serializeProgram(const Program &program) {
  std::string body;
  writeText(body, pluginVersion);
  writeText(body, program.name);
  writeText(body, program.source);
  writeText(body, program.options);
  writeText(body, writeCosts(program.costs));
  for (auto *list :
       {&program.donated, &program.argumentMemories, &program.resultMemories})
    writeText(body,
              {reinterpret_cast<const char *>(list->data()), list->size()});
  writeText(body, writeTexts(program.argumentLayouts));
  writeText(body, writeTexts(program.resultLayouts));
  writeText(body, writeTexts(program.argumentShardings.messages));
  writeText(body, writeTexts(program.resultShardings.messages));
  writeNumber(body, program.flags);
  writeText(body, program.artifact.get());
  std::string out(magic);
  writeNumber(out, formatVersion);
  writeNumber(out, hashBytes(body));
  return out + body;
}

void *alula::pjrt::deserializeProgram(std::string_view bytes,
                                      Program &program) {
  if (bytes.size() < headerBytes || bytes.substr(0, 8) != magic)
    return invalid("alula: Failed to parse the serialized executable: it is "
                   "not one of this plugin's");
  Reader header(bytes.substr(8));
  uint64_t version = header.number();
  if (version != formatVersion)
    return invalid("alula: the serialized executable has the format " +
                   std::to_string(version) + ", this plugin reads " +
                   std::to_string(formatVersion));
  std::string_view body = bytes.substr(headerBytes);
  if (header.number() != hashBytes(body))
    return invalid("alula: Failed to parse the serialized executable: its "
                   "bytes are damaged");
  Reader reader(body);
  std::string_view maker = reader.text();
  if (maker != pluginVersion)
    return invalid("alula: the serialized executable was made by '" +
                   std::string(maker) + "', this is '" +
                   std::string(pluginVersion) + "'");
  program.name = reader.text();
  program.source = reader.text();
  program.options = reader.text();
  readCosts(reader.text(), program.costs);
  for (auto *list :
       {&program.donated, &program.argumentMemories, &program.resultMemories}) {
    std::string_view values = reader.text();
    list->assign(values.begin(), values.end());
  }
  readTexts(reader.text(), program.argumentLayouts);
  readTexts(reader.text(), program.resultLayouts);
  readTexts(reader.text(), program.argumentShardings.messages);
  readTexts(reader.text(), program.resultShardings.messages);
  program.flags = static_cast<uint32_t>(reader.number());
  std::string_view artifact = reader.text();
  if (!reader.isValid())
    return invalid("alula: Failed to parse the serialized executable: it ends "
                   "too early");
  program.artifact = AlignedBytes(artifact);
  return nullptr;
}

void *alula::pjrt::Executable_Serialize(PJRT_Executable_Serialize_Args *args) {
  ALULA_TAKE(const Executable, executable);
  putOwned(args, &ALULA_ARGS::serialized_bytes,
           &ALULA_ARGS::serialized_bytes_size,
           &ALULA_ARGS::serialized_executable,
           &ALULA_ARGS::serialized_executable_deleter,
           serializeProgram(*executable->program));
  return nullptr;
}

void *alula::pjrt::Executable_DeserializeAndLoad(
    PJRT_Executable_DeserializeAndLoad_Args *args) {
  ALULA_TAKE(Client, client);
  ALULA_TAKE(const char, serialized_executable);
  std::string_view bytes(serialized_executable,
                         take(args, &ALULA_ARGS::serialized_executable_size));
  auto program = std::make_shared<Program>();
  if (void *error = deserializeProgram(bytes, *program))
    return error;
  std::string_view given = program->options;
  using Args = PJRT_Executable_DeserializeAndLoad_Args;
  auto *overridden = static_cast<const char *>(
      take(args, &Args::overridden_serialized_compile_options));
  size_t overriddenSize =
      take(args, &Args::overridden_serialized_compile_options_size);
  if (overridden && overriddenSize)
    given = {overridden, overriddenSize};
  CompileOptions options;
  if (void *error = readCompileOptions(given, options))
    return error;
  std::vector<int64_t> ids;
  if (void *error = findDevices(*client, options, ids))
    return error;
  if (void *error =
          loadProgram(client->getPlace(findFirst(*client, ids)), *program))
    return error;
  LoadedExecutable *loaded;
  if (void *error = makeLoadedExecutable(*client, std::move(program), options,
                                         std::move(ids), loaded))
    return error;
  put(args, &ALULA_ARGS::loaded_executable, loaded);
  return nullptr;
}

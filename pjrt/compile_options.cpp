#include "pjrt/compile_options.h"

#include "pjrt/protobuf.h"

using namespace alula::pjrt;

namespace {
enum class OptionKind { Bool, Number, Text };

/// Options that clients pass to every platform. They steer XLA's own work and
/// change nothing here, but their values are checked.
const struct {
  std::string_view name;
  OptionKind kind;
} ignoredOptions[] = {
    {"xla_embed_ir_in_executable", OptionKind::Bool},
    {"xla_dump_max_hlo_modules", OptionKind::Number},
    {"xla_dump_to", OptionKind::Text},
    {"xla_dump_hlo_as_text", OptionKind::Bool},
    {"xla_cpu_enable_fast_math", OptionKind::Bool},
    {"xla_cpu_enable_fast_min_max", OptionKind::Bool},
    {"xla_cpu_multi_thread_eigen", OptionKind::Bool},
    {"xla_backend_optimization_level", OptionKind::Number},
    {"xla_llvm_disable_expensive_passes", OptionKind::Bool},
    {"xla_gpu_auto_spmd_partitioning_memory_budget_ratio", OptionKind::Number},
    {"xla_gpu_enable_latency_hiding_scheduler", OptionKind::Bool},
    {"xla_disable_hlo_passes", OptionKind::Text},
    {"exec_time_optimization_effort", OptionKind::Number},
    {"memory_fitting_effort", OptionKind::Number},
    {"optimization_level", OptionKind::Number},
};

/// xla.OptionOverrideProto: a text, a flag or a number.
struct OptionValue {
  uint32_t field = 0;
  std::string text;
};

OptionValue readOptionValue(std::string_view bytes) {
  OptionValue value;
  for (ProtoReader field(bytes); field.next();) {
    value.field = field.number;
    if (field.number == 1)
      value.text = field.bytes;
    else if (field.number == 2)
      value.text = field.value ? "true" : "false";
    else if (field.number == 3)
      value.text = std::to_string(static_cast<int64_t>(field.value));
    else
      value.text = std::to_string(field.toDouble());
  }
  return value;
}

bool isBool(const std::string &text) {
  for (const char *word : {"true", "false", "True", "False", "1", "0"})
    if (text == word)
      return true;
  return false;
}

bool isNumber(const std::string &text) {
  char *end;
  strtod(text.c_str(), &end);
  return !text.empty() && !*end;
}

void splitList(std::string_view text, std::vector<std::string> &parts) {
  while (!text.empty()) {
    size_t end = text.find(',');
    parts.emplace_back(text.substr(0, end));
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
  }
}

/// An entry of the map of options.
void *readOption(std::string_view bytes, CompileOptions &options) {
  std::string name;
  OptionValue value;
  for (ProtoReader field(bytes); field.next();)
    if (field.number == 1)
      name = field.bytes;
    else if (field.number == 2)
      value = readOptionValue(field.bytes);
  if (name == "alula_targets") {
    splitList(value.text, options.targets);
    return nullptr;
  }
  if (name == "alula_accuracy") {
    splitList(value.text, options.accuracy);
    return nullptr;
  }
  if (name == "alula_dump_to") {
    options.dumpTo = value.text;
    return nullptr;
  }
  for (const auto &[known, kind] : ignoredOptions) {
    if (name != known)
      continue;
    bool isRight = kind == OptionKind::Text ||
                   (kind == OptionKind::Bool ? isBool(value.text)
                                             : isNumber(value.text));
    if (isRight)
      return nullptr;
    return invalid("While setting option " + name + ", '" + value.text +
                   "' is not a valid " +
                   (kind == OptionKind::Bool ? "bool" : "number") + " value.");
  }
  return invalid("No such compile option: '" + name + "'");
}

/// Numbers of a repeated field, packed or one by one.
void addNumbers(const ProtoReader &field, std::vector<int64_t> &numbers) {
  if (field.bytes.empty()) {
    numbers.push_back(static_cast<int64_t>(field.value));
    return;
  }
  // A packed list has no keys: give it some.
  std::string_view rest = field.bytes;
  while (!rest.empty()) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest.empty(); shift += 7) {
      auto byte = static_cast<uint8_t>(rest.front());
      rest.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80)
        break;
    }
    numbers.push_back(static_cast<int64_t>(value));
  }
}

void *readAssignment(std::string_view bytes, CompileOptions &options) {
  std::vector<std::vector<int64_t>> computations;
  for (ProtoReader field(bytes); field.next();) {
    if (field.number != 3)
      continue;
    auto &ids = computations.emplace_back();
    for (ProtoReader inner(field.bytes); inner.next();)
      if (inner.number == 1)
        addNumbers(inner, ids);
  }
  options.deviceIds.clear();
  size_t replicas = computations.empty() ? 0 : computations.front().size();
  for (auto &ids : computations)
    if (ids.size() != replicas)
      return invalid("alula: the device assignment is no rectangle");
  for (size_t replica = 0; replica < replicas; ++replica)
    for (auto &ids : computations)
      options.deviceIds.push_back(ids[replica]);
  return nullptr;
}

/// xla.ExecutableBuildOptionsProto.
void *readBuildOptions(std::string_view bytes, CompileOptions &options) {
  ProtoReader field(bytes);
  while (field.next()) {
    if (field.number == 1)
      options.deviceOrdinal = static_cast<int64_t>(field.value);
    else if (field.number == 4)
      options.replicas = static_cast<int64_t>(field.value);
    else if (field.number == 5)
      options.partitions = static_cast<int64_t>(field.value);
    else if (field.number == 9)
      if (void *error = readAssignment(field.bytes, options))
        return error;
  }
  return field.isValid() ? nullptr
                         : invalid("alula: the build options can't be read");
}
} // namespace

void *alula::pjrt::readCompileOptions(std::string_view bytes,
                                      CompileOptions &options) {
  ProtoReader field(bytes);
  while (field.next()) {
    void *error = nullptr;
    if (field.number == 3)
      error = readBuildOptions(field.bytes, options);
    else if (field.number == 7)
      error = readOption(field.bytes, options);
    if (error)
      return error;
  }
  if (!field.isValid())
    return invalid("alula: the compile options can't be read");
  // A message leaves zeros out: they mean the defaults.
  options.replicas = options.replicas ? options.replicas : 1;
  options.partitions = options.partitions ? options.partitions : 1;
  constexpr int64_t most = 1 << 16;
  if (options.replicas < 0 || options.replicas > most ||
      options.partitions < 0 || options.partitions > most)
    return invalid("alula: " + std::to_string(options.replicas) +
                   " replicas of " + std::to_string(options.partitions) +
                   " partitions are asked for");
  if (!options.deviceIds.empty() &&
      static_cast<int64_t>(options.deviceIds.size()) != options.countDevices())
    return invalid("alula: " + std::to_string(options.deviceIds.size()) +
                   " devices are assigned to " +
                   std::to_string(options.countDevices()) + " computations");
  return nullptr;
}

std::string
alula::pjrt::writeDeviceAssignment(const std::vector<int64_t> &deviceIds,
                                   int64_t replicas, int64_t partitions) {
  std::string out;
  writeProtoNumber(out, 1, static_cast<uint64_t>(replicas));
  writeProtoNumber(out, 2, static_cast<uint64_t>(partitions));
  for (int64_t partition = 0; partition < partitions; ++partition) {
    std::string ids;
    for (int64_t replica = 0; replica < replicas; ++replica)
      writeProtoNumber(ids, 1,
                       static_cast<uint64_t>(deviceIds[static_cast<size_t>(
                           replica * partitions + partition)]));
    writeProtoBytes(out, 3, ids);
  }
  return out;
}

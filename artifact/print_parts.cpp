#include "artifact/print_parts.h"

#include "artifact/cuda_image.h"
#include "artifact/printer.h"

#include <algorithm>
#include <cinttypes>
#include <cstdarg>

namespace alula::artifact {

std::string format(const char *text, ...) {
  char buffer[256];
  va_list list;
  va_start(list, text);
  vsnprintf(buffer, sizeof buffer, text, list);
  va_end(list);
  return buffer;
}

std::string quote(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      quoted += '\\';
    if (c == '\n')
      quoted += "\\n";
    else if (c == '\t')
      quoted += "\\t";
    else
      quoted += c;
  }
  return quoted + '"';
}

std::string keepOnLine(std::string_view name) {
  return name.find_first_of("\n\t") == name.npos ? std::string(name)
                                                 : quote(name);
}

std::string quoteBytes(std::string_view bytes) {
  std::string text = "\"";
  for (char c : bytes) {
    auto byte = uint8_t(c);
    if (byte == '"' || byte == '\\')
      text += '\\';
    text +=
        byte < 32 || byte > 126 ? format("\\u%04x", byte) : std::string(1, c);
  }
  return text + '"';
}

std::string_view getBlob(const Artifact &file, uint32_t constant) {
  if (constant == ALULA_NONE)
    return {};
  const alula_file_constant &record = file.constants[constant];
  return {reinterpret_cast<const char *>(file.data.data + record.offset),
          record.bytes};
}

std::string printCustomCallTypes(const Artifact &file,
                                 const alula_file_custom_call &call) {
  std::string text = "(";
  const uint32_t *type = file.lists.data + call.first_type;
  for (uint32_t i = 0; i < call.operand_count; ++i)
    text += (i ? ", " : "") + printType(file, *type++);
  text += ") -> (";
  for (uint32_t i = 0; i < call.result_count; ++i)
    text += (i ? ", " : "") + printType(file, *type++);
  return text + ")";
}

const char *getImageKindName(uint32_t kind) {
  return kind == ALULA_IMAGE_ELF    ? "elf"
         : kind == ALULA_IMAGE_PTX  ? "ptx"
         : kind == ALULA_IMAGE_CUDA ? "cuda"
                                    : "raw";
}

Origins::Origins(const Artifact &artifact) : file(artifact) {
  for (const alula_file_fact &fact : file.facts) {
    std::string_view key = file.getString(fact.key);
    if (key.substr(0, 7) == "origin.")
      values.emplace(key, file.getString(fact.value));
  }
}

const char *Origins::find(const alula_file_variant &variant,
                          const alula_file_kernel &kernel) const {
  if (values.empty())
    return nullptr;
  auto found =
      values.find(std::string("origin.") + file.getString(variant.name) + "." +
                  file.getString(kernel.name));
  return found == values.end() ? nullptr : found->second;
}

static const char *getSlotKindName(uint32_t kind) {
  switch (kind) {
  case ALULA_SLOT_ARGUMENT:
    return "argument";
  case ALULA_SLOT_RESULT:
    return "result";
  case ALULA_SLOT_CONSTANT:
    return "constant";
  case ALULA_SLOT_GLOBAL:
    return "global";
  case ALULA_SLOT_ARENA:
    return "arena";
  case ALULA_SLOT_LOCAL:
    return "local";
  }
  return "?";
}

std::string printCollective(const Artifact &file,
                            const alula_file_collective &collective) {
  std::string text = alula_collective_get_name(collective.kind);
  if (collective.reduction != ALULA_REDUCTION_NONE)
    text += std::string(" ") + alula_reduction_get_name(collective.reduction);
  text += format(" of %" PRIu64 " %s, groups [", collective.count,
                 alula_dtype_get_name(collective.dtype));
  const alula_file_group_table &table = file.groupTables[collective.groups];
  const uint32_t *number = file.lists.data + table.first_number;
  for (uint32_t i = 0; i < table.group_count; ++i) {
    text += i ? ", [" : "[";
    uint32_t size = *number++;
    for (uint32_t j = 0; j < size; ++j)
      text += (j ? ", " : "") + std::to_string(*number++);
    text += "]";
  }
  text += format("] of %u", table.participant_count);
  if (collective.channel)
    text += format(", channel %u", collective.channel);
  return text;
}

std::string getChipName(const alula_cuda_code &code) {
  return "sm_" + std::to_string(code.chip) +
         (code.flags & ALULA_CUDA_CODE_EXACT ? "a" : "");
}

std::vector<CudaForm> listCudaForms(const Artifact &file,
                                    const alula_file_variant &variant) {
  std::vector<CudaForm> forms;
  CudaImage image;
  Diagnostic diagnostic;
  if (!readCudaImage(file, variant, image, diagnostic))
    return forms;
  for (const alula_cuda_code &code : image.codes) {
    bool isCubin = code.kind == ALULA_CUDA_CUBIN;
    std::string chip = getChipName(code);
    auto same =
        std::find_if(forms.begin(), forms.end(), [&](const CudaForm &form) {
          return form.isCubin == isCubin && form.chip == chip;
        });
    if (same == forms.end())
      same = forms.insert(same, {isCubin, chip, 0, 0});
    ++same->count;
    same->bytes += code.bytes;
  }
  return forms;
}

std::string printSlot(const alula_file_slot &slot) {
  std::string text = getSlotKindName(slot.kind);
  if (slot.kind == ALULA_SLOT_LOCAL)
    return slot.flags & ALULA_SLOT_READ_ONLY ? text + " read_only" : text;
  if (slot.kind != ALULA_SLOT_ARENA)
    text += format(" %u", slot.index);
  if (slot.bytes != ALULA_REST)
    text += format(" [%" PRIu64 ", +%" PRIu64 ")", slot.offset, slot.bytes);
  else if (slot.offset)
    text += format(" [%" PRIu64 ", ...)", slot.offset);
  return text;
}

} // namespace alula::artifact

// An artifact as JSON.

#include "artifact/print_parts.h"
#include "artifact/printer.h"

#include "alula/dtype.h"

#include <cinttypes>

namespace alula::artifact {
namespace {

/// Joins the items' texts with commas inside brackets.
template <class T, class Print>
std::string printArray(const Table<T> &items, Print print) {
  std::string text = "[";
  for (uint64_t i = 0; i < items.size; ++i)
    text += (i ? ",\n  " : "\n  ") + print(i, items[i]);
  return text + "]";
}

std::string printJsonValue(const Artifact &file,
                           const alula_file_value &value) {
  const alula_file_type &type = file.types[value.type];
  std::string text = "{\"name\": " + quote(file.getString(value.name)) +
                     ", \"dtype\": " + quote(alula_dtype_get_name(type.dtype)) +
                     ", \"shape\": [";
  for (uint32_t i = 0; i < type.rank; ++i) {
    const alula_file_dim &dim = file.getDims(type)[i];
    text += i ? ", " : "";
    if (dim.size >= 0)
      text += std::to_string(dim.size);
    else
      text += "{\"symbol\": " + quote(file.getString(dim.symbol)) +
              format(", \"minimum\": %" PRId64 ", \"maximum\": %" PRId64 "}",
                     dim.minimum, dim.maximum);
  }
  text += "]";
  if (value.alias != ALULA_NONE)
    text += format(", \"alias\": %u", value.alias);
  return text + "}";
}

std::string printJsonFunction(const Artifact &file, uint32_t index) {
  const alula_file_function &function = file.functions[index];
  std::string text =
      "{\"name\": " + quote(file.getString(function.name)) +
      format(", \"exported\": %s, \"registers\": %u, \"arena_bytes\": %" PRIu64
             ",\n   \"arguments\": [",
             function.flags & ALULA_FUNCTION_EXPORTED ? "true" : "false",
             function.register_count, function.arena_bytes);
  for (uint32_t i = 0; i < function.argument_count; ++i)
    text +=
        (i ? ", " : "") + printJsonValue(file, file.getArgument(function, i));
  text += "],\n   \"results\": [";
  for (uint32_t i = 0; i < function.result_count; ++i)
    text += (i ? ", " : "") + printJsonValue(file, file.getResult(function, i));
  text += "],\n   \"slots\": [";
  for (uint32_t i = 0; i < function.slot_count; ++i)
    text +=
        (i ? ", " : "") + quote(printSlot(file.slots[function.first_slot + i]));
  text += "],\n   \"blocks\": [";
  for (uint32_t i = 0; i < function.block_count; ++i) {
    text += i ? ",\n    [" : "\n    [";
    bool first = true;
    forEachCommand(file, file.blocks[function.first_block + i],
                   [&](uint64_t word) {
                     text += first ? "" : ", ";
                     first = false;
                     text += quote(printCommand(file, word));
                   });
    text += "]";
  }
  return text + "]}";
}

} // namespace

std::string printJson(const Artifact &file) {
  std::string text = format("{\"version\": \"%u.%u\", \"bytes\": %" PRIu64
                            ", \"hash\": \"%016" PRIx64 "\",\n",
                            ALULA_FILE_MAJOR, file.minor, file.size, file.hash);
  if (file.programs.size)
    return text + "\"programs\": " +
           printArray(file.programs,
                      [&](uint64_t i, const alula_file_program &record) {
                        Artifact program;
                        Diagnostic diagnostic;
                        openProgram(file, i, program, diagnostic);
                        return "{\"name\": " +
                               quote(file.getString(record.name)) +
                               format(", \"cores\": %u, \"cache_bytes\": "
                                      "%" PRIu64 ", \"program\": ",
                                      record.cores, record.cache_bytes) +
                               printJson(program) + "}";
                      }) +
           "}\n";
  text += "\"facts\": " +
          printArray(file.facts,
                     [&](uint64_t, const alula_file_fact &fact) {
                       return "[" + quote(file.getString(fact.key)) + ", " +
                              quote(file.getString(fact.value)) + "]";
                     }) +
          ",\n";
  text +=
      "\"globals\": " +
      printArray(
          file.globals,
          [&](uint64_t, const alula_file_global &global) {
            alula_file_value value = {global.name, global.type, ALULA_NONE, 0};
            std::string json = printJsonValue(file, value);
            json.pop_back();
            json +=
                format(", \"mutable\": %s, \"initialised\": %s}",
                       global.flags & ALULA_GLOBAL_MUTABLE ? "true" : "false",
                       global.initial == ALULA_NONE ? "false" : "true");
            return json;
          }) +
      ",\n";
  text += "\"constants\": " +
          printArray(file.constants,
                     [&](uint64_t, const alula_file_constant &constant) {
                       std::string json =
                           format("{\"bytes\": %" PRIu64, constant.bytes);
                       if (constant.external_file)
                         json += ", \"file\": " +
                                 quote(file.getString(constant.external_file)) +
                                 ", \"name\": " +
                                 quote(file.getString(constant.external_name));
                       return json + "}";
                     }) +
          ",\n";
  text +=
      "\"custom_calls\": " +
      printArray(
          file.customCalls,
          [&](uint64_t, const alula_file_custom_call &call) {
            return "{\"name\": " + quote(file.getString(call.name)) +
                   ", \"type\": " + quote(printCustomCallTypes(file, call)) +
                   format(", \"api_version\": %u, \"side_effect\": %s",
                          call.api_version,
                          call.flags & ALULA_CUSTOM_CALL_SIDE_EFFECT
                              ? "true"
                              : "false") +
                   ", \"config\": " + quoteBytes(getBlob(file, call.config)) +
                   ", \"attributes\": " +
                   quoteBytes(getBlob(file, call.attributes)) + "}";
          }) +
      ",\n";
  text +=
      "\"kernels\": " +
      printArray(file.kernels,
                 [&](uint64_t, const alula_file_kernel &kernel) {
                   return "{\"name\": " + quote(file.getString(kernel.name)) +
                          format(", \"bindings\": %u, \"constants\": %u, "
                                 "\"scratch_bytes\": %" PRIu64 "}",
                                 kernel.binding_count, kernel.constant_count,
                                 kernel.scratch_bytes);
                 }) +
      ",\n";
  const Origins origins(file);
  text +=
      "\"variants\": " +
      printArray(
          file.variants,
          [&](uint64_t, const alula_file_variant &variant) {
            std::string json =
                "{\"name\": " + quote(file.getString(variant.name)) +
                ", \"target\": " + quote(file.getString(variant.target)) +
                format(", \"kernel_abi\": %u, \"image\": \"%s\", "
                       "\"image_bytes\": %" PRIu64 ", \"features\": [",
                       variant.kernel_abi, getImageKindName(variant.image_kind),
                       variant.image_bytes);
            for (uint32_t i = 0; i < variant.feature_count; ++i)
              json +=
                  (i ? ", " : "") +
                  quote(file.getString(file.lists[variant.first_feature + i]));
            json += "]";
            if (variant.image_kind == ALULA_IMAGE_CUDA) {
              json += ", \"codes\": [";
              const char *comma = "";
              for (const CudaForm &form : listCudaForms(file, variant)) {
                json +=
                    format("%s{\"kind\": \"%s\", \"chip\": \"%s\", "
                           "\"count\": %" PRIu64 ", \"bytes\": %" PRIu64 "}",
                           comma, form.isCubin ? "cubin" : "ptx",
                           form.chip.c_str(), form.count, form.bytes);
                comma = ", ";
              }
              json += "]";
            }
            json += ", \"origins\": {";
            for (uint64_t i = 0; i < file.kernels.size; ++i) {
              const alula_file_kernel &kernel = file.kernels[i];
              const char *origin = origins.find(variant, kernel);
              json += (i ? ", " : "") + quote(file.getString(kernel.name)) +
                      ": " + quote(origin ? origin : "generated");
            }
            return json + "}}";
          }) +
      ",\n";
  text +=
      "\"imports\": " +
      printArray(file.imports,
                 [&](uint64_t, const alula_file_import &import) {
                   return "{\"name\": " + quote(file.getString(import.name)) +
                          ", \"optional\": " +
                          (import.flags & ALULA_IMPORT_OPTIONAL ? "true"
                                                                : "false") +
                          "}";
                 }) +
      ",\n";
  text += "\"collectives\": " +
          printArray(file.collectives,
                     [&](uint64_t, const alula_file_collective &collective) {
                       return quote(printCollective(file, collective));
                     }) +
          ",\n";
  text += "\"functions\": " +
          printArray(file.functions,
                     [&](uint64_t i, const alula_file_function &) {
                       return printJsonFunction(file, uint32_t(i));
                     }) +
          "}\n";
  return text;
}

} // namespace alula::artifact

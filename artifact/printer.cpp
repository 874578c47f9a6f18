#include "artifact/printer.h"
#include "artifact/operator_name.h"
#include "artifact/print_parts.h"

#include "alula/dtype.h"

#include <cinttypes>
#include <cstring>

namespace alula::artifact {
namespace {

std::string printCustomCall(const Artifact &file, uint64_t index) {
  const alula_file_custom_call &call = file.customCalls[index];
  std::string text = format("custom call %" PRIu64 " ", index) +
                     quote(file.getString(call.name)) + ": " +
                     printCustomCallTypes(file, call) +
                     format(", api version %u", call.api_version);
  if (call.flags & ALULA_CUSTOM_CALL_SIDE_EFFECT)
    text += ", side effect";
  if (call.config != ALULA_NONE)
    text += ", config " + quoteBytes(getBlob(file, call.config));
  if (call.attributes != ALULA_NONE)
    text += ", attributes " + quoteBytes(getBlob(file, call.attributes));
  return text + "\n";
}

class CommandPrinter {
public:
  CommandPrinter(const Artifact &artifact, uint64_t word)
      : file(artifact), parameters(artifact.code.data + word + 1),
        count((artifact.code[word] >> 8) - 1),
        opcode(artifact.code[word] & 0xFF) {}

  std::string print() {
    switch (opcode) {
    case ALULA_COMMAND_COMPUTE: {
      std::string text = print('r', 0) + " = " +
                         getOperatorName(parameters[1]) + " " + print('o', 2);
      return parameters[1] == ALULA_OPERATOR_MOVE ? text
                                                  : text + ", " + print('o', 3);
    }
    case ALULA_COMMAND_DISPATCH:
      return printDispatch();
    case ALULA_COMMAND_CALL:
      return printCall();
    case ALULA_COMMAND_CUSTOM_CALL:
      return printCustomCall();
    default:
      break;
    }
    const CommandInfo *info = getCommandInfo(opcode);
    std::string text = info->name;
    const char *p = info->parameters;
    uint32_t used = 0;
    if (*p == 'r') {
      text = print('r', 0) + " = " + text;
      ++p;
      ++used;
    }
    const char *comma = " ";
    for (; used < count; ++used) {
      text += comma + print(*p, used);
      comma = ", ";
      if (p[1] != '*')
        ++p;
    }
    return text;
  }

private:
  std::string print(char kind, uint32_t number) {
    uint32_t value = parameters[number];
    switch (kind) {
    case 'r':
      return format("r%u", value);
    case 'o':
      if (value & ALULA_IMMEDIATE)
        return format("%" PRId64, file.immediates[value & ~ALULA_IMMEDIATE]);
      return format("r%u", value);
    case 's':
    case 'w':
    case 'l':
    case 'x':
      return format("%%%u", value);
    case 'b':
    case 'B':
      return value == ALULA_NONE ? "none" : format("^%u", value);
    case 'k':
      return "@" + keepOnLine(file.getString(file.kernels[value].name));
    case 'f':
      return "@" + keepOnLine(file.getString(file.functions[value].name));
    case 'g':
      return quote(file.getString(file.globals[value].name));
    case 'm':
      return format("#%u ", value) +
             alula_collective_get_name(file.collectives[value].kind);
    case 't':
      return quote(file.getString(value));
    case 'd':
      return alula_dtype_get_name(value);
    default:
      return format("%u", value);
    }
  }

  std::string printList(char kind, uint32_t &next, uint32_t size) {
    std::string text = "(";
    for (uint32_t i = 0; i < size; ++i)
      text += (i ? ", " : "") + print(kind, next++);
    return text + ")";
  }

  std::string printDispatch() {
    const alula_file_kernel &kernel = file.kernels[parameters[0]];
    uint32_t next = 1;
    std::string text = "dispatch " + print('k', 0) + " grid" +
                       printList('o', next, 3) + " bindings(";
    static const char *const names[] = {"?", "read ", "write ", "update "};
    for (uint32_t i = 0; i < kernel.binding_count; ++i)
      text += std::string(i ? ", " : "") +
              names[file.lists[kernel.first_access + i]] + print('s', next++);
    text += ")";
    if (kernel.constant_count)
      text += " constants" + printList('o', next, kernel.constant_count);
    return text;
  }

  std::string printCall() {
    const alula_file_function &callee = file.functions[parameters[0]];
    uint32_t next = 1;
    std::string text = "call " + print('f', 0) +
                       printList('s', next, callee.argument_count) + " -> " +
                       printList('s', next, callee.result_count);
    uint32_t dims = 0;
    for (uint32_t i = 0; i < callee.argument_count; ++i)
      dims +=
          countDynamicDims(file, file.types[file.getArgument(callee, i).type]);
    if (next < count) {
      text += " dims" + printList('o', next, dims);
      text += " -> " + printList('r', next, count - next);
    }
    return text;
  }

  std::string printCustomCall() {
    const alula_file_custom_call &callee = file.customCalls[parameters[0]];
    uint32_t next = 1;
    std::string text = "custom_call " + quote(file.getString(callee.name)) +
                       printList('s', next, callee.operand_count) + " -> " +
                       printList('s', next, callee.result_count);
    if (next < count)
      text += " dims" + printList('o', next, count - next);
    return text;
  }

  const Artifact &file;
  const uint32_t *parameters;
  uint32_t count, opcode;
};

std::string printValue(const Artifact &file, const alula_file_value &value) {
  return quote(file.getString(value.name)) + ": " + printType(file, value.type);
}

std::string printSignature(const Artifact &file,
                           const alula_file_function &function) {
  std::string text = "(";
  for (uint32_t i = 0; i < function.argument_count; ++i)
    text += (i ? ", " : "") + printValue(file, file.getArgument(function, i));
  text += ") -> (";
  for (uint32_t i = 0; i < function.result_count; ++i) {
    const alula_file_value &result = file.getResult(function, i);
    text += (i ? ", " : "") + printValue(file, result);
    if (result.alias != ALULA_NONE)
      text += format(" in argument %u", result.alias);
  }
  return text + ")";
}

void printFunction(const Artifact &file, uint32_t index, std::string &text) {
  const alula_file_function &function = file.functions[index];
  text += format("\n%sfunction @",
                 function.flags & ALULA_FUNCTION_EXPORTED ? "exported " : "");
  text += keepOnLine(file.getString(function.name)) +
          printSignature(file, function);
  text += format(" registers %u arena %" PRIu64 " {\n", function.register_count,
                 function.arena_bytes);
  for (uint32_t i = 0; i < function.slot_count; ++i)
    text += format("  %%%u = ", i) +
            printSlot(file.slots[function.first_slot + i]) + "\n";
  for (uint32_t i = 0; i < function.block_count; ++i) {
    text += format("^%u:\n", i);
    forEachCommand(
        file, file.blocks[function.first_block + i],
        [&](uint64_t word) { text += "  " + printCommand(file, word) + "\n"; });
  }
  text += "}\n";
}

} // namespace

std::string printType(const Artifact &artifact, uint32_t index) {
  const alula_file_type &type = artifact.types[index];
  std::string text;
  for (uint32_t i = 0; i < type.rank; ++i) {
    const alula_file_dim &dim = artifact.getDims(type)[i];
    if (dim.size >= 0)
      text += std::to_string(dim.size);
    else
      text += dim.symbol ? keepOnLine(artifact.getString(dim.symbol)) : "?";
    text += 'x';
  }
  return text + alula_dtype_get_name(type.dtype);
}

std::string printCommand(const Artifact &artifact, uint64_t word) {
  return CommandPrinter(artifact, word).print();
}

std::string printText(const Artifact &file) {
  std::string text =
      format("artifact version %u.%u, %" PRIu64 " bytes, hash %016" PRIx64 "\n",
             ALULA_FILE_MAJOR, file.minor, file.size, file.hash);
  for (uint64_t i = 0; i < file.programs.size; ++i) {
    const alula_file_program &record = file.programs[i];
    text += format("\nprogram %" PRIu64 " ", i) +
            quote(file.getString(record.name)) +
            format(": for %u cores, %" PRIu64 " bytes of cache each\n",
                   record.cores, record.cache_bytes);
    Artifact program;
    Diagnostic diagnostic;
    if (openProgram(file, i, program, diagnostic))
      text += printText(program);
  }
  for (const alula_file_fact &fact : file.facts) {
    std::string_view key = file.getString(fact.key);
    // Texts of kernels are for other readers.
    if (key.starts_with("debug."))
      text += keepOnLine(key) + ": " +
              std::to_string(strlen(file.getString(fact.value))) + " bytes\n";
    else if (!key.starts_with("origin."))
      text +=
          keepOnLine(key) + " = " + quote(file.getString(fact.value)) + "\n";
  }
  for (uint64_t i = 0; i < file.globals.size; ++i) {
    const alula_file_global &global = file.globals[i];
    text += format("global %" PRIu64 " ", i) +
            quote(file.getString(global.name)) + ": " +
            printType(file, global.type) +
            (global.flags & ALULA_GLOBAL_MUTABLE ? " mutable" : "") +
            (global.initial == ALULA_NONE
                 ? std::string()
                 : format(" = constant %u", global.initial)) +
            "\n";
  }
  for (uint64_t i = 0; i < file.constants.size; ++i) {
    const alula_file_constant &constant = file.constants[i];
    text +=
        format("constant %" PRIu64 ": %" PRIu64 " bytes", i, constant.bytes);
    if (constant.external_file)
      text += ", " + printType(file, uint32_t(constant.offset)) + " in " +
              quote(file.getString(constant.external_file)) + " as " +
              quote(file.getString(constant.external_name));
    text += "\n";
  }
  for (uint64_t i = 0; i < file.customCalls.size; ++i)
    text += printCustomCall(file, i);
  for (uint64_t i = 0; i < file.collectives.size; ++i)
    text += format("collective #%" PRIu64 " ", i) +
            printCollective(file, file.collectives[i]) + "\n";
  for (uint64_t i = 0; i < file.imports.size; ++i)
    text +=
        format("import %" PRIu64 " ", i) +
        quote(file.getString(file.imports[i].name)) +
        (file.imports[i].flags & ALULA_IMPORT_OPTIONAL ? " optional\n" : "\n");
  for (uint64_t i = 0; i < file.kernels.size; ++i) {
    const alula_file_kernel &kernel = file.kernels[i];
    text += format("kernel %" PRIu64 " @", i) +
            keepOnLine(file.getString(kernel.name)) +
            format(": %u bindings, %u constants, %" PRIu64 " scratch bytes\n",
                   kernel.binding_count, kernel.constant_count,
                   kernel.scratch_bytes);
  }
  const Origins origins(file);
  for (uint64_t i = 0; i < file.variants.size; ++i) {
    const alula_file_variant &variant = file.variants[i];
    text += format("variant %" PRIu64 " ", i) +
            quote(file.getString(variant.name)) + ": " +
            keepOnLine(file.getString(variant.target)) +
            format(", kernel abi %u, %s image of %" PRIu64 " bytes, needs",
                   variant.kernel_abi,
                   variant.image_kind == ALULA_IMAGE_ELF    ? "ELF"
                   : variant.image_kind == ALULA_IMAGE_PTX  ? "PTX"
                   : variant.image_kind == ALULA_IMAGE_CUDA ? "CUDA"
                                                            : "raw",
                   variant.image_bytes);
    for (uint32_t j = 0; j < variant.feature_count; ++j)
      text += " " +
              keepOnLine(file.getString(file.lists[variant.first_feature + j]));
    text += variant.feature_count ? "\n" : " nothing more\n";
    if (variant.image_kind == ALULA_IMAGE_CUDA)
      for (const CudaForm &form : listCudaForms(file, variant))
        text += format("  %s for %s: %" PRIu64 ", %" PRIu64 " bytes\n",
                       form.isCubin ? "cubins" : "texts of PTX",
                       form.chip.c_str(), form.count, form.bytes);
    // What comes from our own code generator goes without saying.
    for (const alula_file_kernel &kernel : file.kernels)
      if (const char *origin = origins.find(variant, kernel))
        text += "  @" + keepOnLine(file.getString(kernel.name)) + ": " +
                keepOnLine(origin) + "\n";
  }
  for (uint32_t i = 0; i < file.functions.size; ++i)
    printFunction(file, i, text);
  return text;
}

} // namespace alula::artifact

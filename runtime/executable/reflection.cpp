// What an executable says about itself.

#include "runtime/executable/executable.h"

using namespace alula::runtime;

static const alula_file_function *
getFunction(const alula_executable *executable, uint32_t number) {
  return executable ? executable->image->getExported(number) : nullptr;
}

static int fillInfo(const alula_executable *executable,
                    const alula_file_value &value, int isMutable,
                    alula_value_info *info) {
  if (!info)
    return 0;
  const alula_file_type &type = executable->image->file.types[value.type];
  alula_value_info mine = {};
  mine.struct_bytes = info->struct_bytes;
  mine.name = executable->image->file.getString(value.name);
  mine.dtype = alula_dtype(type.dtype);
  mine.rank = type.rank;
  mine.dims = executable->image->dims.data() + type.first_dim;
  mine.alias = value.alias == ALULA_NONE ? -1 : int32_t(value.alias);
  mine.is_mutable = isMutable;
  memcpy(info, &mine,
         info->struct_bytes < sizeof mine ? info->struct_bytes : sizeof mine);
  return 1;
}

uint64_t alula_executable_get_hash(const alula_executable *executable) {
  return executable ? executable->image->hash : 0;
}

const char *alula_executable_get_variant(const alula_executable *executable) {
  if (!executable || executable->image->variant == ALULA_NONE)
    return "";
  return executable->image->file.getString(
      executable->image->file.variants[executable->image->variant].name);
}

uint32_t
alula_executable_get_participant_count(const alula_executable *executable) {
  return executable ? executable->image->getParticipantCount() : 0;
}

int alula_executable_get_fact(const alula_executable *executable,
                              uint32_t index, const char **key,
                              const char **value) {
  if (!executable || !key || !value ||
      index >= executable->image->file.facts.size)
    return 0;
  *key = executable->image->file.getString(
      executable->image->file.facts[index].key);
  *value = executable->image->file.getString(
      executable->image->file.facts[index].value);
  return 1;
}

int alula_executable_get_import(const alula_executable *executable,
                                uint32_t index, alula_import_info *info) {
  if (!executable || !info || index >= executable->image->file.imports.size)
    return 0;
  const alula_file_import &record = executable->image->file.imports[index];
  alula_import_info mine = {
      info->struct_bytes, executable->image->file.getString(record.name),
      (record.flags & ALULA_IMPORT_OPTIONAL) != 0,
      executable->image->imports[index].function != nullptr};
  memcpy(info, &mine,
         info->struct_bytes < sizeof mine ? info->struct_bytes : sizeof mine);
  return 1;
}

int alula_executable_get_custom_call(const alula_executable *executable,
                                     uint32_t index,
                                     alula_custom_call_info *info) {
  if (!executable || !info || index >= executable->image->file.customCalls.size)
    return 0;
  const Image &image = *executable->image;
  const alula_file_custom_call &record = image.file.customCalls[index];
  bool hasConfig = record.config != ALULA_NONE;
  alula_custom_call_info mine = {
      info->struct_bytes,
      image.file.getString(record.name),
      hasConfig ? image.constants[record.config] : nullptr,
      hasConfig ? size_t(image.file.constants[record.config].bytes) : 0,
      record.operand_count,
      record.result_count};
  memcpy(info, &mine,
         info->struct_bytes < sizeof mine ? info->struct_bytes : sizeof mine);
  return 1;
}

int alula_executable_get_memory(const alula_executable *executable,
                                uint32_t function, alula_memory_info *info) {
  if (!getFunction(executable, function) || !info)
    return 0;
  const Image &image = *executable->image;
  alula_memory_info mine = {};
  mine.struct_bytes = info->struct_bytes;
  if (image.variant != ALULA_NONE)
    mine.code_bytes = image.file.variants[image.variant].image_bytes;
  for (const alula_file_constant &constant : image.file.constants)
    mine.constant_bytes += constant.bytes;
  mine.temporary_bytes =
      image.functions[image.exported[function]].totalArenaBytes;
  memcpy(info, &mine,
         info->struct_bytes < sizeof mine ? info->struct_bytes : sizeof mine);
  return 1;
}

uint32_t
alula_executable_get_function_count(const alula_executable *executable) {
  return executable ? uint32_t(executable->image->exported.size()) : 0;
}

alula_error *alula_executable_find_function(const alula_executable *executable,
                                            const char *name,
                                            uint32_t *function) {
  if (!executable || !name || !function)
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "alula_executable_find_function: an argument is null");
  for (uint32_t i = 0; i < executable->image->exported.size(); ++i)
    if (strcmp(name, alula_executable_get_function_name(executable, i)) == 0) {
      *function = i;
      return nullptr;
    }
  const char *first = alula_executable_get_function_name(executable, 0);
  return makeError(ALULA_STATUS_NOT_FOUND,
                   "there is no function '%s': the artifact has %zu%s%s%s",
                   name, executable->image->exported.size(),
                   first ? ", first '" : "", first ? first : "",
                   first ? "'" : "");
}

const char *
alula_executable_get_function_name(const alula_executable *executable,
                                   uint32_t function) {
  const alula_file_function *record = getFunction(executable, function);
  return record ? executable->image->file.getString(record->name) : nullptr;
}

uint32_t alula_executable_get_argument_count(const alula_executable *executable,
                                             uint32_t function) {
  const alula_file_function *record = getFunction(executable, function);
  return record ? record->argument_count : 0;
}

uint32_t alula_executable_get_result_count(const alula_executable *executable,
                                           uint32_t function) {
  const alula_file_function *record = getFunction(executable, function);
  return record ? record->result_count : 0;
}

int alula_executable_get_argument(const alula_executable *executable,
                                  uint32_t function, uint32_t index,
                                  alula_value_info *info) {
  const alula_file_function *record = getFunction(executable, function);
  if (!record || index >= record->argument_count)
    return 0;
  return fillInfo(executable,
                  executable->image->file.getArgument(*record, index), 0, info);
}

int alula_executable_get_result(const alula_executable *executable,
                                uint32_t function, uint32_t index,
                                alula_value_info *info) {
  const alula_file_function *record = getFunction(executable, function);
  if (!record || index >= record->result_count)
    return 0;
  return fillInfo(executable, executable->image->file.getResult(*record, index),
                  0, info);
}

uint32_t alula_executable_get_global_count(const alula_executable *executable) {
  return executable ? uint32_t(executable->image->file.globals.size) : 0;
}

int alula_executable_get_global(const alula_executable *executable,
                                uint32_t index, alula_value_info *info) {
  if (!executable || index >= executable->image->file.globals.size)
    return 0;
  const alula_file_global &global = executable->image->file.globals[index];
  return fillInfo(executable, {global.name, global.type, ALULA_NONE, 0},
                  (global.flags & ALULA_GLOBAL_MUTABLE) != 0, info);
}

alula_error *alula_executable_find_global(const alula_executable *executable,
                                          const char *name, uint32_t *index) {
  if (!executable || !name || !index)
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "alula_executable_find_global: an argument is null");
  for (uint32_t i = 0; i < executable->image->file.globals.size; ++i)
    if (strcmp(name, executable->image->file.getString(
                         executable->image->file.globals[i].name)) == 0) {
      *index = i;
      return nullptr;
    }
  return makeError(ALULA_STATUS_NOT_FOUND, "there is no global '%s'", name);
}

static int fillDim(const alula_executable *executable,
                   const alula_file_value &value, uint32_t number,
                   alula_dim_info *info) {
  const alula::artifact::Artifact &file = executable->image->file;
  const alula_file_type &type = file.types[value.type];
  if (!info || number >= type.rank)
    return 0;
  const alula_file_dim &dim = file.getDims(type)[number];
  bool isDynamic = dim.size < 0;
  alula_dim_info mine = {
      info->struct_bytes, dim.size, isDynamic ? dim.minimum : dim.size,
      isDynamic ? dim.maximum : dim.size, file.getString(dim.symbol)};
  memcpy(info, &mine,
         info->struct_bytes < sizeof mine ? info->struct_bytes : sizeof mine);
  return 1;
}

int alula_executable_get_argument_dim(const alula_executable *executable,
                                      uint32_t function, uint32_t index,
                                      uint32_t dim, alula_dim_info *info) {
  const alula_file_function *record = getFunction(executable, function);
  if (!record || index >= record->argument_count)
    return 0;
  return fillDim(executable,
                 executable->image->file.getArgument(*record, index), dim,
                 info);
}

int alula_executable_get_result_dim(const alula_executable *executable,
                                    uint32_t function, uint32_t index,
                                    uint32_t dim, alula_dim_info *info) {
  const alula_file_function *record = getFunction(executable, function);
  if (!record || index >= record->result_count)
    return 0;
  return fillDim(executable, executable->image->file.getResult(*record, index),
                 dim, info);
}

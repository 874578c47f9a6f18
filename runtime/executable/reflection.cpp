// What an executable says about itself.

#include "runtime/executable/executable.h"

using namespace alula::runtime;

static const alula_file_function *
getFunction(const alula_executable *executable, uint32_t number) {
  return executable ? executable->getExported(number) : nullptr;
}

static int fillInfo(const alula_executable *executable,
                    const alula_file_value &value, int isMutable,
                    alula_value_info *info) {
  if (!info)
    return 0;
  const alula_file_type &type = executable->file.types[value.type];
  alula_value_info mine = {};
  mine.struct_bytes = info->struct_bytes;
  mine.name = executable->file.getString(value.name);
  mine.dtype = alula_dtype(type.dtype);
  mine.rank = type.rank;
  mine.dims = executable->dims.data() + type.first_dim;
  mine.alias = value.alias == ALULA_NONE ? -1 : int32_t(value.alias);
  mine.is_mutable = isMutable;
  memcpy(info, &mine,
         info->struct_bytes < sizeof mine ? info->struct_bytes : sizeof mine);
  return 1;
}

uint64_t alula_executable_get_hash(const alula_executable *executable) {
  return executable ? executable->file.hash : 0;
}

const char *alula_executable_get_variant(const alula_executable *executable) {
  if (!executable || executable->variant == ALULA_NONE)
    return "";
  return executable->file.getString(
      executable->file.variants[executable->variant].name);
}

uint32_t
alula_executable_get_participant_count(const alula_executable *executable) {
  return executable ? executable->getParticipantCount() : 0;
}

int alula_executable_get_fact(const alula_executable *executable,
                              uint32_t index, const char **key,
                              const char **value) {
  if (!executable || !key || !value || index >= executable->file.facts.size)
    return 0;
  *key = executable->file.getString(executable->file.facts[index].key);
  *value = executable->file.getString(executable->file.facts[index].value);
  return 1;
}

int alula_executable_get_import(const alula_executable *executable,
                                uint32_t index, alula_import_info *info) {
  if (!executable || !info || index >= executable->file.imports.size)
    return 0;
  const alula_file_import &record = executable->file.imports[index];
  alula_import_info mine = {info->struct_bytes,
                            executable->file.getString(record.name),
                            (record.flags & ALULA_IMPORT_OPTIONAL) != 0,
                            executable->imports[index].function != nullptr};
  memcpy(info, &mine,
         info->struct_bytes < sizeof mine ? info->struct_bytes : sizeof mine);
  return 1;
}

uint32_t
alula_executable_get_function_count(const alula_executable *executable) {
  return executable ? uint32_t(executable->exported.size()) : 0;
}

alula_error *alula_executable_find_function(const alula_executable *executable,
                                            const char *name,
                                            uint32_t *function) {
  if (!executable || !name || !function)
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "alula_executable_find_function: an argument is null");
  for (uint32_t i = 0; i < executable->exported.size(); ++i)
    if (strcmp(name, alula_executable_get_function_name(executable, i)) == 0) {
      *function = i;
      return nullptr;
    }
  const char *first = alula_executable_get_function_name(executable, 0);
  return makeError(ALULA_STATUS_NOT_FOUND,
                   "there is no function '%s': the artifact has %zu%s%s%s",
                   name, executable->exported.size(), first ? ", first '" : "",
                   first ? first : "", first ? "'" : "");
}

const char *
alula_executable_get_function_name(const alula_executable *executable,
                                   uint32_t function) {
  const alula_file_function *record = getFunction(executable, function);
  return record ? executable->file.getString(record->name) : nullptr;
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
  return fillInfo(executable, executable->file.getArgument(*record, index), 0,
                  info);
}

int alula_executable_get_result(const alula_executable *executable,
                                uint32_t function, uint32_t index,
                                alula_value_info *info) {
  const alula_file_function *record = getFunction(executable, function);
  if (!record || index >= record->result_count)
    return 0;
  return fillInfo(executable, executable->file.getResult(*record, index), 0,
                  info);
}

uint32_t alula_executable_get_global_count(const alula_executable *executable) {
  return executable ? uint32_t(executable->file.globals.size) : 0;
}

int alula_executable_get_global(const alula_executable *executable,
                                uint32_t index, alula_value_info *info) {
  if (!executable || index >= executable->file.globals.size)
    return 0;
  const alula_file_global &global = executable->file.globals[index];
  return fillInfo(executable, {global.name, global.type, ALULA_NONE, 0},
                  (global.flags & ALULA_GLOBAL_MUTABLE) != 0, info);
}

alula_error *alula_executable_find_global(const alula_executable *executable,
                                          const char *name, uint32_t *index) {
  if (!executable || !name || !index)
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "alula_executable_find_global: an argument is null");
  for (uint32_t i = 0; i < executable->file.globals.size; ++i)
    if (strcmp(name, executable->file.getString(
                         executable->file.globals[i].name)) == 0) {
      *index = i;
      return nullptr;
    }
  return makeError(ALULA_STATUS_NOT_FOUND, "there is no global '%s'", name);
}

static int fillDim(const alula_executable *executable,
                   const alula_file_value &value, uint32_t number,
                   alula_dim_info *info) {
  const alula::artifact::Artifact &file = executable->file;
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
  return fillDim(executable, executable->file.getArgument(*record, index), dim,
                 info);
}

int alula_executable_get_result_dim(const alula_executable *executable,
                                    uint32_t function, uint32_t index,
                                    uint32_t dim, alula_dim_info *info) {
  const alula_file_function *record = getFunction(executable, function);
  if (!record || index >= record->result_count)
    return 0;
  return fillDim(executable, executable->file.getResult(*record, index), dim,
                 info);
}

// What executables say of themselves.

#include "pjrt/execute_context.h"
#include "pjrt/functions.h"
#include "pjrt/program.h"

using namespace alula::pjrt;

void *alula::pjrt::Executable_Destroy(PJRT_Executable_Destroy_Args *args) {
  delete as<Executable>(take(args, &ALULA_ARGS::executable));
  return nullptr;
}

void *alula::pjrt::Executable_Name(PJRT_Executable_Name_Args *args) {
  ALULA_TAKE(Executable, executable);
  putText(args, &ALULA_ARGS::executable_name, &ALULA_ARGS::executable_name_size,
          executable->program->name);
  return nullptr;
}

void *
alula::pjrt::Executable_NumReplicas(PJRT_Executable_NumReplicas_Args *args) {
  ALULA_TAKE(Executable, executable);
  put(args, &ALULA_ARGS::num_replicas, executable->replicas);
  return nullptr;
}

void *alula::pjrt::Executable_NumPartitions(
    PJRT_Executable_NumPartitions_Args *args) {
  ALULA_TAKE(Executable, executable);
  put(args, &ALULA_ARGS::num_partitions, executable->partitions);
  return nullptr;
}

void *
alula::pjrt::Executable_NumOutputs(PJRT_Executable_NumOutputs_Args *args) {
  ALULA_TAKE(Executable, executable);
  put(args, &ALULA_ARGS::num_outputs, executable->program->results.size());
  return nullptr;
}

void *alula::pjrt::Executable_SizeOfGeneratedCodeInBytes(
    PJRT_Executable_SizeOfGeneratedCodeInBytes_Args *args) {
  ALULA_TAKE(Executable, executable);
  put(args, &ALULA_ARGS::size_in_bytes, executable->program->codeBytes);
  return nullptr;
}

void *alula::pjrt::Executable_OutputMemoryKinds(
    PJRT_Executable_OutputMemoryKinds_Args *args) {
  ALULA_TAKE(Executable, executable);
  const Program &program = *executable->program;
  put(args, &ALULA_ARGS::num_outputs, program.results.size());
  put(args, &ALULA_ARGS::memory_kinds, program.resultKinds.data());
  put(args, &ALULA_ARGS::memory_kind_sizes, program.resultKindSizes.data());
  return nullptr;
}

void *alula::pjrt::Executable_ParameterMemoryKinds(
    PJRT_Executable_ParameterMemoryKinds_Args *args) {
  ALULA_TAKE(Executable, executable);
  const Program &program = *executable->program;
  put(args, &ALULA_ARGS::num_parameters, program.arguments.size());
  put(args, &ALULA_ARGS::memory_kinds, program.argumentKinds.data());
  put(args, &ALULA_ARGS::memory_kind_sizes, program.argumentKindSizes.data());
  return nullptr;
}

// Called twice: for the size, then with room for the program. Each kernel is a
// function, as far as StableHLO, which is what a client can read, has words for
// all of it; else it is the program as it came.
void *alula::pjrt::Executable_OptimizedProgram(
    PJRT_Executable_OptimizedProgram_Args *args) {
  ALULA_TAKE(Executable, executable);
  ALULA_TAKE(PJRT_Program, program);
  const Kernels &kernels = getKernels(*executable->program);
  const std::string &source =
      kernels.text.empty() ? executable->program->source : kernels.text;
  static constexpr std::string_view format = "mlir";
  put(program, &PJRT_Program::format, format.data());
  put(program, &PJRT_Program::format_size, format.size());
  if (!take(program, &PJRT_Program::code)) {
    put(program, &PJRT_Program::code_size, source.size());
    return nullptr;
  }
  size_t room = take(program, &PJRT_Program::code_size);
  if (room < source.size())
    return invalid("alula: the program needs " + std::to_string(source.size()) +
                   " bytes, there are " + std::to_string(room));
  memcpy(program->code, source.data(), source.size());
  put(program, &PJRT_Program::code_size, source.size());
  return nullptr;
}

void *alula::pjrt::Executable_OutputElementTypes(
    PJRT_Executable_OutputElementTypes_Args *args) {
  ALULA_TAKE(Executable, executable);
  auto &codes = executable->program->resultTypeCodes;
  put(args, &ALULA_ARGS::output_types, codes.data());
  put(args, &ALULA_ARGS::num_output_types, codes.size());
  return nullptr;
}

void *alula::pjrt::Executable_OutputDimensions(
    PJRT_Executable_OutputDimensions_Args *args) {
  ALULA_TAKE(Executable, executable);
  const Program &program = *executable->program;
  put(args, &ALULA_ARGS::num_outputs, program.results.size());
  put(args, &ALULA_ARGS::dims, program.resultDims.data());
  put(args, &ALULA_ARGS::dim_sizes, program.resultRanks.data());
  return nullptr;
}

void *
alula::pjrt::Executable_Fingerprint(PJRT_Executable_Fingerprint_Args *args) {
  ALULA_TAKE(Executable, executable);
  putText(args, &ALULA_ARGS::executable_fingerprint,
          &ALULA_ARGS::executable_fingerprint_size,
          executable->program->fingerprint);
  return nullptr;
}

void *alula::pjrt::Executable_GetCostAnalysis(
    PJRT_Executable_GetCostAnalysis_Args *args) {
  ALULA_TAKE(Executable, executable);
  auto &values = executable->program->costValues;
  put(args, &ALULA_ARGS::properties, values.data());
  put(args, &ALULA_ARGS::num_properties, values.size());
  return nullptr;
}

void *alula::pjrt::Executable_GetCompiledMemoryStats(
    PJRT_Executable_GetCompiledMemoryStats_Args *args) {
  ALULA_TAKE(Executable, executable);
  const Program &program = *executable->program;
  int64_t total = program.argumentBytes + program.resultBytes -
                  program.aliasBytes + program.temporaryBytes;
  put(args, &ALULA_ARGS::generated_code_size_in_bytes, program.codeBytes);
  put(args, &ALULA_ARGS::argument_size_in_bytes, program.argumentBytes);
  put(args, &ALULA_ARGS::output_size_in_bytes, program.resultBytes);
  put(args, &ALULA_ARGS::alias_size_in_bytes, program.aliasBytes);
  put(args, &ALULA_ARGS::temp_size_in_bytes, program.temporaryBytes);
  put(args, &ALULA_ARGS::host_generated_code_size_in_bytes, 0);
  put(args, &ALULA_ARGS::host_argument_size_in_bytes, 0);
  put(args, &ALULA_ARGS::host_output_size_in_bytes, 0);
  put(args, &ALULA_ARGS::host_alias_size_in_bytes, 0);
  put(args, &ALULA_ARGS::host_temp_size_in_bytes, 0);
  put(args, &ALULA_ARGS::peak_memory_in_bytes, total);
  put(args, &ALULA_ARGS::total_size_in_bytes, total);
  put(args, &ALULA_ARGS::total_allocation_bytes, total);
  put(args, &ALULA_ARGS::indefinite_allocations, 0);
  put(args, &ALULA_ARGS::peak_unpadded_heap_bytes, total);
  return nullptr;
}

void *alula::pjrt::Executable_GetCompileOptions(
    PJRT_Executable_GetCompileOptions_Args *args) {
  ALULA_TAKE(Executable, executable);
  putOwned(args, &ALULA_ARGS::serialized_bytes,
           &ALULA_ARGS::serialized_bytes_size,
           &ALULA_ARGS::serialized_compile_options,
           &ALULA_ARGS::serialized_compile_options_deleter,
           executable->program->options);
  return nullptr;
}

void *alula::pjrt::LoadedExecutable_Destroy(
    PJRT_LoadedExecutable_Destroy_Args *args) {
  delete as<LoadedExecutable>(take(args, &ALULA_ARGS::executable));
  return nullptr;
}

void *alula::pjrt::LoadedExecutable_GetExecutable(
    PJRT_LoadedExecutable_GetExecutable_Args *args) {
  ALULA_TAKE(LoadedExecutable, loaded_executable);
  put(args, &ALULA_ARGS::executable,
      new Executable{loaded_executable->program, loaded_executable->replicas,
                     loaded_executable->partitions});
  return nullptr;
}

void *alula::pjrt::LoadedExecutable_AddressableDevices(
    PJRT_LoadedExecutable_AddressableDevices_Args *args) {
  ALULA_TAKE(LoadedExecutable, executable);
  auto &list = executable->devices;
  put(args, &ALULA_ARGS::addressable_devices, list.data());
  put(args, &ALULA_ARGS::num_addressable_devices, list.size());
  return nullptr;
}

void *
alula::pjrt::LoadedExecutable_Delete(PJRT_LoadedExecutable_Delete_Args *args) {
  ALULA_TAKE(LoadedExecutable, executable);
  executable->deleted = true;
  return nullptr;
}

void *alula::pjrt::LoadedExecutable_IsDeleted(
    PJRT_LoadedExecutable_IsDeleted_Args *args) {
  ALULA_TAKE(LoadedExecutable, executable);
  put(args, &ALULA_ARGS::is_deleted, executable->deleted.load());
  return nullptr;
}

void *alula::pjrt::LoadedExecutable_Fingerprint(
    PJRT_LoadedExecutable_Fingerprint_Args *args) {
  ALULA_TAKE(LoadedExecutable, executable);
  putText(args, &ALULA_ARGS::executable_fingerprint,
          &ALULA_ARGS::executable_fingerprint_size,
          executable->program->fingerprint);
  return nullptr;
}

void *alula::pjrt::LoadedExecutable_GetDeviceAssignment(
    PJRT_LoadedExecutable_GetDeviceAssignment_Args *args) {
  ALULA_TAKE(LoadedExecutable, executable);
  putOwned(args, &ALULA_ARGS::serialized_bytes,
           &ALULA_ARGS::serialized_bytes_size,
           &ALULA_ARGS::serialized_device_assignment,
           &ALULA_ARGS::serialized_device_assignment_deleter,
           writeDeviceAssignment(executable->deviceIds, executable->replicas,
                                 executable->partitions));
  return nullptr;
}

// What a call may carry along.

void *
alula::pjrt::ExecuteContext_Create(PJRT_ExecuteContext_Create_Args *args) {
  if (hasField(args, &ALULA_ARGS::context))
    put(args, &ALULA_ARGS::context, new ExecuteContext);
  return nullptr;
}

void *
alula::pjrt::ExecuteContext_Destroy(PJRT_ExecuteContext_Destroy_Args *args) {
  delete as<ExecuteContext>(take(args, &ALULA_ARGS::context));
  return nullptr;
}

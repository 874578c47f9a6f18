// Compiling, what a compiled program says of itself, and running it.

#include "pjrt/functions.h"
#include "pjrt/objects.h"

#include "alula/compiler.h"

using namespace alula::pjrt;

namespace {
/// Reads results and names of the loaded artifact.
void describe(Program &program) {
  const alula_executable *executable = program.executable;
  program.argumentCount =
      alula_executable_get_argument_count(executable, program.function);
  uint32_t count =
      alula_executable_get_result_count(executable, program.function);
  for (uint32_t i = 0; i < count; ++i) {
    alula_value_info info = {};
    info.struct_bytes = sizeof info;
    alula_executable_get_result(executable, program.function, i, &info);
    program.resultTypes.push_back(info.dtype);
    program.resultTypeCodes.push_back(alula_dtype_get_pjrt(info.dtype));
    program.resultDims.insert(program.resultDims.end(), info.dims,
                              info.dims + info.rank);
    program.resultRanks.push_back(info.rank);
    program.resultMemoryKinds.push_back(memoryKind.data());
    program.resultMemoryKindSizes.push_back(memoryKind.size());
  }
  program.fingerprint =
      std::to_string(alula_executable_get_hash(executable));
}

void *compileProgram(Client &client, std::string_view source,
                     std::shared_ptr<Program> &result) {
  alula_compile_options options = {};
  options.struct_bytes = sizeof options;
  void *artifact;
  size_t artifactBytes;
  char *message = nullptr;
  alula_status_code code =
      alula_compile(source.data(), source.size(), &options, &artifact,
                    &artifactBytes, &message);
  if (code != ALULA_STATUS_OK) {
    void *error = makeError(code, message ? message : "out of memory");
    alula_compile_free(message);
    return error;
  }
  auto program = std::make_shared<Program>();
  program->name = "main";
  program->source = source;
  alula_error *error =
      alula_executable_load_memory(client.instance, artifact, artifactBytes,
                                   nullptr, &program->executable);
  alula_compile_free(artifact);
  if (!error)
    error = alula_executable_find_function(program->executable, "main",
                                           &program->function);
  if (error)
    return makeError(error);
  describe(*program);
  result = std::move(program);
  return nullptr;
}

Program &programOf(void *executable) {
  return *as<Executable>(executable)->program;
}
} // namespace

void *alula::pjrt::Client_Compile(PJRT_Client_Compile_Args *args) {
  auto &client = *as<Client>(args->client);
  auto *given = static_cast<PJRT_Program *>(args->program);
  std::string_view format(static_cast<const char *>(given->format),
                          given->format_size);
  if (format != "mlir")
    return makeError(ALULA_STATUS_UNIMPLEMENTED,
                     "alula: programs must have the format mlir, this one has " +
                         std::string(format));
  std::string_view source(static_cast<const char *>(given->code),
                          given->code_size);
  std::shared_ptr<Program> program;
  if (void *error = compileProgram(client, source, program))
    return error;
  auto *loaded = new LoadedExecutable{std::move(program), &client,
                                      client.devices.front().get(), {}, {}};
  loaded->devices.push_back(loaded->device);
  put(args, &PJRT_Client_Compile_Args::executable, loaded);
  return nullptr;
}

void *alula::pjrt::Executable_Destroy(PJRT_Executable_Destroy_Args *args) {
  delete as<Executable>(args->executable);
  return nullptr;
}

void *alula::pjrt::Executable_Name(PJRT_Executable_Name_Args *args) {
  using Args = PJRT_Executable_Name_Args;
  putText(args, &Args::executable_name, &Args::executable_name_size,
          programOf(args->executable).name);
  return nullptr;
}

void *
alula::pjrt::Executable_NumReplicas(PJRT_Executable_NumReplicas_Args *args) {
  put(args, &PJRT_Executable_NumReplicas_Args::num_replicas, 1);
  return nullptr;
}

void *alula::pjrt::Executable_NumPartitions(
    PJRT_Executable_NumPartitions_Args *args) {
  put(args, &PJRT_Executable_NumPartitions_Args::num_partitions, 1);
  return nullptr;
}

void *
alula::pjrt::Executable_NumOutputs(PJRT_Executable_NumOutputs_Args *args) {
  put(args, &PJRT_Executable_NumOutputs_Args::num_outputs,
      programOf(args->executable).resultTypes.size());
  return nullptr;
}

void *alula::pjrt::Executable_SizeOfGeneratedCodeInBytes(
    PJRT_Executable_SizeOfGeneratedCodeInBytes_Args *args) {
  // Not known: the code is one part of the artifact.
  put(args, &PJRT_Executable_SizeOfGeneratedCodeInBytes_Args::size_in_bytes,
      -1);
  return nullptr;
}

void *alula::pjrt::Executable_OutputMemoryKinds(
    PJRT_Executable_OutputMemoryKinds_Args *args) {
  using Args = PJRT_Executable_OutputMemoryKinds_Args;
  Program &program = programOf(args->executable);
  put(args, &Args::num_outputs, program.resultTypes.size());
  put(args, &Args::memory_kinds, program.resultMemoryKinds.data());
  put(args, &Args::memory_kind_sizes, program.resultMemoryKindSizes.data());
  return nullptr;
}

// Called twice: for the size, then with room for the program. It is the
// program as it came, which is what a client can read.
void *alula::pjrt::Executable_OptimizedProgram(
    PJRT_Executable_OptimizedProgram_Args *args) {
  Program &program = programOf(args->executable);
  auto *out = static_cast<PJRT_Program *>(args->program);
  static constexpr std::string_view format = "mlir";
  put(out, &PJRT_Program::format, format.data());
  put(out, &PJRT_Program::format_size, format.size());
  if (!out->code) {
    put(out, &PJRT_Program::code_size, program.source.size());
    return nullptr;
  }
  if (out->code_size < program.source.size())
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "alula: the program needs " +
                         std::to_string(program.source.size()) +
                         " bytes, there are " +
                         std::to_string(out->code_size));
  memcpy(out->code, program.source.data(), program.source.size());
  return nullptr;
}

void *alula::pjrt::Executable_OutputElementTypes(
    PJRT_Executable_OutputElementTypes_Args *args) {
  using Args = PJRT_Executable_OutputElementTypes_Args;
  Program &program = programOf(args->executable);
  put(args, &Args::output_types, program.resultTypeCodes.data());
  put(args, &Args::num_output_types, program.resultTypeCodes.size());
  return nullptr;
}

void *alula::pjrt::Executable_OutputDimensions(
    PJRT_Executable_OutputDimensions_Args *args) {
  using Args = PJRT_Executable_OutputDimensions_Args;
  Program &program = programOf(args->executable);
  put(args, &Args::num_outputs, program.resultTypes.size());
  put(args, &Args::dims, program.resultDims.data());
  put(args, &Args::dim_sizes, program.resultRanks.data());
  return nullptr;
}

void *
alula::pjrt::Executable_Fingerprint(PJRT_Executable_Fingerprint_Args *args) {
  using Args = PJRT_Executable_Fingerprint_Args;
  putText(args, &Args::executable_fingerprint,
          &Args::executable_fingerprint_size,
          programOf(args->executable).fingerprint);
  return nullptr;
}

void *alula::pjrt::LoadedExecutable_Destroy(
    PJRT_LoadedExecutable_Destroy_Args *args) {
  delete as<LoadedExecutable>(args->executable);
  return nullptr;
}

void *alula::pjrt::LoadedExecutable_GetExecutable(
    PJRT_LoadedExecutable_GetExecutable_Args *args) {
  put(args, &PJRT_LoadedExecutable_GetExecutable_Args::executable,
      new Executable{as<LoadedExecutable>(args->loaded_executable)->program});
  return nullptr;
}

void *alula::pjrt::LoadedExecutable_AddressableDevices(
    PJRT_LoadedExecutable_AddressableDevices_Args *args) {
  using Args = PJRT_LoadedExecutable_AddressableDevices_Args;
  auto &list = as<LoadedExecutable>(args->executable)->devices;
  put(args, &Args::addressable_devices, list.data());
  put(args, &Args::num_addressable_devices, list.size());
  return nullptr;
}

void *alula::pjrt::LoadedExecutable_Delete(
    PJRT_LoadedExecutable_Delete_Args *args) {
  as<LoadedExecutable>(args->executable)->deleted = true;
  return nullptr;
}

void *alula::pjrt::LoadedExecutable_IsDeleted(
    PJRT_LoadedExecutable_IsDeleted_Args *args) {
  put(args, &PJRT_LoadedExecutable_IsDeleted_Args::is_deleted,
      as<LoadedExecutable>(args->executable)->deleted.load());
  return nullptr;
}

void *alula::pjrt::LoadedExecutable_Fingerprint(
    PJRT_LoadedExecutable_Fingerprint_Args *args) {
  using Args = PJRT_LoadedExecutable_Fingerprint_Args;
  putText(args, &Args::executable_fingerprint,
          &Args::executable_fingerprint_size,
          as<LoadedExecutable>(args->executable)->program->fingerprint);
  return nullptr;
}

void *alula::pjrt::LoadedExecutable_GetDeviceAssignment(
    PJRT_LoadedExecutable_GetDeviceAssignment_Args *args) {
  using Args = PJRT_LoadedExecutable_GetDeviceAssignment_Args;
  // xla.DeviceAssignmentProto: 1 replica, 1 computation, on device 0.
  static constexpr char proto[] = "\x08\x01\x10\x01\x1a\x03\x0a\x01\x00";
  auto *bytes = new std::string(proto, sizeof proto - 1);
  put(args, &Args::serialized_bytes, bytes->data());
  put(args, &Args::serialized_bytes_size, bytes->size());
  put(args, &Args::serialized_device_assignment, bytes);
  auto deleter = +[](void *assignment) { delete as<std::string>(assignment); };
  put(args, &Args::serialized_device_assignment_deleter,
      reinterpret_cast<void *>(deleter));
  return nullptr;
}

namespace {
/// Buffers of one call, released when it ends.
struct CallBuffers {
  ~CallBuffers() {
    for (alula_buffer *buffer : arguments)
      alula_buffer_release(buffer);
  }
  std::vector<alula_buffer *> arguments;
};

void *takeArguments(const Program &program, void *const *given, size_t count,
                    CallBuffers &buffers) {
  if (count != program.argumentCount)
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "alula: the program takes " +
                         std::to_string(program.argumentCount) +
                         " arguments, " + std::to_string(count) +
                         " are given");
  for (size_t i = 0; i < count; ++i) {
    alula_buffer *data = as<Buffer>(given[i])->acquire();
    if (!data)
      return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                       "alula: argument " + std::to_string(i) +
                           " has been deleted or donated");
    buffers.arguments.push_back(data);
  }
  return nullptr;
}
} // namespace

void *alula::pjrt::LoadedExecutable_Execute(
    PJRT_LoadedExecutable_Execute_Args *args) {
  auto &loaded = *as<LoadedExecutable>(args->executable);
  if (loaded.deleted)
    return makeError(ALULA_STATUS_FAILED_PRECONDITION,
                     "alula: the executable has been deleted");
  if (args->num_devices != 1)
    return makeError(ALULA_STATUS_UNIMPLEMENTED,
                     "alula: a program runs on 1 device, " +
                         std::to_string(args->num_devices) + " are asked for");
  const Program &program = *loaded.program;
  CallBuffers buffers;
  auto **lists = static_cast<void ***>(args->argument_lists);
  if (void *error = takeArguments(program, args->num_args ? lists[0] : nullptr,
                                  args->num_args, buffers))
    return error;

  std::vector<alula_buffer *> results(program.resultTypes.size());
  alula_error *failed = alula_call(
      program.executable, program.function, nullptr, buffers.arguments.data(),
      buffers.arguments.size(), results.data(), results.size());
  if (failed)
    return makeError(failed);
  Device *device = args->execute_device ? as<Device>(args->execute_device)
                                        : loaded.device;
  auto **outputs = static_cast<void ***>(args->output_lists);
  for (size_t i = 0; i < results.size(); ++i)
    outputs[0][i] = makeBuffer(device, results[i]);
  if (args->device_complete_events)
    static_cast<void **>(args->device_complete_events)[0] = makeReadyEvent();
  return nullptr;
}

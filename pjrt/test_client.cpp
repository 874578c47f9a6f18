#include "pjrt/test_client.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <malloc.h>
#include <unistd.h>

using namespace alula;

const PJRT_Api &pjrt_test::getApi() {
  static const PJRT_Api *api = [] {
    const char *named = getenv("ALULA_PJRT_PLUGIN");
    void *library = dlopen(named ? named : ALULA_TEST_PLUGIN, RTLD_NOW);
    if (!library) {
      fprintf(stderr, "%s\n", dlerror());
      abort();
    }
    auto get =
        reinterpret_cast<const PJRT_Api *(*)()>(dlsym(library, "GetPjrtApi"));
    return get();
  }();
  return *api;
}

bool pjrt_test::sharesMemory() {
  const char *device = getenv("ALULA_DEVICE");
  return !device || strcmp(device, "afar") != 0;
}

long pjrt_test::getResident() {
  malloc_trim(0);
  long total = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld %ld", &total, &resident) != 2)
    ADD_FAILURE() << "no /proc/self/statm";
  if (file)
    fclose(file);
  return resident * sysconf(_SC_PAGESIZE);
}

std::string pjrt_test::takeError(void *error) {
  if (!error)
    return "";
  auto message = make<PJRT_Error_Message_Args>();
  message.error = error;
  reinterpret_cast<void (*)(void *)>(getApi().PJRT_Error_Message)(&message);
  auto code = make<PJRT_Error_GetCode_Args>();
  code.error = error;
  reinterpret_cast<void *(*)(void *)>(getApi().PJRT_Error_GetCode)(&code);
  std::string text(static_cast<const char *>(message.message),
                   message.message_size);
  auto destroy = make<PJRT_Error_Destroy_Args>();
  destroy.error = error;
  reinterpret_cast<void (*)(void *)>(getApi().PJRT_Error_Destroy)(&destroy);
  return std::to_string(code.code) + ": " + text;
}

pjrt_test::Client::Client(int64_t deviceCount) {
  auto option = make<PJRT_NamedValue>();
  option.name = const_cast<char *>("num_devices");
  option.name_size = strlen("num_devices");
  option.type = 1;
  option._anon5.int64_value = deviceCount;
  option.value_size = 1;
  auto args = make<PJRT_Client_Create_Args>();
  args.create_options = &option;
  args.num_options = 1;
  EXPECT_EQ(call(getApi().PJRT_Client_Create, args), "");
  handle = args.client;
  auto list = make<PJRT_Client_Devices_Args>();
  list.client = handle;
  EXPECT_EQ(call(getApi().PJRT_Client_Devices, list), "");
  auto **first = static_cast<void **>(list.devices);
  devices.assign(first, first + list.num_devices);
}

pjrt_test::Client::~Client() {
  auto args = make<PJRT_Client_Destroy_Args>();
  args.client = handle;
  EXPECT_EQ(call(getApi().PJRT_Client_Destroy, args), "");
}

std::string pjrt_test::Client::tryCompile(const std::string &text,
                                          void *&executable,
                                          const std::string &options) {
  auto program = make<PJRT_Program>();
  program.code = const_cast<char *>(text.data());
  program.code_size = text.size();
  program.format = const_cast<char *>("mlir");
  program.format_size = 4;
  auto args = make<PJRT_Client_Compile_Args>();
  args.client = handle;
  args.program = &program;
  args.compile_options = const_cast<char *>(options.data());
  args.compile_options_size = options.size();
  std::string error = call(getApi().PJRT_Client_Compile, args);
  executable = args.executable;
  return error;
}

void *pjrt_test::Client::compile(const std::string &program,
                                 const std::string &options) {
  void *executable = nullptr;
  EXPECT_EQ(tryCompile(program, executable, options), "");
  return executable;
}

void *pjrt_test::Client::upload(const std::vector<float> &values,
                                size_t device) {
  auto size = static_cast<int64_t>(values.size());
  auto args = make<PJRT_Client_BufferFromHostBuffer_Args>();
  args.client = handle;
  args.data = const_cast<float *>(values.data());
  args.type = 11;
  args.dims = &size;
  args.num_dims = 1;
  args.device = devices[device];
  EXPECT_EQ(call(getApi().PJRT_Client_BufferFromHostBuffer, args), "");
  EXPECT_EQ(await(args.done_with_host_buffer), "");
  return args.buffer;
}

std::string pjrt_test::tryStart(void *executable,
                                const std::vector<void *> &arguments,
                                std::vector<void *> &results, void *&event,
                                void *options) {
  auto getExecutable = make<PJRT_LoadedExecutable_GetExecutable_Args>();
  getExecutable.loaded_executable = executable;
  call(getApi().PJRT_LoadedExecutable_GetExecutable, getExecutable);
  auto outputs = make<PJRT_Executable_NumOutputs_Args>();
  outputs.executable = getExecutable.executable;
  call(getApi().PJRT_Executable_NumOutputs, outputs);
  auto destroy = make<PJRT_Executable_Destroy_Args>();
  destroy.executable = getExecutable.executable;
  call(getApi().PJRT_Executable_Destroy, destroy);

  results.assign(outputs.num_outputs, nullptr);
  void *list = const_cast<void **>(arguments.data()), *out = results.data();
  auto args = make<PJRT_LoadedExecutable_Execute_Args>();
  args.executable = executable;
  args.options = options;
  args.argument_lists = &list;
  args.num_devices = 1;
  args.num_args = arguments.size();
  args.output_lists = &out;
  args.device_complete_events = &event;
  std::string error = call(getApi().PJRT_LoadedExecutable_Execute, args);
  if (!error.empty())
    results.clear();
  return error;
}

std::string pjrt_test::tryExecute(void *executable,
                                  const std::vector<void *> &arguments,
                                  std::vector<void *> &results, void *options) {
  void *event = nullptr;
  std::string error = tryStart(executable, arguments, results, event, options);
  if (error.empty())
    await(event);
  return error;
}

std::vector<void *> pjrt_test::execute(void *executable,
                                       const std::vector<void *> &arguments) {
  std::vector<void *> results;
  EXPECT_EQ(tryExecute(executable, arguments, results), "");
  return results;
}

std::string pjrt_test::tryDownload(void *buffer, std::vector<float> &values) {
  auto args = make<PJRT_Buffer_ToHostBuffer_Args>();
  args.src = buffer;
  std::string error = call(getApi().PJRT_Buffer_ToHostBuffer, args);
  if (!error.empty())
    return error;
  values.resize(args.dst_size / sizeof(float));
  args.dst = values.data();
  error = call(getApi().PJRT_Buffer_ToHostBuffer, args);
  return error.empty() ? await(args.event) : error;
}

std::vector<float> pjrt_test::download(void *buffer) {
  std::vector<float> values;
  EXPECT_EQ(tryDownload(buffer, values), "");
  return values;
}

bool pjrt_test::isDeleted(void *buffer) {
  auto args = make<PJRT_Buffer_IsDeleted_Args>();
  args.buffer = buffer;
  EXPECT_EQ(call(getApi().PJRT_Buffer_IsDeleted, args), "");
  return args.is_deleted;
}

void pjrt_test::destroyBuffer(void *buffer) {
  auto args = make<PJRT_Buffer_Destroy_Args>();
  args.buffer = buffer;
  EXPECT_EQ(call(getApi().PJRT_Buffer_Destroy, args), "");
}

void pjrt_test::destroyExecutable(void *executable) {
  auto args = make<PJRT_LoadedExecutable_Destroy_Args>();
  args.executable = executable;
  EXPECT_EQ(call(getApi().PJRT_LoadedExecutable_Destroy, args), "");
}

std::string pjrt_test::await(void *event) {
  auto args = make<PJRT_Event_Await_Args>();
  args.event = event;
  std::string error = call(getApi().PJRT_Event_Await, args);
  destroyEvent(event);
  return error;
}

void pjrt_test::destroyEvent(void *event) {
  auto destroy = make<PJRT_Event_Destroy_Args>();
  destroy.event = event;
  EXPECT_EQ(call(getApi().PJRT_Event_Destroy, destroy), "");
}

std::string pjrt_test::makeProgram(size_t size, double scale, bool donates) {
  std::string type = "tensor<" + std::to_string(size) + "xf32>";
  return "module @jit_scale {\n  func.func public @main(%a: " + type +
         (donates ? " {tf.aliasing_output = 0 : i32}" : "") + ", %b: " + type +
         ") -> " + type + " {\n    %c = stablehlo.constant dense<" +
         std::to_string(scale) + "> : " + type +
         "\n    %d = stablehlo.multiply %a, %c : " + type +
         "\n    %e = stablehlo.add %d, %b : " + type +
         "\n    return %e : " + type + "\n  }\n}\n";
}

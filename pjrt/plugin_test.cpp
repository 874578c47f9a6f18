#include "pjrt/test_client.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

using namespace alula::pjrt_test;

namespace {
constexpr const char *deleted = "Buffer has been deleted or donated.";

/// All slots from the third on: the first two return nothing.
std::vector<void *> getSlots() {
  const PJRT_Api &api = getApi();
  auto **first = const_cast<void **>(&api.PJRT_Error_GetCode);
  auto **end = reinterpret_cast<void **>(
      reinterpret_cast<char *>(const_cast<PJRT_Api *>(&api)) + api.struct_size);
  return std::vector<void *>(first, end);
}

struct AnyArgs {
  size_t struct_size;
  void *fields[80];
};

/// The names of the functions that an empty struct is enough for.
bool makesAnObject(void *slot) {
  const PJRT_Api &api = getApi();
  return slot == api.PJRT_Client_Create ||
         slot == api.PJRT_TopologyDescription_Create ||
         slot == api.PJRT_Event_Create ||
         slot == api.PJRT_ExecuteContext_Create;
}
} // namespace

TEST(Plugin, DeclaresWhatItFills) {
  const PJRT_Api &api = getApi();
  EXPECT_EQ(api.pjrt_api_version.major_version, 0);
  EXPECT_EQ(api.pjrt_api_version.minor_version, 93);
  for (void *slot : getSlots())
    EXPECT_NE(slot, nullptr);
}

TEST(Plugin, NoSlotAbortsOnNullArguments) {
  for (void *slot : getSlots())
    EXPECT_NE(takeError(reinterpret_cast<void *(*)(void *)>(slot)(nullptr)),
              "");
  // These return nothing.
  reinterpret_cast<void (*)(void *)>(getApi().PJRT_Error_Destroy)(nullptr);
  reinterpret_cast<void (*)(void *)>(getApi().PJRT_Error_Message)(nullptr);
}

TEST(Plugin, NoSlotAbortsOnEmptyStructsOfAnySize) {
  for (void *slot : getSlots()) {
    if (makesAnObject(slot))
      continue;
    for (size_t size : {0u, 7u, 8u, 16u, 24u, 40u, 80u, 200u, 648u}) {
      AnyArgs args = {};
      args.struct_size = size;
      call(slot, args);
      for (size_t i = 0; size < 16 && i < 80; ++i)
        EXPECT_EQ(args.fields[i], nullptr) << "written beyond " << size;
    }
  }
}

TEST(Plugin, ReadsProgramsAndComputes) {
  Client client;
  void *executable = client.compile(makeProgram(3, 2));
  void *a = client.upload({1, 2, 3}), *b = client.upload({10, 20, 30});
  auto results = execute(executable, {a, b});
  EXPECT_EQ(download(results[0]), (std::vector<float>{12, 24, 36}));
  for (void *buffer : {a, b, results[0]})
    destroyBuffer(buffer);
  destroyExecutable(executable);
}

std::vector<int64_t> getDims(void *buffer) {
  auto args = make<PJRT_Buffer_Dimensions_Args>();
  args.buffer = buffer;
  EXPECT_EQ(call(getApi().PJRT_Buffer_Dimensions, args), "");
  auto *dims = static_cast<const int64_t *>(args.dims);
  return {dims, dims + args.num_dims};
}

TEST(Plugin, ResultsMayHaveSizesThatOnlyCallsKnow) {
  Client client;
  // The argument's own size, twice it, and the sum of two.
  void *executable = client.compile(
      "func.func public @main(%a: tensor<?xf32>, %b: tensor<?xf32>) -> "
      "(tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {\n"
      "  %0 = stablehlo.negate %a : tensor<?xf32>\n"
      "  %1 = stablehlo.concatenate %a, %a, dim = 0 : (tensor<?xf32>, "
      "tensor<?xf32>) -> tensor<?xf32>\n"
      "  %2 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<?xf32>, "
      "tensor<?xf32>) -> tensor<?xf32>\n"
      "  return %0, %1, %2 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>\n}");
  void *b = client.upload({7, 8});
  for (std::vector<float> values :
       {std::vector<float>{1, 2, 3}, std::vector<float>{5}}) {
    void *a = client.upload(values);
    auto results = execute(executable, {a, b});
    auto size = static_cast<int64_t>(values.size());
    std::vector<float> negated, twice(values), both(values);
    for (float value : values)
      negated.push_back(-value);
    twice.insert(twice.end(), values.begin(), values.end());
    both.insert(both.end(), {7, 8});
    EXPECT_EQ(getDims(results[0]), std::vector<int64_t>{size});
    EXPECT_EQ(getDims(results[1]), std::vector<int64_t>{2 * size});
    EXPECT_EQ(getDims(results[2]), std::vector<int64_t>{size + 2});
    EXPECT_EQ(download(results[0]), negated);
    EXPECT_EQ(download(results[1]), twice);
    EXPECT_EQ(download(results[2]), both);
    // Results are arguments as all others.
    auto more = execute(executable, {results[2], results[0]});
    EXPECT_EQ(getDims(more[2]), std::vector<int64_t>{2 * size + 2});
    for (void *buffer :
         {a, results[0], results[1], results[2], more[0], more[1], more[2]})
      destroyBuffer(buffer);
  }
  destroyBuffer(b);
  destroyExecutable(executable);
}

TEST(Plugin, ErrorsHaveResultsOfUnknownSizesToo) {
  Client client;
  void *executable = client.compile(
      "func.func public @main(%a: tensor<?xf32>, %b: tensor<?xf32>) -> "
      "tensor<?xf32> {\n"
      "  %0 = stablehlo.add %a, %b : tensor<?xf32>\n"
      "  %1 = stablehlo.concatenate %0, %a, dim = 0 : (tensor<?xf32>, "
      "tensor<?xf32>) -> tensor<?xf32>\n"
      "  return %1 : tensor<?xf32>\n}");
  void *a = client.upload({1, 2}), *b = client.upload({1, 2, 3});
  std::vector<void *> results;
  ASSERT_EQ(tryExecute(executable, {a, b}, results), "");
  std::vector<float> values;
  EXPECT_NE(tryDownload(results[0], values), "");
  for (void *buffer : {a, b, results[0]})
    destroyBuffer(buffer);
  destroyExecutable(executable);
}

// The text is not all of a program that names a file.
TEST(Plugin, B11AChangedObjectIsAnotherProgram) {
  if (system("clang-19 --version >/dev/null 2>&1"))
    GTEST_SKIP() << "no clang-19 to compile objects with";
  char folder[] = "/tmp/alula-pjrt-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  std::string base = std::string(folder) + "/k";
  auto build = [&](const char *value) {
    std::ofstream(base + ".c")
        << "#include \"alula/kernel_abi.h\"\n"
           "int32_t k(const alula_kernel_args *args, uint32_t x, uint32_t y, "
           "uint32_t z) {\n  const float *a = args->bindings[0];\n"
           "  float *r = args->bindings[1];\n"
           "  for (int i = 0; i < 4; ++i) r[i] = a[i] + "
        << value << ";\n  return 0;\n}\n";
    std::string command =
        "clang-19 -O2 -ffreestanding -fPIC -I" ALULA_TEST_INCLUDE " -c " +
        base + ".c -o " + base + ".o";
    return system(command.c_str()) == 0;
  };
  std::string program =
      "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
      "  %0 = dispatch.launch @k::@k(%a) : (tensor<4xf32>) -> tensor<4xf32>\n"
      "  return %0 : tensor<4xf32>\n}\n"
      "dispatch.executable @k attributes {objects = "
      "[#dispatch.object<path = \"" +
      base +
      ".o\">]} {\n  dispatch.entry @k bindings([#dispatch<access read>, "
      "#dispatch<access write>]) workgroups [1, 1, 1] scratch 0\n}\n";
  Client client;
  void *a = client.upload({1, 2, 3, 4});
  auto run = [&](void *executable) {
    auto results = execute(executable, {a});
    std::vector<float> values = download(results[0]);
    destroyBuffer(results[0]);
    return values;
  };
  ASSERT_TRUE(build("10"));
  void *old = client.compile(program);
  EXPECT_EQ(run(old), (std::vector<float>{11, 12, 13, 14}));
  ASSERT_TRUE(build("20"));
  void *now = client.compile(program);
  EXPECT_EQ(run(now), (std::vector<float>{21, 22, 23, 24}));
  EXPECT_EQ(run(old), (std::vector<float>{11, 12, 13, 14}));
  // What is compiled holds its code.
  std::filesystem::remove_all(folder);
  EXPECT_EQ(run(now), (std::vector<float>{21, 22, 23, 24}));
  void *none = nullptr;
  EXPECT_NE(client.tryCompile(program, none).find("[obj-missing] @k"),
            std::string::npos);
  destroyBuffer(a);
  destroyExecutable(old);
  destroyExecutable(now);
}

TEST(Plugin, ExecuteOptionsMayBeOlderOrNewer) {
  Client client;
  void *executable = client.compile(makeProgram(1, 2, /*donates=*/true));
  int64_t kept[] = {0};
  for (size_t size : {16u, 80u, 112u, 144u, 400u}) {
    alignas(8) char space[400] = {};
    auto *options = reinterpret_cast<PJRT_ExecuteOptions *>(space);
    options->struct_size = size;
    if (size >= 80) {
      options->non_donatable_input_indices = kept;
      options->num_non_donatable_input_indices = 1;
    }
    void *a = client.upload({1}), *b = client.upload({2});
    std::vector<void *> results;
    EXPECT_EQ(tryExecute(executable, {a, b}, results, options), "");
    EXPECT_EQ(download(results[0]), (std::vector<float>{4}));
    EXPECT_EQ(isDeleted(a), size < 80);
    for (void *buffer : {a, b, results[0]})
      destroyBuffer(buffer);
  }
  destroyExecutable(executable);
}

TEST(Plugin, DonatedMemoryIsTheResults) {
  Client client;
  void *executable = client.compile(makeProgram(64, 3, /*donates=*/true));
  void *a = client.upload(std::vector<float>(64, 1));
  void *b = client.upload(std::vector<float>(64, 1));
  auto pointer = make<PJRT_Buffer_UnsafePointer_Args>();
  pointer.buffer = a;
  call(getApi().PJRT_Buffer_UnsafePointer, pointer);
  auto results = execute(executable, {a, b});
  auto after = make<PJRT_Buffer_UnsafePointer_Args>();
  after.buffer = results[0];
  call(getApi().PJRT_Buffer_UnsafePointer, after);
  EXPECT_EQ(pointer.buffer_pointer, after.buffer_pointer);
  EXPECT_TRUE(isDeleted(a));
  EXPECT_FALSE(isDeleted(b));
  std::vector<void *> none;
  EXPECT_EQ(tryExecute(executable, {a, b}, none),
            std::string("3: Invalid buffer passed to Execute() as argument 0 "
                        "to replica 0: INVALID_ARGUMENT: ") +
                deleted);
  EXPECT_EQ(tryExecute(executable, {b, b}, none),
            "3: Attempt to use a buffer that was previously donated in the "
            "same call to Execute() (arguments 0 and 1: f(donate(a), a))");
  EXPECT_FALSE(isDeleted(b));
  std::vector<float> values;
  EXPECT_EQ(tryDownload(a, values), std::string("3: ") + deleted);
  for (void *buffer : {a, b, results[0]})
    destroyBuffer(buffer);
  destroyExecutable(executable);
}

TEST(Plugin, WrongArgumentsAreSentences) {
  Client client(2);
  void *executable = client.compile(makeProgram(2, 3));
  void *a = client.upload({1, 2}), *wrong = client.upload({1, 2, 3});
  void *elsewhere = client.upload({1, 2}, 1);
  std::vector<void *> none;
  EXPECT_EQ(tryExecute(executable, {a}, none),
            "3: alula: the program takes 2 arguments, 1 are given");
  std::string where = "3: Invalid buffer passed to Execute() as argument 1 to "
                      "replica 0: INVALID_ARGUMENT: ";
  EXPECT_EQ(tryExecute(executable, {a, wrong}, none),
            where + "the program takes f32[2], the buffer has f32[3]");
  EXPECT_EQ(tryExecute(executable, {a, elsewhere}, none),
            where + "it is on AlulaDevice(id=1), the program runs on "
                    "AlulaDevice(id=0)");
  EXPECT_EQ(tryExecute(executable, {a, nullptr}, none), where + "it is null");
  for (void *buffer : {a, wrong, elsewhere})
    destroyBuffer(buffer);
  destroyExecutable(executable);
}

TEST(Plugin, WrongProgramsAreSentences) {
  Client client;
  void *none = nullptr;
  EXPECT_NE(client.tryCompile("module {", none), "");
  EXPECT_NE(client.tryCompile(std::string("ML\xefR\0\0", 6), none), "");
  // CompileOptionsProto: partitions = 4, and an option that is none of ours.
  EXPECT_EQ(client.tryCompile(makeProgram(2, 1), none, "\x1a\x02\x28\x04"),
            "3: alula: the program is for device 1, there are 1");
  EXPECT_EQ(client.tryCompile(makeProgram(2, 1), none,
                              "\x3a\x09\x0a\x03xyz\x12\x02\x10\x01"),
            "3: No such compile option: 'xyz'");
  EXPECT_EQ(client.tryCompile(makeProgram(2, 1), none, "\x1a\x7f"),
            "3: alula: the compile options can't be read");
}

TEST(Plugin, ErrorsTravelThroughBuffers) {
  Client client;
  auto memory = make<PJRT_Device_DefaultMemory_Args>();
  memory.device = client.devices[0];
  call(getApi().PJRT_Device_DefaultMemory, memory);
  int64_t size = 2;
  auto args = make<PJRT_Client_CreateErrorBuffer_Args>();
  args.client = client.handle;
  args.error_code = 14;
  args.error_message = const_cast<char *>("lost");
  args.error_message_size = 4;
  args.shape_dims = &size;
  args.shape_num_dims = 1;
  args.shape_element_type = 11;
  args.memory = memory.memory;
  ASSERT_EQ(call(getApi().PJRT_Client_CreateErrorBuffer, args), "");
  void *executable = client.compile(makeProgram(2, 3));
  void *b = client.upload({1, 2});
  std::vector<void *> first, second;
  EXPECT_EQ(tryExecute(executable, {args.buffer, b}, first), "");
  EXPECT_EQ(tryExecute(executable, {b, first[0]}, second), "");
  std::vector<float> values;
  EXPECT_EQ(tryDownload(second[0], values), "14: lost");
  for (void *buffer : {args.buffer, b, first[0], second[0]})
    destroyBuffer(buffer);
  destroyExecutable(executable);
}

TEST(Plugin, FuturesAreRunWhenTheirArgumentsCome) {
  Client client;
  auto memory = make<PJRT_Device_DefaultMemory_Args>();
  memory.device = client.devices[0];
  call(getApi().PJRT_Device_DefaultMemory, memory);
  int64_t size = 2;
  auto spec = make<PJRT_ShapeSpec>();
  spec.dims = &size;
  spec.num_dims = 1;
  spec.element_type = 11;
  auto args = make<PJRT_Client_CreateBuffersForAsyncHostToDevice_Args>();
  args.client = client.handle;
  args.shape_specs = &spec;
  args.num_shape_specs = 1;
  args.memory = memory.memory;
  ASSERT_EQ(call(getApi().PJRT_Client_CreateBuffersForAsyncHostToDevice, args),
            "");
  auto retrieve =
      make<PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args>();
  retrieve.transfer_manager = args.transfer_manager;
  ASSERT_EQ(call(getApi().PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer,
                 retrieve),
            "");

  void *executable = client.compile(makeProgram(2, 3));
  void *b = client.upload({1, 2});
  void *list[] = {retrieve.buffer_out, b}, *out[1], *lists = list, *outs = out,
       *done = nullptr;
  auto run = make<PJRT_LoadedExecutable_Execute_Args>();
  run.executable = executable;
  run.argument_lists = &lists;
  run.num_devices = 1;
  run.num_args = 2;
  run.output_lists = &outs;
  run.device_complete_events = &done;
  ASSERT_EQ(call(getApi().PJRT_LoadedExecutable_Execute, run), "");
  auto ready = make<PJRT_Event_IsReady_Args>();
  ready.event = done;
  call(getApi().PJRT_Event_IsReady, ready);
  EXPECT_FALSE(ready.is_ready);

  float data[] = {5, 6};
  auto transfer =
      make<PJRT_AsyncHostToDeviceTransferManager_TransferData_Args>();
  transfer.transfer_manager = args.transfer_manager;
  transfer.data = data;
  transfer.transfer_size = sizeof data;
  transfer.is_last_transfer = true;
  ASSERT_EQ(call(getApi().PJRT_AsyncHostToDeviceTransferManager_TransferData,
                 transfer),
            "");
  await(transfer.done_with_h2d_transfer);
  EXPECT_EQ(await(done), "");
  EXPECT_EQ(download(out[0]), (std::vector<float>{16, 20}));
  auto destroy = make<PJRT_AsyncHostToDeviceTransferManager_Destroy_Args>();
  destroy.transfer_manager = args.transfer_manager;
  call(getApi().PJRT_AsyncHostToDeviceTransferManager_Destroy, destroy);
  for (void *buffer : {retrieve.buffer_out, b, out[0]})
    destroyBuffer(buffer);
  destroyExecutable(executable);
}

TEST(Plugin, SerializedExecutablesComeBack) {
  Client client;
  void *executable = client.compile(makeProgram(2, 3, /*donates=*/true));
  auto get = make<PJRT_LoadedExecutable_GetExecutable_Args>();
  get.loaded_executable = executable;
  call(getApi().PJRT_LoadedExecutable_GetExecutable, get);
  auto save = make<PJRT_Executable_Serialize_Args>();
  save.executable = get.executable;
  ASSERT_EQ(call(getApi().PJRT_Executable_Serialize, save), "");
  std::string bytes(static_cast<const char *>(save.serialized_bytes),
                    save.serialized_bytes_size);
  reinterpret_cast<void (*)(void *)>(save.serialized_executable_deleter)(
      save.serialized_executable);
  auto drop = make<PJRT_Executable_Destroy_Args>();
  drop.executable = get.executable;
  call(getApi().PJRT_Executable_Destroy, drop);
  destroyExecutable(executable);

  auto load = [&](const std::string &given, void *&loaded) {
    auto args = make<PJRT_Executable_DeserializeAndLoad_Args>();
    args.client = client.handle;
    args.serialized_executable = const_cast<char *>(given.data());
    args.serialized_executable_size = given.size();
    std::string error = call(getApi().PJRT_Executable_DeserializeAndLoad, args);
    loaded = args.loaded_executable;
    return error;
  };
  void *loaded = nullptr;
  ASSERT_EQ(load(bytes, loaded), "");
  void *a = client.upload({1, 2}), *b = client.upload({1, 1});
  auto results = execute(loaded, {a, b});
  EXPECT_EQ(download(results[0]), (std::vector<float>{4, 7}));
  EXPECT_TRUE(isDeleted(a));
  std::string damaged = bytes;
  damaged[damaged.size() / 2] ^= 1;
  EXPECT_EQ(load(damaged, loaded), "3: alula: Failed to parse the serialized "
                                   "executable: its bytes are damaged");
  EXPECT_EQ(load("garbage", loaded),
            "3: alula: Failed to parse the serialized executable: it is not "
            "one of this plugin's");
  destroyExecutable(loaded);
  for (void *buffer : {a, b, results[0]})
    destroyBuffer(buffer);
}

TEST(Plugin, TellsWhatACallTakes) {
  Client client;
  void *executable = client.compile(makeProgram(8, 3));
  auto get = make<PJRT_LoadedExecutable_GetExecutable_Args>();
  get.loaded_executable = executable;
  call(getApi().PJRT_LoadedExecutable_GetExecutable, get);
  auto cost = make<PJRT_Executable_GetCostAnalysis_Args>();
  cost.executable = get.executable;
  ASSERT_EQ(call(getApi().PJRT_Executable_GetCostAnalysis, cost), "");
  auto *values = static_cast<PJRT_NamedValue *>(cost.properties);
  for (size_t i = 0; i < cost.num_properties; ++i) {
    std::string name(static_cast<const char *>(values[i].name),
                     values[i].name_size);
    if (name == "flops")
      EXPECT_EQ(values[i]._anon5.float_value, 16);
    if (name == "bytes accessed")
      EXPECT_EQ(values[i]._anon5.float_value, 96);
  }
  auto memory = make<PJRT_Executable_GetCompiledMemoryStats_Args>();
  memory.executable = get.executable;
  ASSERT_EQ(call(getApi().PJRT_Executable_GetCompiledMemoryStats, memory), "");
  EXPECT_EQ(memory.argument_size_in_bytes, 64);
  EXPECT_EQ(memory.output_size_in_bytes, 32);
  EXPECT_GT(memory.generated_code_size_in_bytes, 0);
  auto drop = make<PJRT_Executable_Destroy_Args>();
  drop.executable = get.executable;
  call(getApi().PJRT_Executable_Destroy, drop);
  destroyExecutable(executable);
}

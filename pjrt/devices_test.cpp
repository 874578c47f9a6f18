// Programs on several devices.

#include "pjrt/test_client.h"

#include <gtest/gtest.h>

using namespace alula::pjrt_test;

TEST(Devices, CopyFromEachOther) {
  Client client(2);
  void *a = client.upload({1, 2});
  auto copy = make<PJRT_Buffer_CopyToDevice_Args>();
  copy.buffer = a;
  copy.dst_device = client.devices[1];
  ASSERT_EQ(call(getApi().PJRT_Buffer_CopyToDevice, copy), "");
  EXPECT_EQ(download(copy.dst_buffer), (std::vector<float>{1, 2}));
  auto stats = make<PJRT_Device_MemoryStats_Args>();
  stats.device = client.devices[1];
  ASSERT_EQ(call(getApi().PJRT_Device_MemoryStats, stats), "");
  EXPECT_EQ(stats.bytes_in_use, 8);
  destroyBuffer(a);
  destroyBuffer(copy.dst_buffer);
  call(getApi().PJRT_Device_MemoryStats, stats);
  EXPECT_EQ(stats.bytes_in_use, 0);
  EXPECT_EQ(stats.peak_bytes_in_use, 8);
}

TEST(Devices, RunTheirReplicas) {
  Client client(2);
  // CompileOptionsProto: num_replicas = 2.
  void *executable =
      client.compile(makeProgram(1, 2), std::string("\x1a\x02\x20\x02", 4));
  void *first[] = {client.upload({1}, 0), client.upload({10}, 0)};
  void *second[] = {client.upload({2}, 1), client.upload({20}, 1)};
  void *lists[] = {first, second}, *out[2] = {}, *outs[] = {&out[0], &out[1]};
  auto run = make<PJRT_LoadedExecutable_Execute_Args>();
  run.executable = executable;
  run.argument_lists = lists;
  run.num_devices = 2;
  run.num_args = 2;
  run.output_lists = outs;
  ASSERT_EQ(call(getApi().PJRT_LoadedExecutable_Execute, run), "");
  EXPECT_EQ(download(out[0]), (std::vector<float>{12}));
  EXPECT_EQ(download(out[1]), (std::vector<float>{24}));
  run.num_devices = 1;
  EXPECT_EQ(call(getApi().PJRT_LoadedExecutable_Execute, run),
            "3: alula: the program runs on 2 devices, arguments for 1 are "
            "given");
  for (void *buffer :
       {first[0], first[1], second[0], second[1], out[0], out[1]})
    destroyBuffer(buffer);
  destroyExecutable(executable);
}

namespace {
/// Every device gets the sum over all devices, twice in a loop.
constexpr const char *sumOverDevices = R"(
module @sum {
  func.func public @main(%a: tensor<2xf32>) -> tensor<2xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %two = stablehlo.constant dense<2> : tensor<i32>
    %r:2 = stablehlo.while(%i = %zero, %x = %a) : tensor<i32>, tensor<2xf32>
    cond {
      %more = stablehlo.compare LT, %i, %two
          : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %s = "stablehlo.all_reduce"(%x) <{
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
        replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>,
        use_global_device_ids}> ({
      ^bb0(%l: tensor<f32>, %r: tensor<f32>):
        %sum = stablehlo.add %l, %r : tensor<f32>
        stablehlo.return %sum : tensor<f32>
      }) : (tensor<2xf32>) -> tensor<2xf32>
      %next = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %next, %s : tensor<i32>, tensor<2xf32>
    }
    return %r#1 : tensor<2xf32>
  }
})";

/// Runs it on four devices; what one gets is its error or its values.
std::vector<std::string> sumOn(void *executable, std::vector<void *> inputs) {
  std::vector<void *> out(4);
  std::vector<void **> lists, outs;
  for (size_t i = 0; i < 4; ++i) {
    lists.push_back(&inputs[i]);
    outs.push_back(&out[i]);
  }
  auto run = make<PJRT_LoadedExecutable_Execute_Args>();
  run.executable = executable;
  run.argument_lists = lists.data();
  run.num_devices = 4;
  run.num_args = 1;
  run.output_lists = outs.data();
  EXPECT_EQ(call(getApi().PJRT_LoadedExecutable_Execute, run), "");
  std::vector<std::string> texts;
  for (void *buffer : out) {
    std::vector<float> values;
    std::string error = tryDownload(buffer, values), text;
    for (float value : values)
      text += std::to_string(static_cast<int>(value)) + " ";
    texts.push_back(error.empty() ? text : error);
    destroyBuffer(buffer);
  }
  return texts;
}
} // namespace

TEST(Devices, Meet) {
  Client client(4);
  // CompileOptionsProto: num_partitions = 4.
  void *executable = client.compile(sumOverDevices, "\x1a\x02\x28\x04");
  std::vector<void *> inputs;
  for (size_t i = 0; i < 4; ++i)
    inputs.push_back(client.upload({float(i), 1}, i));
  for (int repeat = 0; repeat < 20; ++repeat)
    EXPECT_EQ(sumOn(executable, inputs), std::vector<std::string>(4, "24 16 "));
  // One that can't come: nobody waits for it.
  auto memory = make<PJRT_Device_DefaultMemory_Args>();
  memory.device = client.devices[2];
  call(getApi().PJRT_Device_DefaultMemory, memory);
  auto failed = make<PJRT_Client_CreateErrorBuffer_Args>();
  failed.client = client.handle;
  int64_t size = 2;
  failed.error_code = 8;
  failed.error_message = const_cast<char *>("no room");
  failed.error_message_size = 7;
  failed.shape_dims = &size;
  failed.shape_num_dims = 1;
  failed.shape_element_type = 11;
  failed.memory = memory.memory;
  ASSERT_EQ(call(getApi().PJRT_Client_CreateErrorBuffer, failed), "");
  std::swap(inputs[2], failed.buffer);
  auto results = sumOn(executable, inputs);
  EXPECT_EQ(results[2], "8: no room");
  // They may come after it has failed.
  for (size_t i : {0u, 1u, 3u}) {
    EXPECT_EQ(results[i].find("10: sum: "), 0u) << results[i];
    EXPECT_NE(results[i].find("AlulaDevice(id=2) failed: no room"),
              std::string::npos)
        << results[i];
  }
  destroyBuffer(failed.buffer);
  for (void *buffer : inputs)
    destroyBuffer(buffer);
  destroyExecutable(executable);
}

namespace {
/// The inner product of an argument and `count` weights that are 1, -1, ….
std::string makeWeights(size_t count) {
  std::string hex;
  for (size_t i = 0; i < count; ++i)
    hex += i % 2 ? "000080BF" : "0000803F";
  std::string type = "tensor<" + std::to_string(count) + "xf32>";
  return "module @weights {\n  func.func public @main(%x: " + type +
         ") -> tensor<1xf32> {\n    %w = stablehlo.constant dense<\"0x" + hex +
         "\"> : " + type +
         "\n    %r = stablehlo.dot_general %x, %w, contracting_dims = [0] x [0]"
         " : (" +
         type + ", " + type +
         ") -> tensor<f32>\n    %s = stablehlo.reshape %r : (tensor<f32>) -> "
         "tensor<1xf32>\n    return %s : tensor<1xf32>\n  }\n}\n";
}

/// Runs a program on a device that it was not compiled for.
float runOn(void *executable, void *device, void *argument) {
  void *out = nullptr, **list = &argument, **results = &out;
  auto run = make<PJRT_LoadedExecutable_Execute_Args>();
  run.executable = executable;
  run.argument_lists = &list;
  run.num_devices = 1;
  run.num_args = 1;
  run.output_lists = &results;
  run.execute_device = device;
  EXPECT_EQ(call(getApi().PJRT_LoadedExecutable_Execute, run), "");
  std::vector<float> values = download(out);
  destroyBuffer(out);
  return values.empty() ? -1 : values.front();
}
} // namespace

TEST(Devices, HaveWeightsOnce) {
  constexpr size_t count = 1 << 21;
  constexpr long bytes = count * sizeof(float);
  Client client(8);
  void *executable = client.compile(makeWeights(count));
  std::vector<void *> inputs;
  for (size_t i = 0; i < client.devices.size(); ++i) {
    std::vector<float> values(count);
    values[2 * i] = 3;
    values[2 * i + 1] = float(i);
    inputs.push_back(client.upload(values, i));
  }
  EXPECT_EQ(runOn(executable, client.devices[0], inputs[0]), 3);
  long before = getResident();
  for (size_t i = 1; i < inputs.size(); ++i)
    EXPECT_EQ(runOn(executable, client.devices[i], inputs[i]), 3 - float(i));
  // Where devices have memory of their own, each has the weights.
  long copies = (getResident() - before) / (bytes / 2);
  if (sharesMemory())
    EXPECT_LT(copies, 2);
  else
    EXPECT_GE(copies, 13);
  for (void *buffer : inputs)
    destroyBuffer(buffer);
  destroyExecutable(executable);
}

namespace {
uintptr_t getAddress(void *buffer) {
  auto args = make<PJRT_Buffer_UnsafePointer_Args>();
  args.buffer = buffer;
  EXPECT_EQ(call(getApi().PJRT_Buffer_UnsafePointer, args), "");
  return args.buffer_pointer;
}
} // namespace

TEST(Devices, WriteInPlaceWhatIsTheirs) {
  Client client(8);
  // CompileOptionsProto: num_replicas = 8.
  void *executable = client.compile(makeProgram(2, 2, /*donates=*/true),
                                    std::string("\x1a\x02\x20\x08", 4));
  std::vector<void *> arguments;
  std::vector<uintptr_t> addresses;
  for (size_t i = 0; i < 8; ++i) {
    arguments.push_back(client.upload({float(i), 1}, i));
    arguments.push_back(client.upload({1, 1}, i));
    addresses.push_back(getAddress(arguments[2 * i]));
  }
  std::vector<void *> out(8);
  std::vector<void **> lists, outs;
  for (size_t i = 0; i < 8; ++i) {
    lists.push_back(&arguments[2 * i]);
    outs.push_back(&out[i]);
  }
  auto run = make<PJRT_LoadedExecutable_Execute_Args>();
  run.executable = executable;
  run.argument_lists = lists.data();
  run.num_devices = 8;
  run.num_args = 2;
  run.output_lists = outs.data();
  ASSERT_EQ(call(getApi().PJRT_LoadedExecutable_Execute, run), "");
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(download(out[i]), (std::vector<float>{2 * float(i) + 1, 3}));
    EXPECT_EQ(getAddress(out[i]), addresses[i]);
    EXPECT_TRUE(isDeleted(arguments[2 * i]));
    auto copy = make<PJRT_Buffer_CopyToDevice_Args>();
    copy.buffer = out[i];
    copy.dst_device = client.devices[(i + 3) % 8];
    ASSERT_EQ(call(getApi().PJRT_Buffer_CopyToDevice, copy), "");
    EXPECT_EQ(download(copy.dst_buffer), download(out[i]));
    destroyBuffer(copy.dst_buffer);
  }
  for (auto *list : {&arguments, &out})
    for (void *buffer : *list)
      destroyBuffer(buffer);
  destroyExecutable(executable);
}

namespace {
/// The error of a client with such an option, or "".
std::string tryDevice(const std::string &device) {
  auto option = make<PJRT_NamedValue>();
  option.name = const_cast<char *>("device");
  option.name_size = 6;
  option._anon5.string_value = const_cast<char *>(device.data());
  option.value_size = device.size();
  auto args = make<PJRT_Client_Create_Args>();
  args.create_options = &option;
  args.num_options = 1;
  std::string error = call(getApi().PJRT_Client_Create, args);
  if (!error.empty())
    return error;
  auto name = make<PJRT_Client_PlatformName_Args>();
  name.client = args.client;
  EXPECT_EQ(call(getApi().PJRT_Client_PlatformName, name), "");
  EXPECT_EQ(std::string(static_cast<const char *>(name.platform_name),
                        name.platform_name_size),
            "alula");
  auto destroy = make<PJRT_Client_Destroy_Args>();
  destroy.client = args.client;
  return call(getApi().PJRT_Client_Destroy, destroy);
}
} // namespace

TEST(Devices, ArePickedByTheirDriver) {
  for (const char *device : {"cpu", "null", "afar"})
    EXPECT_EQ(tryDevice(device), "");
  EXPECT_EQ(tryDevice("toaster"), "5: alula: there is no device 'toaster'");
}

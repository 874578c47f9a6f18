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
    EXPECT_NE(results[i].find("AlulaDevice(id=2) failed: no room"), std::string::npos)
        << results[i];
  }
  destroyBuffer(failed.buffer);
  for (void *buffer : inputs)
    destroyBuffer(buffer);
  destroyExecutable(executable);
}

// Arrays of the host become buffers, and are lent again.

#include "pjrt/test_client.h"

#include <gtest/gtest.h>

using namespace alula::pjrt_test;

namespace {
/// A buffer of floats that may use the host's memory as long as it lives.
PJRT_Client_BufferFromHostBuffer_Args lend(Client &client, float *data,
                                           int64_t size) {
  auto args = make<PJRT_Client_BufferFromHostBuffer_Args>();
  args.client = client.handle;
  args.data = data;
  args.type = 11;
  args.dims = &size;
  args.num_dims = 1;
  args.host_buffer_semantics = 2;
  EXPECT_EQ(call(getApi().PJRT_Client_BufferFromHostBuffer, args), "");
  return args;
}
} // namespace

TEST(HostArrays, MayHaveStridesAndUnusedBits) {
  Client client;
  // A 2x3 array that lies column by column, of int4 with dirty high bits.
  int8_t host[] = {0x71, 0x0f, 0x22, 0x78, 0x13, 0x05};
  int64_t dims[] = {2, 3}, strides[] = {1, 2};
  auto args = make<PJRT_Client_BufferFromHostBuffer_Args>();
  args.client = client.handle;
  args.data = host;
  args.type = 21;
  args.dims = dims;
  args.num_dims = 2;
  args.byte_strides = strides;
  args.num_byte_strides = 2;
  ASSERT_EQ(call(getApi().PJRT_Client_BufferFromHostBuffer, args), "");
  await(args.done_with_host_buffer);
  int8_t back[6] = {};
  auto get = make<PJRT_Buffer_ToHostBuffer_Args>();
  get.src = args.buffer;
  get.dst = back;
  get.dst_size = 6;
  ASSERT_EQ(call(getApi().PJRT_Buffer_ToHostBuffer, get), "");
  await(get.event);
  EXPECT_EQ(std::vector<int8_t>(back, back + 6),
            (std::vector<int8_t>{1, 2, 3, -1, -8, 5}));
  // In 3 bytes: two in each, the first one low.
  get.dst_size = 3;
  ASSERT_EQ(call(getApi().PJRT_Buffer_ToHostBuffer, get), "");
  await(get.event);
  EXPECT_EQ(uint8_t(back[0]), 0x21);
  EXPECT_EQ(uint8_t(back[1]), 0xf3);
  EXPECT_EQ(uint8_t(back[2]), 0x58);
  get.dst_size = 2;
  EXPECT_EQ(call(getApi().PJRT_Buffer_ToHostBuffer, get),
            "3: alula: the host buffer has 2 bytes, needs 6");
  destroyBuffer(args.buffer);
}

TEST(HostArrays, HaveEveryLayoutIfTheyAreEmpty) {
  Client client;
  int64_t dims[] = {3, 0}, order[] = {1, 0};
  auto layout = make<PJRT_Buffer_MemoryLayout>();
  layout._anon2.tiled.minor_to_major = order;
  layout._anon2.tiled.minor_to_major_size = 2;
  auto args = make<PJRT_Client_BufferFromHostBuffer_Args>();
  args.client = client.handle;
  args.data = dims;
  args.type = 11;
  args.dims = dims;
  args.num_dims = 2;
  args.device_layout = &layout;
  ASSERT_EQ(call(getApi().PJRT_Client_BufferFromHostBuffer, args), "");
  EXPECT_EQ(await(args.done_with_host_buffer), "");
  destroyBuffer(args.buffer);
}

TEST(HostArrays, AreNotCopiedIfTheyAreLarge) {
  Client client;
  alignas(64) static float host[2048] = {};
  auto args = lend(client, host, 2048);
  ASSERT_TRUE(args.buffer);
  auto pointer = make<PJRT_Buffer_UnsafePointer_Args>();
  pointer.buffer = args.buffer;
  call(getApi().PJRT_Buffer_UnsafePointer, pointer);
  EXPECT_EQ(pointer.buffer_pointer == reinterpret_cast<uintptr_t>(host),
            sharesMemory());
  auto ready = make<PJRT_Event_IsReady_Args>();
  ready.event = args.done_with_host_buffer;
  call(getApi().PJRT_Event_IsReady, ready);
  EXPECT_EQ(ready.is_ready, !sharesMemory());
  destroyBuffer(args.buffer);
  EXPECT_EQ(await(args.done_with_host_buffer), "");
}

TEST(HostArrays, ThatAreMisalignedAreCopiedByTheSecondCall) {
  constexpr size_t size = 2048;
  Client client;
  void *zeros = client.upload(std::vector<float>(size));
  void *executable = client.compile(makeProgram(size, 1));
  // Clients do not change what is immutable: here it tells who reads it.
  alignas(64) static float host[size + 16];
  auto readThrice = [&](size_t offset) {
    float *data = host + offset;
    auto args = lend(client, data, size);
    std::vector<float> read;
    for (float value : {1.0f, 2.0f, 3.0f}) {
      data[size - 1] = value;
      auto results = execute(executable, {args.buffer, zeros});
      read.push_back(download(results[0]).back());
      destroyBuffer(results[0]);
    }
    destroyBuffer(args.buffer);
    EXPECT_EQ(await(args.done_with_host_buffer), "");
    return read;
  };
  if (sharesMemory()) {
    EXPECT_EQ(readThrice(0), (std::vector<float>{1, 2, 3}));
    EXPECT_EQ(readThrice(4), (std::vector<float>{1, 2, 2}));
  }
  destroyBuffer(zeros);
  destroyExecutable(executable);
}

TEST(HostArrays, OfReferencesStay) {
  Client client;
  void *executable = client.compile(makeProgram(2, 3, /*donates=*/true));
  void *a = client.upload({1, 2}), *b = client.upload({0, 0});
  auto hold = make<PJRT_Buffer_IncreaseExternalReferenceCount_Args>();
  hold.buffer = a;
  call(getApi().PJRT_Buffer_IncreaseExternalReferenceCount, hold);
  auto pointer = make<PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args>();
  pointer.buffer = a;
  call(getApi().PJRT_Buffer_OpaqueDeviceMemoryDataPointer, pointer);
  auto results = execute(executable, {a, b});
  EXPECT_TRUE(isDeleted(a));
  auto *shown = static_cast<float *>(pointer.device_memory_ptr);
  EXPECT_TRUE(!sharesMemory() || shown[1] == 2);
  EXPECT_EQ(download(results[0]), (std::vector<float>{3, 6}));
  destroyBuffer(a);
  EXPECT_TRUE(!sharesMemory() || shown[1] == 2);
  auto drop = make<PJRT_Buffer_DecreaseExternalReferenceCount_Args>();
  drop.buffer = a;
  EXPECT_EQ(call(getApi().PJRT_Buffer_DecreaseExternalReferenceCount, drop),
            "");
  for (void *buffer : {b, results[0]})
    destroyBuffer(buffer);
  destroyExecutable(executable);
}

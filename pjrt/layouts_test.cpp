// Arrays in layouts other than row-major.

#include "pjrt/test_client.h"

#include <gtest/gtest.h>

using namespace alula::pjrt_test;

namespace {
/// A PJRT_Buffer_MemoryLayout of dimensions from minor to major.
PJRT_Buffer_MemoryLayout makeLayout(std::vector<int64_t> &minorToMajor) {
  auto layout = make<PJRT_Buffer_MemoryLayout>();
  layout._anon2.tiled.minor_to_major = minorToMajor.data();
  layout._anon2.tiled.minor_to_major_size = minorToMajor.size();
  return layout;
}

/// An array of the host's, row-major, that is to lie in some layout.
std::string tryUpload(const Client &client, const std::vector<float> &values,
                      std::vector<int64_t> dims,
                      const PJRT_Buffer_MemoryLayout &layout, void *&buffer) {
  auto args = make<PJRT_Client_BufferFromHostBuffer_Args>();
  args.client = client.handle;
  args.data = const_cast<float *>(values.data());
  args.type = 11;
  args.dims = dims.data();
  args.num_dims = dims.size();
  args.device_layout = const_cast<PJRT_Buffer_MemoryLayout *>(&layout);
  std::string error = call(getApi().PJRT_Client_BufferFromHostBuffer, args);
  if (error.empty())
    await(args.done_with_host_buffer);
  buffer = args.buffer;
  return error;
}

void *upload(const Client &client, const std::vector<float> &values,
             std::vector<int64_t> dims, std::vector<int64_t> minorToMajor) {
  void *buffer = nullptr;
  EXPECT_EQ(tryUpload(client, values, dims, makeLayout(minorToMajor), buffer),
            "");
  return buffer;
}

/// The elements in the order of a layout of the host; null: of the buffer.
std::vector<float> download(void *buffer, size_t count,
                            const PJRT_Buffer_MemoryLayout *layout) {
  std::vector<float> values(count);
  auto args = make<PJRT_Buffer_ToHostBuffer_Args>();
  args.src = buffer;
  args.host_layout = const_cast<PJRT_Buffer_MemoryLayout *>(layout);
  args.dst = values.data();
  args.dst_size = count * sizeof(float);
  EXPECT_EQ(call(getApi().PJRT_Buffer_ToHostBuffer, args), "");
  EXPECT_EQ(await(args.event), "");
  return values;
}

std::vector<float> downloadAs(void *buffer, size_t count,
                              std::vector<int64_t> minorToMajor) {
  auto layout = makeLayout(minorToMajor);
  return download(buffer, count, &layout);
}

std::vector<int64_t> getLayout(void *buffer) {
  auto args = make<PJRT_Buffer_GetMemoryLayout_Args>();
  args.buffer = buffer;
  EXPECT_EQ(call(getApi().PJRT_Buffer_GetMemoryLayout, args), "");
  auto *first = static_cast<int64_t *>(args.layout._anon2.tiled.minor_to_major);
  return {first, first + args.layout._anon2.tiled.minor_to_major_size};
}

std::vector<int64_t> getDims(void *buffer) {
  auto args = make<PJRT_Buffer_Dimensions_Args>();
  args.buffer = buffer;
  EXPECT_EQ(call(getApi().PJRT_Buffer_Dimensions, args), "");
  auto *first = static_cast<const int64_t *>(args.dims);
  return {first, first + args.num_dims};
}

const PJRT_Layouts_Extension &getExtension() {
  auto *base = static_cast<PJRT_Extension_Base *>(getApi().extension_start);
  while (base && base->type != 4)
    base = static_cast<PJRT_Extension_Base *>(base->next);
  EXPECT_NE(base, nullptr);
  return *reinterpret_cast<PJRT_Layouts_Extension *>(base);
}

std::string printLayout(void *layout) {
  auto args = make<PJRT_Layouts_MemoryLayout_Serialize_Args>();
  args.layout = layout;
  EXPECT_EQ(call(getExtension().PJRT_Layouts_MemoryLayout_Serialize, args), "");
  std::string text(static_cast<const char *>(args.serialized_bytes),
                   args.serialized_bytes_size);
  reinterpret_cast<void (*)(void *)>(args.serialized_layout_deleter)(
      args.serialized_layout);
  return text;
}

/// The layouts of an executable's arguments, then of its results.
std::vector<std::string> getLayouts(void *loaded) {
  auto get = make<PJRT_LoadedExecutable_GetExecutable_Args>();
  get.loaded_executable = loaded;
  EXPECT_EQ(call(getApi().PJRT_LoadedExecutable_GetExecutable, get), "");
  std::vector<std::string> texts;
  auto in = make<PJRT_Layouts_PJRT_Executable_GetParameterLayouts_Args>();
  in.executable = get.executable;
  EXPECT_EQ(
      call(getExtension().PJRT_Layouts_PJRT_Executable_GetParameterLayouts, in),
      "");
  for (size_t i = 0; i < in.num_parameters; ++i)
    texts.push_back(printLayout(static_cast<void **>(in.layouts)[i]));
  auto out = make<PJRT_Layouts_PJRT_Executable_GetOutputLayouts_Args>();
  out.executable = get.executable;
  EXPECT_EQ(
      call(getExtension().PJRT_Layouts_PJRT_Executable_GetOutputLayouts, out),
      "");
  for (size_t i = 0; i < out.num_outputs; ++i)
    texts.push_back(printLayout(static_cast<void **>(out.layouts)[i]));
  auto destroy = make<PJRT_Executable_Destroy_Args>();
  destroy.executable = get.executable;
  call(getApi().PJRT_Executable_Destroy, destroy);
  return texts;
}

/// x + x for f32[2,3] with these modes of the argument and the result.
std::string makeDouble(const std::string &argument, const std::string &result,
                       const std::string &more = "") {
  return "func.func @main(%x: tensor<2x3xf32> {mhlo.layout_mode = \"" +
         argument + "\"" + more +
         "}) -> (tensor<2x3xf32> {mhlo.layout_mode = \"" + result +
         "\"}) {\n  %0 = stablehlo.add %x, %x : tensor<2x3xf32>\n"
         "  return %0 : tensor<2x3xf32>\n}\n";
}

using Values = std::vector<float>;
using Dims = std::vector<int64_t>;
using Texts = std::vector<std::string>;
} // namespace

TEST(Layouts, OfBuffersAreHonouredOnTheWayInAndOut) {
  Client client;
  void *buffer = upload(client, {0, 1, 2, 3, 4, 5}, {2, 3}, {0, 1});
  EXPECT_EQ(getDims(buffer), (Dims{2, 3}));
  EXPECT_EQ(getLayout(buffer), (Dims{0, 1}));
  EXPECT_EQ(downloadAs(buffer, 6, {1, 0}), (Values{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(downloadAs(buffer, 6, {0, 1}), (Values{0, 3, 1, 4, 2, 5}));
  // Without a layout the host gets the buffer's own.
  EXPECT_EQ(download(buffer, 6, nullptr), (Values{0, 3, 1, 4, 2, 5}));
  auto raw = make<PJRT_Buffer_CopyRawToHost_Args>();
  Values first(2);
  raw.buffer = buffer;
  raw.dst = first.data();
  raw.transfer_size = 8;
  ASSERT_EQ(call(getApi().PJRT_Buffer_CopyRawToHost, raw), "");
  await(raw.event);
  EXPECT_EQ(first, (Values{0, 3}));
  destroyBuffer(buffer);

  buffer = upload(client, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {2, 3, 2},
                  {1, 2, 0});
  EXPECT_EQ(download(buffer, 12, nullptr),
            (Values{0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11}));
  EXPECT_EQ(downloadAs(buffer, 12, {2, 1, 0}),
            (Values{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  destroyBuffer(buffer);
}

TEST(Layouts, MayBeSaidAsStrides) {
  Client client;
  Dims strides = {4, 8};
  auto layout = make<PJRT_Buffer_MemoryLayout>();
  layout.type = 1;
  layout._anon2.strides.byte_strides = strides.data();
  layout._anon2.strides.num_byte_strides = 2;
  void *buffer = nullptr;
  ASSERT_EQ(tryUpload(client, {0, 1, 2, 3, 4, 5}, {2, 3}, layout, buffer), "");
  EXPECT_EQ(getLayout(buffer), (Dims{0, 1}));
  destroyBuffer(buffer);
  strides = {4, 16};
  EXPECT_EQ(tryUpload(client, {0, 1, 2, 3, 4, 5}, {2, 3}, layout, buffer),
            "12: alula: the elements of arrays on a device lie one after the "
            "other, strides with gaps are asked for");
  Dims order = {1, 1};
  EXPECT_EQ(
      tryUpload(client, {0, 1, 2, 3, 4, 5}, {2, 3}, makeLayout(order), buffer),
      "3: alula: the layout's order of dimensions is no permutation");
}

TEST(Layouts, OfCopiesAreTheSame) {
  Client client(2);
  void *buffer = upload(client, {0, 1, 2, 3, 4, 5}, {2, 3}, {0, 1});
  auto copy = make<PJRT_Buffer_CopyToDevice_Args>();
  copy.buffer = buffer;
  copy.dst_device = client.devices[1];
  ASSERT_EQ(call(getApi().PJRT_Buffer_CopyToDevice, copy), "");
  EXPECT_EQ(getLayout(copy.dst_buffer), (Dims{0, 1}));
  EXPECT_EQ(downloadAs(copy.dst_buffer, 6, {1, 0}), (Values{0, 1, 2, 3, 4, 5}));
  destroyBuffer(copy.dst_buffer);
  destroyBuffer(buffer);
}

TEST(Layouts, OfProgramsAreThoseOfTheirArrays) {
  Client client;
  void *executable = client.compile(makeDouble("{0,1}", "default"));
  EXPECT_EQ(getLayouts(executable), (Texts{"{0,1}", "{1,0}"}));
  void *columns = upload(client, {0, 1, 2, 3, 4, 5}, {2, 3}, {0, 1});
  auto results = execute(executable, {columns});
  EXPECT_EQ(getDims(results[0]), (Dims{2, 3}));
  EXPECT_EQ(getLayout(results[0]), (Dims{1, 0}));
  EXPECT_EQ(download(results[0], 6, nullptr), (Values{0, 2, 4, 6, 8, 10}));
  // In another layout it is not the array that the program takes.
  std::vector<void *> none;
  EXPECT_EQ(tryExecute(executable, {results[0]}, none),
            "3: Invalid buffer passed to Execute() as argument 0 to replica 0: "
            "INVALID_ARGUMENT: the program takes f32[2,3]{0,1}, the buffer has "
            "f32[2,3]{1,0}");
  destroyBuffer(results[0]);
  destroyExecutable(executable);

  executable = client.compile(makeDouble("{0,1}", "auto"));
  EXPECT_EQ(getLayouts(executable), (Texts{"{0,1}", "{0,1}"}));
  results = execute(executable, {columns});
  EXPECT_EQ(download(results[0], 6, nullptr), (Values{0, 6, 2, 8, 4, 10}));
  destroyBuffer(results[0]);
  destroyBuffer(columns);
  destroyExecutable(executable);
}

TEST(Layouts, ThatAreEqualShareDonatedMemory) {
  Client client;
  void *executable = client.compile(
      makeDouble("{0,1}", "{0,1}", ", tf.aliasing_output = 0 : i32"));
  void *columns = upload(client, {0, 1, 2, 3, 4, 5}, {2, 3}, {0, 1});
  auto where = make<PJRT_Buffer_UnsafePointer_Args>();
  where.buffer = columns;
  call(getApi().PJRT_Buffer_UnsafePointer, where);
  auto before = where.buffer_pointer;
  auto results = execute(executable, {columns});
  EXPECT_TRUE(isDeleted(columns));
  where.buffer = results[0];
  call(getApi().PJRT_Buffer_UnsafePointer, where);
  EXPECT_EQ(where.buffer_pointer, before);
  EXPECT_EQ(download(results[0], 6, nullptr), (Values{0, 6, 2, 8, 4, 10}));
  destroyBuffer(columns);
  destroyBuffer(results[0]);
  destroyExecutable(executable);

  // Others give their memory away all the same.
  executable = client.compile(
      makeDouble("{0,1}", "{1,0}", ", tf.aliasing_output = 0 : i32"));
  columns = upload(client, {0, 1, 2, 3, 4, 5}, {2, 3}, {0, 1});
  results = execute(executable, {columns});
  EXPECT_TRUE(isDeleted(columns));
  EXPECT_EQ(download(results[0], 6, nullptr), (Values{0, 2, 4, 6, 8, 10}));
  destroyBuffer(columns);
  destroyBuffer(results[0]);
  destroyExecutable(executable);
}

TEST(Layouts, AreKeptWithSerializedPrograms) {
  Client client;
  void *executable = client.compile(makeDouble("{0,1}", "auto"));
  auto get = make<PJRT_LoadedExecutable_GetExecutable_Args>();
  get.loaded_executable = executable;
  call(getApi().PJRT_LoadedExecutable_GetExecutable, get);
  auto write = make<PJRT_Executable_Serialize_Args>();
  write.executable = get.executable;
  ASSERT_EQ(call(getApi().PJRT_Executable_Serialize, write), "");
  auto read = make<PJRT_Executable_DeserializeAndLoad_Args>();
  read.client = client.handle;
  read.serialized_executable = write.serialized_bytes;
  read.serialized_executable_size = write.serialized_bytes_size;
  ASSERT_EQ(call(getApi().PJRT_Executable_DeserializeAndLoad, read), "");
  reinterpret_cast<void (*)(void *)>(write.serialized_executable_deleter)(
      write.serialized_executable);
  EXPECT_EQ(getLayouts(read.loaded_executable), (Texts{"{0,1}", "{0,1}"}));
  void *columns = upload(client, {0, 1, 2, 3, 4, 5}, {2, 3}, {0, 1});
  auto results = execute(read.loaded_executable, {columns});
  EXPECT_EQ(downloadAs(results[0], 6, {1, 0}), (Values{0, 2, 4, 6, 8, 10}));
  destroyBuffer(columns);
  destroyBuffer(results[0]);
  auto destroy = make<PJRT_Executable_Destroy_Args>();
  destroy.executable = get.executable;
  call(getApi().PJRT_Executable_Destroy, destroy);
  destroyExecutable(read.loaded_executable);
  destroyExecutable(executable);
}

TEST(Layouts, OfPromisesAreKept) {
  Client client;
  auto devices = make<PJRT_Device_DefaultMemory_Args>();
  devices.device = client.devices[0];
  ASSERT_EQ(call(getApi().PJRT_Device_DefaultMemory, devices), "");
  Dims dims = {2, 3}, order = {0, 1};
  auto layout = makeLayout(order);
  auto promise = make<PJRT_Client_CreateAliasBuffer_Args>();
  promise.client = client.handle;
  promise.memory = devices.memory;
  promise.shape_dims = dims.data();
  promise.shape_num_dims = 2;
  promise.shape_element_type = 11;
  promise.shape_layout = &layout;
  auto keep = make<PJRT_Client_FulfillAliasBuffer_Args>();
  keep.client = client.handle;
  for (bool isRight : {false, true}) {
    ASSERT_EQ(call(getApi().PJRT_Client_CreateAliasBuffer, promise), "");
    EXPECT_EQ(getLayout(promise.alias_buffer), (Dims{0, 1}));
    void *given = upload(client, {0, 1, 2, 3, 4, 5}, dims,
                         isRight ? Dims{0, 1} : Dims{1, 0});
    keep.fulfill_alias_buffer_cb = promise.fulfill_alias_buffer_cb;
    keep.buffer = given;
    EXPECT_EQ(call(getApi().PJRT_Client_FulfillAliasBuffer, keep),
              isRight ? ""
                      : "3: alula: the buffer has another shape or layout than "
                        "the one that was promised");
    if (isRight) {
      EXPECT_EQ(downloadAs(promise.alias_buffer, 6, {1, 0}),
                (Values{0, 1, 2, 3, 4, 5}));
    }
    destroyBuffer(given);
    destroyBuffer(promise.alias_buffer);
  }
}

TEST(Layouts, WithTilesAreRefused) {
  Client client;
  void *executable = nullptr;
  EXPECT_NE(
      client.tryCompile(makeDouble("{1,0:T(2,2)}", "default"), executable)
          .find("'func.func': argument #0: the layout \"{1,0:T(2,2)}\" of "
                "'tensor<2x3xf32>' has tiles, which are not implemented"),
      std::string::npos);
}

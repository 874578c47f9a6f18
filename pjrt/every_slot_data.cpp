// The functions that make and move arrays.

#include "pjrt/every_slot.h"

using namespace alula::pjrt_test;

void EverySlot::runs() {
  void *executable = client.compile(makeProgram(2, 3));
  ARGS(ExecuteContext_Create);
  make(SLOT(ExecuteContext_Create), ExecuteContext_Create);
  auto options = ::alula::pjrt_test::make<PJRT_ExecuteOptions>();
  options.context = ExecuteContext_Create.context;
  void *a = upload(), *inputs[] = {a, a}, *out[1], *lists = inputs, *outs = out,
       *done = nullptr;
  ARGS(LoadedExecutable_Execute);
  LoadedExecutable_Execute.executable = executable;
  LoadedExecutable_Execute.options = &options;
  LoadedExecutable_Execute.argument_lists = &lists;
  LoadedExecutable_Execute.num_devices = 1;
  LoadedExecutable_Execute.num_args = 2;
  LoadedExecutable_Execute.output_lists = &outs;
  LoadedExecutable_Execute.device_complete_events = &done;
  make(SLOT(LoadedExecutable_Execute), LoadedExecutable_Execute);
  wait(done);
  EXPECT_EQ(download(out[0]), (std::vector<float>{4, 8}));
  ARGS(ExecuteContext_Destroy);
  ExecuteContext_Destroy.context = ExecuteContext_Create.context;
  make(SLOT(ExecuteContext_Destroy), ExecuteContext_Destroy);
  drop(a);
  drop(out[0]);
  destroyExecutable(executable);
}

void EverySlot::buffers() {
  void *buffer = upload();
#define ASK_BUFFER(name)                                                       \
  ARGS(name);                                                                  \
  name.buffer = buffer;                                                        \
  ask(SLOT(name), name)
  ASK_BUFFER(Buffer_ElementType);
  EXPECT_EQ(Buffer_ElementType.type, 11u);
  ASK_BUFFER(Buffer_Dimensions);
  ASSERT_EQ(Buffer_Dimensions.num_dims, 1u);
  EXPECT_EQ(*static_cast<const int64_t *>(Buffer_Dimensions.dims), 2);
  ASK_BUFFER(Buffer_UnpaddedDimensions);
  EXPECT_EQ(Buffer_UnpaddedDimensions.num_dims, 1u);
  ASK_BUFFER(Buffer_DynamicDimensionIndices);
  EXPECT_EQ(Buffer_DynamicDimensionIndices.num_dynamic_dims, 0u);
  ASK_BUFFER(Buffer_GetMemoryLayout);
  EXPECT_EQ(Buffer_GetMemoryLayout.layout._anon2.tiled.minor_to_major_size, 1u);
  ASK_BUFFER(Buffer_OnDeviceSizeInBytes);
  EXPECT_EQ(Buffer_OnDeviceSizeInBytes.on_device_size_in_bytes, 8u);
  ASK_BUFFER(Buffer_Device);
  EXPECT_EQ(Buffer_Device.device, client.devices[0]);
  ASK_BUFFER(Buffer_Memory);
  EXPECT_EQ(Buffer_Memory.memory, memory);
  ASK_BUFFER(Buffer_IsOnCpu);
  EXPECT_EQ(Buffer_IsOnCpu.is_on_cpu, sharesMemory());
  ASK_BUFFER(Buffer_UnsafePointer);
  ASK_BUFFER(Buffer_OpaqueDeviceMemoryDataPointer);
  EXPECT_EQ(reinterpret_cast<void *>(Buffer_UnsafePointer.buffer_pointer),
            Buffer_OpaqueDeviceMemoryDataPointer.device_memory_ptr);
  ASK_BUFFER(Buffer_IsDeleted);
  EXPECT_FALSE(Buffer_IsDeleted.is_deleted);
#undef ASK_BUFFER
  ARGS(Buffer_IncreaseExternalReferenceCount);
  Buffer_IncreaseExternalReferenceCount.buffer = buffer;
  make(SLOT(Buffer_IncreaseExternalReferenceCount),
       Buffer_IncreaseExternalReferenceCount);
  ARGS(Buffer_DecreaseExternalReferenceCount);
  Buffer_DecreaseExternalReferenceCount.buffer = buffer;
  make(SLOT(Buffer_DecreaseExternalReferenceCount),
       Buffer_DecreaseExternalReferenceCount);
  ARGS(Buffer_ReadyEvent);
  Buffer_ReadyEvent.buffer = buffer;
  make(SLOT(Buffer_ReadyEvent), Buffer_ReadyEvent);
  wait(Buffer_ReadyEvent.event);

  // The layout's size is what torch_xla leaves there.
  int64_t order = 0;
  auto layout = ::alula::pjrt_test::make<PJRT_Buffer_MemoryLayout>();
  layout.struct_size = 2;
  layout._anon2.tiled.minor_to_major = &order;
  layout._anon2.tiled.minor_to_major_size = 1;
  float got[2] = {};
  ARGS(Buffer_ToHostBuffer);
  Buffer_ToHostBuffer.src = buffer;
  Buffer_ToHostBuffer.host_layout = &layout;
  Buffer_ToHostBuffer.dst = got;
  Buffer_ToHostBuffer.dst_size = sizeof got;
  make(SLOT(Buffer_ToHostBuffer), Buffer_ToHostBuffer);
  wait(Buffer_ToHostBuffer.event);
  EXPECT_EQ(got[1], 2);
  ARGS(Buffer_CopyRawToHost);
  Buffer_CopyRawToHost.buffer = buffer;
  Buffer_CopyRawToHost.dst = got;
  Buffer_CopyRawToHost.offset = 4;
  Buffer_CopyRawToHost.transfer_size = 4;
  make(SLOT(Buffer_CopyRawToHost), Buffer_CopyRawToHost);
  wait(Buffer_CopyRawToHost.event);
  EXPECT_EQ(got[0], 2);
  ARGS(Buffer_CopyRawToHostFuture);
  Buffer_CopyRawToHostFuture.buffer = buffer;
  Buffer_CopyRawToHostFuture.transfer_size = 4;
  make(SLOT(Buffer_CopyRawToHostFuture), Buffer_CopyRawToHostFuture);
  ARGS(Buffer_CopyRawToHostFuture_Callback);
  Buffer_CopyRawToHostFuture_Callback.callback_data =
      Buffer_CopyRawToHostFuture.callback_data;
  Buffer_CopyRawToHostFuture_Callback.dst = got;
  reinterpret_cast<void (*)(void *)>(
      Buffer_CopyRawToHostFuture.future_ready_callback)(
      &Buffer_CopyRawToHostFuture_Callback);
  wait(Buffer_CopyRawToHostFuture.event);
  EXPECT_EQ(got[0], 1);

  ARGS(Buffer_CopyToDevice);
  Buffer_CopyToDevice.buffer = buffer;
  Buffer_CopyToDevice.dst_device = client.devices[1];
  make(SLOT(Buffer_CopyToDevice), Buffer_CopyToDevice);
  ARGS(Buffer_CopyToMemory);
  Buffer_CopyToMemory.buffer = Buffer_CopyToDevice.dst_buffer;
  Buffer_CopyToMemory.dst_memory = memory;
  make(SLOT(Buffer_CopyToMemory), Buffer_CopyToMemory);
  EXPECT_EQ(download(Buffer_CopyToMemory.dst_buffer),
            (std::vector<float>{1, 2}));

  ARGS(Buffer_DonateWithControlDependency);
  Buffer_DonateWithControlDependency.buffer = Buffer_CopyToMemory.dst_buffer;
  make(SLOT(Buffer_DonateWithControlDependency),
       Buffer_DonateWithControlDependency);
  ARGS(Buffer_DonateWithControlDependency_Callback);
  Buffer_DonateWithControlDependency_Callback.callback_data =
      Buffer_DonateWithControlDependency.callback_data;
  reinterpret_cast<void (*)(void *)>(
      Buffer_DonateWithControlDependency.dependency_ready_callback)(
      &Buffer_DonateWithControlDependency_Callback);
  EXPECT_EQ(download(Buffer_DonateWithControlDependency.out_buffer),
            (std::vector<float>{1, 2}));
  EXPECT_TRUE(isDeleted(Buffer_CopyToMemory.dst_buffer));

  ARGS(Buffer_Delete);
  Buffer_Delete.buffer = buffer;
  make(SLOT(Buffer_Delete), Buffer_Delete);
  EXPECT_TRUE(isDeleted(buffer));
  for (void *made :
       {buffer, Buffer_CopyToDevice.dst_buffer, Buffer_CopyToMemory.dst_buffer,
        Buffer_DonateWithControlDependency.out_buffer})
    drop(made);
}

void EverySlot::newBuffers() {
  static int deleted = 0;
  void *owner = client.upload({5, 6});
  ARGS(Buffer_OpaqueDeviceMemoryDataPointer);
  Buffer_OpaqueDeviceMemoryDataPointer.buffer = owner;
  make(SLOT(Buffer_OpaqueDeviceMemoryDataPointer),
       Buffer_OpaqueDeviceMemoryDataPointer);
  ARGS(Client_CreateViewOfDeviceBuffer);
  Client_CreateViewOfDeviceBuffer.client = client.handle;
  Client_CreateViewOfDeviceBuffer.device_buffer_ptr =
      Buffer_OpaqueDeviceMemoryDataPointer.device_memory_ptr;
  Client_CreateViewOfDeviceBuffer.dims = &size;
  Client_CreateViewOfDeviceBuffer.num_dims = 1;
  Client_CreateViewOfDeviceBuffer.element_type = 11;
  Client_CreateViewOfDeviceBuffer.memory = memory;
  Client_CreateViewOfDeviceBuffer.on_delete_callback =
      reinterpret_cast<void *>(+[](void *, void *) { ++deleted; });
  make(SLOT(Client_CreateViewOfDeviceBuffer), Client_CreateViewOfDeviceBuffer);
  EXPECT_EQ(download(Client_CreateViewOfDeviceBuffer.buffer),
            (std::vector<float>{5, 6}));

  ARGS(Client_CreateUninitializedBuffer);
  setShape(Client_CreateUninitializedBuffer);
  make(SLOT(Client_CreateUninitializedBuffer),
       Client_CreateUninitializedBuffer);
  EXPECT_EQ(download(Client_CreateUninitializedBuffer.buffer).size(), 2u);
  ARGS(Client_CreateErrorBuffer);
  setShape(Client_CreateErrorBuffer);
  Client_CreateErrorBuffer.error_code = 5;
  Client_CreateErrorBuffer.error_message = const_cast<char *>("lost");
  Client_CreateErrorBuffer.error_message_size = 4;
  make(SLOT(Client_CreateErrorBuffer), Client_CreateErrorBuffer);
  std::vector<float> nothing;
  EXPECT_EQ(tryDownload(Client_CreateErrorBuffer.buffer, nothing), "5: lost");

  ARGS(Client_CreateAliasBuffer);
  setShape(Client_CreateAliasBuffer);
  make(SLOT(Client_CreateAliasBuffer), Client_CreateAliasBuffer);
  ARGS(Client_FulfillAliasBuffer);
  Client_FulfillAliasBuffer.client = client.handle;
  Client_FulfillAliasBuffer.buffer = Client_CreateViewOfDeviceBuffer.buffer;
  Client_FulfillAliasBuffer.fulfill_alias_buffer_cb =
      Client_CreateAliasBuffer.fulfill_alias_buffer_cb;
  make(SLOT(Client_FulfillAliasBuffer), Client_FulfillAliasBuffer);
  EXPECT_EQ(download(Client_CreateAliasBuffer.alias_buffer),
            (std::vector<float>{5, 6}));
  EXPECT_EQ(deleted, 0);
  for (void *made :
       {Client_CreateViewOfDeviceBuffer.buffer,
        Client_CreateUninitializedBuffer.buffer,
        Client_CreateErrorBuffer.buffer, Client_CreateAliasBuffer.alias_buffer})
    drop(made);
  EXPECT_EQ(deleted, 1);
  drop(owner);
}

void EverySlot::transfers() {
  auto shape = ::alula::pjrt_test::make<PJRT_ShapeSpec>();
  shape.dims = &size;
  shape.num_dims = 1;
  shape.element_type = 11;
  PJRT_ShapeSpec shapes[] = {shape, shape, shape};
  ARGS(Client_CreateBuffersForAsyncHostToDevice);
  Client_CreateBuffersForAsyncHostToDevice.client = client.handle;
  Client_CreateBuffersForAsyncHostToDevice.shape_specs = shapes;
  Client_CreateBuffersForAsyncHostToDevice.num_shape_specs = 3;
  Client_CreateBuffersForAsyncHostToDevice.memory = memory;
  make(SLOT(Client_CreateBuffersForAsyncHostToDevice),
       Client_CreateBuffersForAsyncHostToDevice);
  void *manager = Client_CreateBuffersForAsyncHostToDevice.transfer_manager;
#define MANAGER(name)                                                          \
  ARGS(AsyncHostToDeviceTransferManager_##name);                               \
  auto &name = AsyncHostToDeviceTransferManager_##name;                        \
  name.transfer_manager = manager
#define MANAGER_SLOT(name) SLOT(AsyncHostToDeviceTransferManager_##name)
  MANAGER(Device);
  ask(MANAGER_SLOT(Device), Device);
  EXPECT_EQ(Device.device_out, client.devices[0]);
  MANAGER(BufferCount);
  ask(MANAGER_SLOT(BufferCount), BufferCount);
  EXPECT_EQ(BufferCount.buffer_count, 3u);
  MANAGER(BufferSize);
  ask(MANAGER_SLOT(BufferSize), BufferSize);
  EXPECT_EQ(BufferSize.buffer_size, 8u);
  MANAGER(AddMetadata);
  ask(MANAGER_SLOT(AddMetadata), AddMetadata);
  void *made[3];
  for (int32_t i = 0; i < 3; ++i) {
    MANAGER(RetrieveBuffer);
    RetrieveBuffer.buffer_index = i;
    make(MANAGER_SLOT(RetrieveBuffer), RetrieveBuffer);
    made[i] = RetrieveBuffer.buffer_out;
  }
  for (int64_t i = 0; i < 2; ++i) {
    MANAGER(TransferData);
    TransferData.data = &values[i];
    TransferData.offset = 4 * i;
    TransferData.transfer_size = 4;
    TransferData.is_last_transfer = i == 1;
    make(MANAGER_SLOT(TransferData), TransferData);
    wait(TransferData.done_with_h2d_transfer);
  }
  MANAGER(TransferLiteral);
  TransferLiteral.buffer_index = 1;
  TransferLiteral.data = values;
  TransferLiteral.shape_dims = &size;
  TransferLiteral.shape_num_dims = 1;
  TransferLiteral.shape_element_type = 11;
  make(MANAGER_SLOT(TransferLiteral), TransferLiteral);
  wait(TransferLiteral.done_with_h2d_transfer);
  MANAGER(SetBufferError);
  SetBufferError.buffer_index = 2;
  SetBufferError.error_code = 5;
  SetBufferError.error_message = const_cast<char *>("lost");
  SetBufferError.error_message_size = 4;
  make(MANAGER_SLOT(SetBufferError), SetBufferError);
  for (void *buffer : {made[0], made[1]})
    EXPECT_EQ(download(buffer), (std::vector<float>{1, 2}));
  std::vector<float> nothing;
  EXPECT_EQ(tryDownload(made[2], nothing), "5: lost");
  MANAGER(Destroy);
  make(MANAGER_SLOT(Destroy), Destroy);
  for (void *buffer : made)
    drop(buffer);
}

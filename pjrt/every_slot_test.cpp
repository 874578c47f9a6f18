// Every function of the table is called.

#include "pjrt/every_slot.h"

using namespace alula::pjrt_test;

void EverySlot::plugin() {
  ARGS(Plugin_Initialize);
  ask(SLOT(Plugin_Initialize), Plugin_Initialize);
  ARGS(Plugin_Attributes);
  ask(SLOT(Plugin_Attributes), Plugin_Attributes);
  EXPECT_EQ(Plugin_Attributes.num_attributes, 2u);
}

void EverySlot::errors() {
  ARGS(Client_LookupDevice);
  Client_LookupDevice.client = client.handle;
  Client_LookupDevice.id = 7;
  auto *function =
      reinterpret_cast<void *(*)(void *)>(SLOT(Client_LookupDevice));
  void *error = function(&Client_LookupDevice);
  ASSERT_NE(error, nullptr);
  ARGS(Error_GetCode);
  Error_GetCode.error = error;
  ask(SLOT(Error_GetCode), Error_GetCode);
  EXPECT_EQ(Error_GetCode.code, 3u);
  Guarded message(::alula::pjrt_test::make<PJRT_Error_Message_Args>());
  message.args.struct_size = sizeof message;
  message.args.error = error;
  reinterpret_cast<void (*)(void *)>(SLOT(Error_Message))(&message);
  EXPECT_EQ(getText(const_cast<void *>(message.args.message),
                    message.args.message_size),
            "alula: no device 7, there are 2");
  EXPECT_TRUE(message.isWhole(offsetof(decltype(message), behind)));
  ARGS(Error_Destroy);
  Error_Destroy.error = error;
  reinterpret_cast<void (*)(void *)>(SLOT(Error_Destroy))(&Error_Destroy);
  called.insert(SLOT(Error_Message));
  called.insert(SLOT(Error_Destroy));
}

void EverySlot::events() {
  ARGS(Event_Create);
  make(SLOT(Event_Create), Event_Create);
  ARGS(Event_IsReady);
  Event_IsReady.event = Event_Create.event;
  ask(SLOT(Event_IsReady), Event_IsReady);
  EXPECT_FALSE(Event_IsReady.is_ready);
  static std::string heard;
  ARGS(Event_OnReady);
  Event_OnReady.event = Event_Create.event;
  Event_OnReady.callback = reinterpret_cast<void *>(
      +[](void *error, void *) { heard = takeError(error); });
  make(SLOT(Event_OnReady), Event_OnReady);
  EXPECT_EQ(heard, "");
  ARGS(Event_Set);
  Event_Set.event = Event_Create.event;
  Event_Set.error_code = 5;
  Event_Set.error_message = const_cast<char *>("lost");
  Event_Set.error_message_size = 4;
  make(SLOT(Event_Set), Event_Set);
  EXPECT_EQ(heard, "5: lost");
  ARGS(Event_Error);
  Event_Error.event = Event_Create.event;
  EXPECT_EQ(invoke(SLOT(Event_Error), Event_Error), "5: lost");
  dropEvent(Event_Create.event);
}

void EverySlot::clients() {
  auto option = ::alula::pjrt_test::make<PJRT_NamedValue>();
  option.name = const_cast<char *>("num_devices");
  option.name_size = strlen("num_devices");
  option.type = 1;
  option._anon5.int64_value = 3;
  option.value_size = 1;
  ARGS(Client_Create);
  Client_Create.create_options = &option;
  Client_Create.num_options = 1;
  make(SLOT(Client_Create), Client_Create);
  ARGS(Client_Devices);
  Client_Devices.client = Client_Create.client;
  ask(SLOT(Client_Devices), Client_Devices);
  EXPECT_EQ(Client_Devices.num_devices, 3u);
  ARGS(Client_Destroy);
  Client_Destroy.client = Client_Create.client;
  make(SLOT(Client_Destroy), Client_Destroy);

#define ASK_CLIENT(name)                                                       \
  ARGS(name);                                                                  \
  name.client = client.handle;                                                 \
  ask(SLOT(name), name)
  ASK_CLIENT(Client_PlatformName);
  EXPECT_EQ(getText(Client_PlatformName.platform_name,
                    Client_PlatformName.platform_name_size),
            "alula");
  ASK_CLIENT(Client_PlatformVersion);
  ASK_CLIENT(Client_ProcessIndex);
  EXPECT_EQ(Client_ProcessIndex.process_index, 0);
  ASK_CLIENT(Client_AddressableDevices);
  EXPECT_EQ(Client_AddressableDevices.num_addressable_devices, 2u);
  ASK_CLIENT(Client_AddressableMemories);
  EXPECT_EQ(Client_AddressableMemories.num_addressable_memories, 6u);
  ASK_CLIENT(Client_LookupDevice);
  EXPECT_EQ(Client_LookupDevice.device, client.devices[0]);
  ASK_CLIENT(Client_LookupAddressableDevice);
  EXPECT_EQ(Client_LookupAddressableDevice.addressable_device,
            client.devices[0]);
  ASK_CLIENT(Client_DmaMap);
  ASK_CLIENT(Client_DmaUnmap);
  ASK_CLIENT(Client_UpdateGlobalProcessInfo);
#undef ASK_CLIENT
  int32_t ids[2] = {7, 7};
  ARGS(Client_DefaultDeviceAssignment);
  Client_DefaultDeviceAssignment.client = client.handle;
  Client_DefaultDeviceAssignment.num_replicas = 1;
  Client_DefaultDeviceAssignment.num_partitions = 2;
  Client_DefaultDeviceAssignment.default_assignment_size = 2;
  Client_DefaultDeviceAssignment.default_assignment = ids;
  ask(SLOT(Client_DefaultDeviceAssignment), Client_DefaultDeviceAssignment);
  EXPECT_EQ(ids[1], 1);
}

void EverySlot::devices() {
#define ASK_DEVICE(name)                                                       \
  ARGS(name);                                                                  \
  name.device = client.devices[1];                                             \
  ask(SLOT(name), name)
  ASK_DEVICE(Device_GetDescription);
  ASK_DEVICE(Device_IsAddressable);
  EXPECT_TRUE(Device_IsAddressable.is_addressable);
  ASK_DEVICE(Device_LocalHardwareId);
  EXPECT_EQ(Device_LocalHardwareId.local_hardware_id, 1);
  ASK_DEVICE(Device_AddressableMemories);
  EXPECT_EQ(Device_AddressableMemories.num_memories, 3u);
  ASK_DEVICE(Device_MemoryStats);
  ASK_DEVICE(Device_PoisonExecution);
  EXPECT_FALSE(Device_PoisonExecution.poisoned);
  ASK_DEVICE(Device_GetAttributes);
  EXPECT_EQ(Device_GetAttributes.num_attributes, 0u);
  reinterpret_cast<void (*)(void *)>(Device_GetAttributes.attributes_deleter)(
      Device_GetAttributes.device_attributes);
#undef ASK_DEVICE
  ARGS(Device_CreateAsyncTrackingEvent);
  Device_CreateAsyncTrackingEvent.device = client.devices[1];
  make(SLOT(Device_CreateAsyncTrackingEvent), Device_CreateAsyncTrackingEvent);
  ARGS(AsyncTrackingEvent_Destroy);
  AsyncTrackingEvent_Destroy.event = Device_CreateAsyncTrackingEvent.event;
  make(SLOT(AsyncTrackingEvent_Destroy), AsyncTrackingEvent_Destroy);

#define ASK_DESCRIPTION(name)                                                  \
  ARGS(name);                                                                  \
  name.device_description = Device_GetDescription.device_description;          \
  ask(SLOT(name), name)
  ASK_DESCRIPTION(DeviceDescription_Id);
  EXPECT_EQ(DeviceDescription_Id.id, 1);
  ASK_DESCRIPTION(DeviceDescription_ProcessIndex);
  EXPECT_EQ(DeviceDescription_ProcessIndex.process_index, 0);
  ASK_DESCRIPTION(DeviceDescription_Attributes);
  ASK_DESCRIPTION(DeviceDescription_Kind);
  EXPECT_NE(DeviceDescription_Kind.device_kind_size, 0u);
  ASK_DESCRIPTION(DeviceDescription_DebugString);
  EXPECT_NE(DeviceDescription_DebugString.debug_string_size, 0u);
  ASK_DESCRIPTION(DeviceDescription_ToString);
  EXPECT_NE(DeviceDescription_ToString.to_string_size, 0u);
#undef ASK_DESCRIPTION
}

void EverySlot::memories() {
#define ASK_MEMORY(name)                                                       \
  ARGS(name);                                                                  \
  name.memory = memory;                                                        \
  ask(SLOT(name), name)
  ASK_MEMORY(Memory_Id);
  ASK_MEMORY(Memory_Kind);
  EXPECT_EQ(getText(Memory_Kind.kind, Memory_Kind.kind_size), "device");
  ASK_MEMORY(Memory_Kind_Id);
  ASK_MEMORY(Memory_DebugString);
  EXPECT_NE(Memory_DebugString.debug_string_size, 0u);
  ASK_MEMORY(Memory_ToString);
  EXPECT_NE(Memory_ToString.to_string_size, 0u);
  ASK_MEMORY(Memory_AddressableByDevices);
  ASSERT_EQ(Memory_AddressableByDevices.num_devices, 1u);
  EXPECT_EQ(*static_cast<void **>(Memory_AddressableByDevices.devices),
            client.devices[0]);
#undef ASK_MEMORY
}

void EverySlot::topologies() {
  ARGS(Client_TopologyDescription);
  Client_TopologyDescription.client = client.handle;
  ask(SLOT(Client_TopologyDescription), Client_TopologyDescription);
  ARGS(TopologyDescription_Serialize);
  TopologyDescription_Serialize.topology = Client_TopologyDescription.topology;
  make(SLOT(TopologyDescription_Serialize), TopologyDescription_Serialize);
  ARGS(TopologyDescription_Deserialize);
  TopologyDescription_Deserialize.serialized_topology =
      const_cast<void *>(TopologyDescription_Serialize.serialized_bytes);
  TopologyDescription_Deserialize.serialized_topology_size =
      TopologyDescription_Serialize.serialized_bytes_size;
  make(SLOT(TopologyDescription_Deserialize), TopologyDescription_Deserialize);
  reinterpret_cast<void (*)(void *)>(
      TopologyDescription_Serialize.serialized_topology_deleter)(
      TopologyDescription_Serialize.serialized_topology);
  ARGS(TopologyDescription_Create);
  make(SLOT(TopologyDescription_Create), TopologyDescription_Create);

  void *topology = TopologyDescription_Deserialize.topology;
#define ASK_TOPOLOGY(name)                                                     \
  ARGS(name);                                                                  \
  name.topology = topology;                                                    \
  ask(SLOT(name), name)
  ASK_TOPOLOGY(TopologyDescription_PlatformName);
  EXPECT_EQ(getText(TopologyDescription_PlatformName.platform_name,
                    TopologyDescription_PlatformName.platform_name_size),
            "alula");
  ASK_TOPOLOGY(TopologyDescription_PlatformVersion);
  ASK_TOPOLOGY(TopologyDescription_GetDeviceDescriptions);
  EXPECT_EQ(TopologyDescription_GetDeviceDescriptions.num_descriptions, 2u);
  ASK_TOPOLOGY(TopologyDescription_Attributes);
#undef ASK_TOPOLOGY

  // For a topology one compiles without a client.
  std::string text = makeProgram(2, 3);
  auto program = ::alula::pjrt_test::make<PJRT_Program>();
  program.code = text.data();
  program.code_size = text.size();
  program.format = const_cast<char *>("mlir");
  program.format_size = 4;
  ARGS(Compile);
  Compile.topology = topology;
  Compile.program = &program;
  make(SLOT(Compile), Compile);
  ARGS(Executable_Destroy);
  Executable_Destroy.executable = Compile.executable;
  make(SLOT(Executable_Destroy), Executable_Destroy);
  for (void *made : {topology, TopologyDescription_Create.topology}) {
    ARGS(TopologyDescription_Destroy);
    TopologyDescription_Destroy.topology = made;
    make(SLOT(TopologyDescription_Destroy), TopologyDescription_Destroy);
  }
}

void EverySlot::executables() {
  std::string text = makeProgram(2, 3);
  auto program = ::alula::pjrt_test::make<PJRT_Program>();
  program.code = text.data();
  program.code_size = text.size();
  program.format = const_cast<char *>("mlir");
  program.format_size = 4;
  ARGS(Client_Compile);
  Client_Compile.client = client.handle;
  Client_Compile.program = &program;
  make(SLOT(Client_Compile), Client_Compile);
  void *loaded = Client_Compile.executable;
  ARGS(LoadedExecutable_GetExecutable);
  LoadedExecutable_GetExecutable.loaded_executable = loaded;
  make(SLOT(LoadedExecutable_GetExecutable), LoadedExecutable_GetExecutable);
  void *executable = LoadedExecutable_GetExecutable.executable;

#define ASK_EXECUTABLE(name, which)                                            \
  ARGS(name);                                                                  \
  name.executable = which;                                                     \
  ask(SLOT(name), name)
  ASK_EXECUTABLE(Executable_Name, executable);
  EXPECT_EQ(getText(Executable_Name.executable_name,
                    Executable_Name.executable_name_size),
            "jit_scale");
  ASK_EXECUTABLE(Executable_NumReplicas, executable);
  EXPECT_EQ(Executable_NumReplicas.num_replicas, 1u);
  ASK_EXECUTABLE(Executable_NumPartitions, executable);
  EXPECT_EQ(Executable_NumPartitions.num_partitions, 1u);
  ASK_EXECUTABLE(Executable_NumOutputs, executable);
  EXPECT_EQ(Executable_NumOutputs.num_outputs, 1u);
  ASK_EXECUTABLE(Executable_SizeOfGeneratedCodeInBytes, executable);
  EXPECT_GT(Executable_SizeOfGeneratedCodeInBytes.size_in_bytes, 0);
  ASK_EXECUTABLE(Executable_GetCostAnalysis, executable);
  ASK_EXECUTABLE(Executable_GetCompiledMemoryStats, executable);
  ASK_EXECUTABLE(Executable_OutputMemoryKinds, executable);
  EXPECT_EQ(Executable_OutputMemoryKinds.num_outputs, 1u);
  ASK_EXECUTABLE(Executable_ParameterMemoryKinds, executable);
  EXPECT_EQ(Executable_ParameterMemoryKinds.num_parameters, 2u);
  ASK_EXECUTABLE(Executable_OutputElementTypes, executable);
  EXPECT_EQ(*static_cast<const uint32_t *>(
                Executable_OutputElementTypes.output_types),
            11u);
  ASK_EXECUTABLE(Executable_OutputDimensions, executable);
  EXPECT_EQ(*static_cast<const int64_t *>(Executable_OutputDimensions.dims), 2);
  ASK_EXECUTABLE(Executable_Fingerprint, executable);
  EXPECT_NE(Executable_Fingerprint.executable_fingerprint_size, 0u);
  ASK_EXECUTABLE(LoadedExecutable_Fingerprint, loaded);
  ASK_EXECUTABLE(LoadedExecutable_AddressableDevices, loaded);
  EXPECT_EQ(LoadedExecutable_AddressableDevices.num_addressable_devices, 1u);
  ASK_EXECUTABLE(LoadedExecutable_IsDeleted, loaded);
  EXPECT_FALSE(LoadedExecutable_IsDeleted.is_deleted);
#undef ASK_EXECUTABLE

  // The program's text: first its size, then itself.
  auto shown = ::alula::pjrt_test::make<PJRT_Program>();
  ARGS(Executable_OptimizedProgram);
  Executable_OptimizedProgram.executable = executable;
  Executable_OptimizedProgram.program = &shown;
  make(SLOT(Executable_OptimizedProgram), Executable_OptimizedProgram);
  std::string code(shown.code_size, 0);
  shown.code = code.data();
  make(SLOT(Executable_OptimizedProgram), Executable_OptimizedProgram);
  EXPECT_FALSE(code.empty());

  ARGS(Executable_GetCompileOptions);
  Executable_GetCompileOptions.executable = executable;
  make(SLOT(Executable_GetCompileOptions), Executable_GetCompileOptions);
  reinterpret_cast<void (*)(void *)>(
      Executable_GetCompileOptions.serialized_compile_options_deleter)(
      Executable_GetCompileOptions.serialized_compile_options);
  ARGS(LoadedExecutable_GetDeviceAssignment);
  LoadedExecutable_GetDeviceAssignment.executable = loaded;
  make(SLOT(LoadedExecutable_GetDeviceAssignment),
       LoadedExecutable_GetDeviceAssignment);
  reinterpret_cast<void (*)(void *)>(LoadedExecutable_GetDeviceAssignment
                                         .serialized_device_assignment_deleter)(
      LoadedExecutable_GetDeviceAssignment.serialized_device_assignment);

  ARGS(Executable_Serialize);
  Executable_Serialize.executable = executable;
  make(SLOT(Executable_Serialize), Executable_Serialize);
  ARGS(Executable_DeserializeAndLoad);
  Executable_DeserializeAndLoad.client = client.handle;
  Executable_DeserializeAndLoad.serialized_executable =
      const_cast<void *>(Executable_Serialize.serialized_bytes);
  Executable_DeserializeAndLoad.serialized_executable_size =
      Executable_Serialize.serialized_bytes_size;
  make(SLOT(Executable_DeserializeAndLoad), Executable_DeserializeAndLoad);
  reinterpret_cast<void (*)(void *)>(
      Executable_Serialize.serialized_executable_deleter)(
      Executable_Serialize.serialized_executable);

  ARGS(LoadedExecutable_Delete);
  LoadedExecutable_Delete.executable = loaded;
  make(SLOT(LoadedExecutable_Delete), LoadedExecutable_Delete);
  for (void *made : {loaded, Executable_DeserializeAndLoad.loaded_executable}) {
    ARGS(LoadedExecutable_Destroy);
    LoadedExecutable_Destroy.executable = made;
    make(SLOT(LoadedExecutable_Destroy), LoadedExecutable_Destroy);
  }
  ARGS(Executable_Destroy);
  Executable_Destroy.executable = executable;
  make(SLOT(Executable_Destroy), Executable_Destroy);
}

void EverySlot::declined() {
  ARGS(CopyToDeviceStream_AddChunk);
  EXPECT_EQ(
      invoke(SLOT(CopyToDeviceStream_AddChunk), CopyToDeviceStream_AddChunk),
      "12: alula: this function of the PJRT API is not offered");
}
TEST_F(EverySlot, AnswersClientsOfAnyAge) {
  plugin();
  errors();
  events();
  clients();
  devices();
  memories();
  topologies();
  executables();
  runs();
  buffers();
  newBuffers();
  transfers();
  declined();
  const PJRT_Api &api = getApi();
  auto *end = reinterpret_cast<void *const *>(
      reinterpret_cast<const char *>(&api) + api.struct_size);
  for (void *const *slot = &api.PJRT_Error_Destroy; slot != end; ++slot)
    EXPECT_TRUE(called.count(*slot))
        << "slot " << slot - &api.PJRT_Error_Destroy << " is not called";
}

#pragma once

// The functions of the plugin, one list for the table in api.cpp and the files
// that define them. X(name): `void *name(PJRT_name_Args *)`, null for success.

#define ALULA_FOR_EACH_PJRT_FUNCTION(X)                                        \
  X(Error_GetCode) X(Plugin_Initialize) X(Plugin_Attributes)                   \
  X(Event_Destroy) X(Event_IsReady) X(Event_Error) X(Event_Await)              \
  X(Event_OnReady) X(Event_Create) X(Event_Set) X(Client_Create)               \
  X(Client_Destroy) X(Client_PlatformName) X(Client_ProcessIndex)              \
  X(Client_PlatformVersion) X(Client_Devices) X(Client_AddressableDevices)     \
  X(Client_LookupDevice) X(Client_LookupAddressableDevice)                     \
  X(Client_AddressableMemories) X(Client_Compile)                              \
  X(Client_DefaultDeviceAssignment) X(Client_BufferFromHostBuffer)             \
  X(Client_CreateViewOfDeviceBuffer) X(Client_CreateUninitializedBuffer)       \
  X(Client_CreateErrorBuffer) X(Client_CreateAliasBuffer)                      \
  X(Client_FulfillAliasBuffer) X(Client_CreateBuffersForAsyncHostToDevice)     \
  X(Client_DmaMap) X(Client_DmaUnmap) X(Client_UpdateGlobalProcessInfo)        \
  X(Client_TopologyDescription) X(DeviceDescription_Id)                        \
  X(DeviceDescription_ProcessIndex) X(DeviceDescription_Attributes)            \
  X(DeviceDescription_Kind) X(DeviceDescription_DebugString)                   \
  X(DeviceDescription_ToString) X(Device_GetDescription)                       \
  X(Device_IsAddressable) X(Device_LocalHardwareId)                            \
  X(Device_AddressableMemories) X(Device_DefaultMemory)                        \
  X(Device_MemoryStats) X(Device_PoisonExecution)                              \
  X(Device_CreateAsyncTrackingEvent) X(AsyncTrackingEvent_Destroy)             \
  X(Device_GetAttributes)                                                      \
  X(Memory_Id) X(Memory_Kind) X(Memory_Kind_Id) X(Memory_DebugString)          \
  X(Memory_ToString) X(Memory_AddressableByDevices) X(Compile)                 \
  X(Executable_Destroy) X(Executable_Name) X(Executable_NumReplicas)           \
  X(Executable_NumPartitions) X(Executable_NumOutputs)                         \
  X(Executable_SizeOfGeneratedCodeInBytes) X(Executable_GetCostAnalysis)       \
  X(Executable_GetCompiledMemoryStats) X(Executable_GetCompileOptions)         \
  X(Executable_OutputMemoryKinds) X(Executable_ParameterMemoryKinds)           \
  X(Executable_OptimizedProgram) X(Executable_OutputElementTypes)              \
  X(Executable_OutputDimensions) X(Executable_Fingerprint)                     \
  X(Executable_Serialize) X(Executable_DeserializeAndLoad)                     \
  X(ExecuteContext_Create) X(ExecuteContext_Destroy)                           \
  X(LoadedExecutable_Destroy) X(LoadedExecutable_GetExecutable)                \
  X(LoadedExecutable_AddressableDevices) X(LoadedExecutable_Delete)            \
  X(LoadedExecutable_IsDeleted) X(LoadedExecutable_Execute)                    \
  X(LoadedExecutable_Fingerprint) X(LoadedExecutable_GetDeviceAssignment)      \
  X(Buffer_Destroy) X(Buffer_ElementType) X(Buffer_Dimensions)                 \
  X(Buffer_UnpaddedDimensions) X(Buffer_DynamicDimensionIndices)               \
  X(Buffer_GetMemoryLayout) X(Buffer_OnDeviceSizeInBytes) X(Buffer_Device)     \
  X(Buffer_Memory) X(Buffer_Delete) X(Buffer_IsDeleted)                        \
  X(Buffer_CopyToDevice) X(Buffer_CopyToMemory) X(Buffer_ToHostBuffer)         \
  X(Buffer_CopyRawToHost) X(Buffer_CopyRawToHostFuture) X(Buffer_IsOnCpu)      \
  X(Buffer_ReadyEvent) X(Buffer_UnsafePointer)                                 \
  X(Buffer_IncreaseExternalReferenceCount)                                     \
  X(Buffer_DecreaseExternalReferenceCount)                                     \
  X(Buffer_OpaqueDeviceMemoryDataPointer)                                      \
  X(Buffer_DonateWithControlDependency)                                        \
  X(AsyncHostToDeviceTransferManager_Destroy)                                  \
  X(AsyncHostToDeviceTransferManager_TransferData)                             \
  X(AsyncHostToDeviceTransferManager_TransferLiteral)                          \
  X(AsyncHostToDeviceTransferManager_RetrieveBuffer)                           \
  X(AsyncHostToDeviceTransferManager_Device)                                   \
  X(AsyncHostToDeviceTransferManager_BufferCount)                              \
  X(AsyncHostToDeviceTransferManager_BufferSize)                               \
  X(AsyncHostToDeviceTransferManager_SetBufferError)                           \
  X(AsyncHostToDeviceTransferManager_AddMetadata)                              \
  X(TopologyDescription_Create) X(TopologyDescription_Destroy)                 \
  X(TopologyDescription_Serialize) X(TopologyDescription_Deserialize)          \
  X(TopologyDescription_PlatformName) X(TopologyDescription_PlatformVersion)   \
  X(TopologyDescription_GetDeviceDescriptions)                                 \
  X(TopologyDescription_Attributes)

#include "pjrt/pjrt_abi.h"

namespace alula::pjrt {
#define X(name) void *name(PJRT_##name##_Args *args);
ALULA_FOR_EACH_PJRT_FUNCTION(X)
#undef X
void Error_Destroy(PJRT_Error_Destroy_Args *args);
void Error_Message(PJRT_Error_Message_Args *args);
} // namespace alula::pjrt

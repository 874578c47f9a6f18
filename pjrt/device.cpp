// Devices with their descriptions, which are the same objects, and memories.

#include "pjrt/functions.h"
#include "pjrt/objects.h"

using namespace alula::pjrt;

void *alula::pjrt::DeviceDescription_Id(PJRT_DeviceDescription_Id_Args *args) {
  put(args, &PJRT_DeviceDescription_Id_Args::id,
      as<Device>(args->device_description)->id);
  return nullptr;
}

void *alula::pjrt::DeviceDescription_ProcessIndex(
    PJRT_DeviceDescription_ProcessIndex_Args *args) {
  put(args, &PJRT_DeviceDescription_ProcessIndex_Args::process_index, 0);
  return nullptr;
}

void *alula::pjrt::DeviceDescription_Attributes(
    PJRT_DeviceDescription_Attributes_Args *args) {
  using Args = PJRT_DeviceDescription_Attributes_Args;
  put(args, &Args::num_attributes, 0);
  put(args, &Args::attributes, (void *)nullptr);
  return nullptr;
}

void *
alula::pjrt::DeviceDescription_Kind(PJRT_DeviceDescription_Kind_Args *args) {
  using Args = PJRT_DeviceDescription_Kind_Args;
  putText(args, &Args::device_kind, &Args::device_kind_size, "cpu");
  return nullptr;
}

void *alula::pjrt::DeviceDescription_DebugString(
    PJRT_DeviceDescription_DebugString_Args *args) {
  using Args = PJRT_DeviceDescription_DebugString_Args;
  putText(args, &Args::debug_string, &Args::debug_string_size,
          as<Device>(args->device_description)->description);
  return nullptr;
}

void *alula::pjrt::DeviceDescription_ToString(
    PJRT_DeviceDescription_ToString_Args *args) {
  using Args = PJRT_DeviceDescription_ToString_Args;
  putText(args, &Args::to_string, &Args::to_string_size,
          as<Device>(args->device_description)->description);
  return nullptr;
}

void *
alula::pjrt::Device_GetDescription(PJRT_Device_GetDescription_Args *args) {
  put(args, &PJRT_Device_GetDescription_Args::device_description,
      as<Device>(args->device));
  return nullptr;
}

void *alula::pjrt::Device_IsAddressable(PJRT_Device_IsAddressable_Args *args) {
  put(args, &PJRT_Device_IsAddressable_Args::is_addressable, true);
  return nullptr;
}

void *
alula::pjrt::Device_LocalHardwareId(PJRT_Device_LocalHardwareId_Args *args) {
  put(args, &PJRT_Device_LocalHardwareId_Args::local_hardware_id,
      as<Device>(args->device)->id);
  return nullptr;
}

void *alula::pjrt::Device_AddressableMemories(
    PJRT_Device_AddressableMemories_Args *args) {
  using Args = PJRT_Device_AddressableMemories_Args;
  auto &list = as<Device>(args->device)->memories;
  put(args, &Args::memories, list.data());
  put(args, &Args::num_memories, list.size());
  return nullptr;
}

void *alula::pjrt::Device_DefaultMemory(PJRT_Device_DefaultMemory_Args *args) {
  put(args, &PJRT_Device_DefaultMemory_Args::memory,
      &as<Device>(args->device)->memory);
  return nullptr;
}

void *alula::pjrt::Memory_Id(PJRT_Memory_Id_Args *args) {
  put(args, &PJRT_Memory_Id_Args::id, as<Memory>(args->memory)->device->id);
  return nullptr;
}

void *alula::pjrt::Memory_Kind(PJRT_Memory_Kind_Args *args) {
  putText(args, &PJRT_Memory_Kind_Args::kind,
          &PJRT_Memory_Kind_Args::kind_size, memoryKind);
  return nullptr;
}

void *alula::pjrt::Memory_Kind_Id(PJRT_Memory_Kind_Id_Args *args) {
  put(args, &PJRT_Memory_Kind_Id_Args::kind_id, 0);
  return nullptr;
}

void *alula::pjrt::Memory_DebugString(PJRT_Memory_DebugString_Args *args) {
  using Args = PJRT_Memory_DebugString_Args;
  putText(args, &Args::debug_string, &Args::debug_string_size, memoryKind);
  return nullptr;
}

void *alula::pjrt::Memory_ToString(PJRT_Memory_ToString_Args *args) {
  using Args = PJRT_Memory_ToString_Args;
  putText(args, &Args::to_string, &Args::to_string_size, memoryKind);
  return nullptr;
}

void *alula::pjrt::Memory_AddressableByDevices(
    PJRT_Memory_AddressableByDevices_Args *args) {
  using Args = PJRT_Memory_AddressableByDevices_Args;
  auto &list = as<Memory>(args->memory)->devices;
  put(args, &Args::devices, list.data());
  put(args, &Args::num_devices, list.size());
  return nullptr;
}

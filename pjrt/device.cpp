// Devices, their descriptions, and their memories: one of each. A device is
// its own description.

#include "pjrt/functions.h"
#include "pjrt/objects.h"

#include <algorithm>
#include <unistd.h>

using namespace alula::pjrt;

void *alula::pjrt::DeviceDescription_Id(PJRT_DeviceDescription_Id_Args *args) {
  ALULA_TAKE(Device, device_description);
  put(args, &ALULA_ARGS::id, device_description->id);
  return nullptr;
}

void *alula::pjrt::DeviceDescription_ProcessIndex(
    PJRT_DeviceDescription_ProcessIndex_Args *args) {
  ALULA_TAKE(Device, device_description);
  put(args, &ALULA_ARGS::process_index, device_description->process);
  return nullptr;
}

void *alula::pjrt::DeviceDescription_Attributes(
    PJRT_DeviceDescription_Attributes_Args *args) {
  ALULA_TAKE(Device, device_description);
  put(args, &ALULA_ARGS::attributes, static_cast<void *>(nullptr));
  put(args, &ALULA_ARGS::num_attributes, 0);
  return nullptr;
}

// No device has any; the client deletes what it was given all the same.
void *alula::pjrt::Device_GetAttributes(PJRT_Device_GetAttributes_Args *args) {
  ALULA_TAKE(Device, device);
  put(args, &ALULA_ARGS::attributes, static_cast<void *>(nullptr));
  put(args, &ALULA_ARGS::num_attributes, 0);
  put(args, &ALULA_ARGS::device_attributes, device);
  put(args, &ALULA_ARGS::attributes_deleter,
      reinterpret_cast<void *>(+[](void *) {}));
  return nullptr;
}

void *
alula::pjrt::DeviceDescription_Kind(PJRT_DeviceDescription_Kind_Args *args) {
  ALULA_TAKE(Device, device_description);
  putText(args, &ALULA_ARGS::device_kind, &ALULA_ARGS::device_kind_size,
          device_description->topology->platform.deviceKind);
  return nullptr;
}

void *alula::pjrt::DeviceDescription_DebugString(
    PJRT_DeviceDescription_DebugString_Args *args) {
  ALULA_TAKE(Device, device_description);
  putText(args, &ALULA_ARGS::debug_string, &ALULA_ARGS::debug_string_size,
          device_description->description);
  return nullptr;
}

void *alula::pjrt::DeviceDescription_ToString(
    PJRT_DeviceDescription_ToString_Args *args) {
  ALULA_TAKE(Device, device_description);
  putText(args, &ALULA_ARGS::to_string, &ALULA_ARGS::to_string_size,
          device_description->description);
  return nullptr;
}

void *
alula::pjrt::Device_GetDescription(PJRT_Device_GetDescription_Args *args) {
  ALULA_TAKE(Device, device);
  put(args, &ALULA_ARGS::device_description, device);
  return nullptr;
}

void *alula::pjrt::Device_IsAddressable(PJRT_Device_IsAddressable_Args *args) {
  ALULA_TAKE(Device, device);
  put(args, &ALULA_ARGS::is_addressable, device->isLocal);
  return nullptr;
}

void *
alula::pjrt::Device_LocalHardwareId(PJRT_Device_LocalHardwareId_Args *args) {
  ALULA_TAKE(Device, device);
  put(args, &ALULA_ARGS::local_hardware_id, device->localId);
  return nullptr;
}

void *alula::pjrt::Device_AddressableMemories(
    PJRT_Device_AddressableMemories_Args *args) {
  ALULA_TAKE(Device, device);
  put(args, &ALULA_ARGS::memories, device->memoryList.data());
  put(args, &ALULA_ARGS::num_memories, device->memoryList.size());
  return nullptr;
}

void *alula::pjrt::Device_DefaultMemory(PJRT_Device_DefaultMemory_Args *args) {
  ALULA_TAKE(Device, device);
  if (!device->isLocal)
    return invalid("alula: " + device->description +
                   " is a device of process " +
                   std::to_string(device->process));
  put(args, &ALULA_ARGS::memory, &device->memories[0]);
  return nullptr;
}

void *alula::pjrt::Device_MemoryStats(PJRT_Device_MemoryStats_Args *args) {
  ALULA_TAKE(Device, device);
  const MemoryCount &count = device->memoryCount;
  put(args, &ALULA_ARGS::bytes_in_use, count.inUse.load());
  put(args, &ALULA_ARGS::peak_bytes_in_use, count.peak.load());
  put(args, &ALULA_ARGS::peak_bytes_in_use_is_set, true);
  put(args, &ALULA_ARGS::num_allocs, count.allocations.load());
  put(args, &ALULA_ARGS::num_allocs_is_set, true);
  put(args, &ALULA_ARGS::largest_alloc_size, count.largest.load());
  put(args, &ALULA_ARGS::largest_alloc_size_is_set, true);
  // That of a device with memory of its own is not known.
  bool isHosts = alula_instance_shares_memory(device->instance.get()) != 0;
  int64_t limit =
      static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  put(args, &ALULA_ARGS::bytes_limit, limit);
  put(args, &ALULA_ARGS::bytes_limit_is_set, isHosts);
  // What each may take when all take as much.
  auto sharers = std::count_if(
      device->topology->devices.begin(), device->topology->devices.end(),
      [](const auto &other) { return other->isLocal; });
  put(args, &ALULA_ARGS::bytes_reservable_limit,
      limit / std::max<int64_t>(sharers, 1));
  put(args, &ALULA_ARGS::bytes_reservable_limit_is_set, isHosts);
  alula_memory_statistics kept = {};
  kept.struct_bytes = sizeof kept;
  bool keeps =
      alula_instance_get_memory_statistics(device->instance.get(), &kept) != 0;
  put(args, &ALULA_ARGS::pool_bytes, static_cast<int64_t>(kept.bytes_kept));
  put(args, &ALULA_ARGS::pool_bytes_is_set, keeps);
  put(args, &ALULA_ARGS::peak_pool_bytes,
      static_cast<int64_t>(kept.peak_bytes_kept));
  put(args, &ALULA_ARGS::peak_pool_bytes_is_set, keeps);
  put(args, &ALULA_ARGS::largest_free_block_bytes,
      static_cast<int64_t>(kept.largest_kept));
  put(args, &ALULA_ARGS::largest_free_block_bytes_is_set, keeps);
  put(args, &ALULA_ARGS::bytes_reserved_is_set, false);
  put(args, &ALULA_ARGS::peak_bytes_reserved_is_set, false);
  put(args, &ALULA_ARGS::peak_allocated_bytes_is_set, false);
  return nullptr;
}

void *
alula::pjrt::Device_PoisonExecution(PJRT_Device_PoisonExecution_Args *args) {
  ALULA_TAKE(Device, device);
  // No launch can be told from another by its id.
  put(args, &ALULA_ARGS::poisoned, false);
  return nullptr;
}

// Marks in a trace: ignored.

void *alula::pjrt::Device_CreateAsyncTrackingEvent(
    PJRT_Device_CreateAsyncTrackingEvent_Args *args) {
  ALULA_TAKE(Device, device);
  put(args, &ALULA_ARGS::event, getReadyEvent().leak());
  return nullptr;
}

void *alula::pjrt::AsyncTrackingEvent_Destroy(
    PJRT_AsyncTrackingEvent_Destroy_Args *args) {
  Ref<Event> event(as<Event>(take(args, &ALULA_ARGS::event)));
  return nullptr;
}

void *alula::pjrt::Memory_Id(PJRT_Memory_Id_Args *args) {
  ALULA_TAKE(Memory, memory);
  put(args, &ALULA_ARGS::id, memory->id);
  return nullptr;
}

void *alula::pjrt::Memory_Kind(PJRT_Memory_Kind_Args *args) {
  ALULA_TAKE(Memory, memory);
  putText(args, &ALULA_ARGS::kind, &ALULA_ARGS::kind_size,
          memoryKinds[memory->kind]);
  return nullptr;
}

void *alula::pjrt::Memory_Kind_Id(PJRT_Memory_Kind_Id_Args *args) {
  ALULA_TAKE(Memory, memory);
  put(args, &ALULA_ARGS::kind_id, static_cast<int32_t>(memory->kind));
  return nullptr;
}

void *alula::pjrt::Memory_DebugString(PJRT_Memory_DebugString_Args *args) {
  ALULA_TAKE(Memory, memory);
  putText(args, &ALULA_ARGS::debug_string, &ALULA_ARGS::debug_string_size,
          memory->description);
  return nullptr;
}

void *alula::pjrt::Memory_ToString(PJRT_Memory_ToString_Args *args) {
  ALULA_TAKE(Memory, memory);
  putText(args, &ALULA_ARGS::to_string, &ALULA_ARGS::to_string_size,
          memory->description);
  return nullptr;
}

void *alula::pjrt::Memory_AddressableByDevices(
    PJRT_Memory_AddressableByDevices_Args *args) {
  ALULA_TAKE(Memory, memory);
  put(args, &ALULA_ARGS::devices, memory->devices.data());
  put(args, &ALULA_ARGS::num_devices, memory->devices.size());
  return nullptr;
}

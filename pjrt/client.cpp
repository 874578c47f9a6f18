#include "pjrt/functions.h"
#include "pjrt/objects.h"

#include <cstdlib>

using namespace alula::pjrt;

namespace {
/// How many devices the host is to look like.
int32_t readDeviceCount() {
  const char *text = getenv("ALULA_NUM_DEVICES");
  int count = text ? atoi(text) : 1;
  return count < 1 ? 1 : count > 256 ? 256 : count;
}

void addDevices(Client &client, int32_t count) {
  for (int32_t id = 0; id < count; ++id) {
    auto device = std::make_unique<Device>();
    device->client = &client;
    device->id = id;
    device->description = "AlulaDevice(id=" + std::to_string(id) + ")";
    device->memory = {device.get(), {device.get()}};
    device->memories = {&device->memory};
    client.deviceList.push_back(device.get());
    client.memoryList.push_back(&device->memory);
    client.devices.push_back(std::move(device));
  }
}
} // namespace

void *alula::pjrt::Client_Create(PJRT_Client_Create_Args *args) {
  auto client = std::make_unique<Client>();
  if (alula_error *error = alula_instance_create(nullptr, &client->instance))
    return makeError(error);
  addDevices(*client, readDeviceCount());
  put(args, &PJRT_Client_Create_Args::client, client.release());
  return nullptr;
}

void *alula::pjrt::Client_Destroy(PJRT_Client_Destroy_Args *args) {
  auto *client = as<Client>(args->client);
  alula_instance_destroy(client->instance);
  delete client;
  return nullptr;
}

void *alula::pjrt::Client_PlatformName(PJRT_Client_PlatformName_Args *args) {
  putText(args, &PJRT_Client_PlatformName_Args::platform_name,
          &PJRT_Client_PlatformName_Args::platform_name_size, platformName);
  return nullptr;
}

void *
alula::pjrt::Client_PlatformVersion(PJRT_Client_PlatformVersion_Args *args) {
  putText(args, &PJRT_Client_PlatformVersion_Args::platform_version,
          &PJRT_Client_PlatformVersion_Args::platform_version_size,
          platformVersion);
  return nullptr;
}

void *alula::pjrt::Client_ProcessIndex(PJRT_Client_ProcessIndex_Args *args) {
  put(args, &PJRT_Client_ProcessIndex_Args::process_index, 0);
  return nullptr;
}

void *alula::pjrt::Client_Devices(PJRT_Client_Devices_Args *args) {
  auto &list = as<Client>(args->client)->deviceList;
  put(args, &PJRT_Client_Devices_Args::devices, list.data());
  put(args, &PJRT_Client_Devices_Args::num_devices, list.size());
  return nullptr;
}

void *alula::pjrt::Client_AddressableDevices(
    PJRT_Client_AddressableDevices_Args *args) {
  using Args = PJRT_Client_AddressableDevices_Args;
  auto &list = as<Client>(args->client)->deviceList;
  put(args, &Args::addressable_devices, list.data());
  put(args, &Args::num_addressable_devices, list.size());
  return nullptr;
}

void *alula::pjrt::Client_AddressableMemories(
    PJRT_Client_AddressableMemories_Args *args) {
  using Args = PJRT_Client_AddressableMemories_Args;
  auto &list = as<Client>(args->client)->memoryList;
  put(args, &Args::addressable_memories, list.data());
  put(args, &Args::num_addressable_memories, list.size());
  return nullptr;
}

namespace {
/// The device with an id, or an error that says which there are.
void *findDevice(Client &client, int32_t id, Device *&device) {
  if (id < 0 || static_cast<size_t>(id) >= client.devices.size())
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "alula: no device " + std::to_string(id) + ", there are " +
                         std::to_string(client.devices.size()));
  device = client.devices[static_cast<size_t>(id)].get();
  return nullptr;
}
} // namespace

void *alula::pjrt::Client_LookupDevice(PJRT_Client_LookupDevice_Args *args) {
  Device *device;
  if (void *error = findDevice(*as<Client>(args->client), args->id, device))
    return error;
  put(args, &PJRT_Client_LookupDevice_Args::device, device);
  return nullptr;
}

void *alula::pjrt::Client_LookupAddressableDevice(
    PJRT_Client_LookupAddressableDevice_Args *args) {
  using Args = PJRT_Client_LookupAddressableDevice_Args;
  Device *device;
  if (void *error = findDevice(*as<Client>(args->client),
                               args->local_hardware_id, device))
    return error;
  put(args, &Args::addressable_device, device);
  return nullptr;
}

void *alula::pjrt::Client_DefaultDeviceAssignment(
    PJRT_Client_DefaultDeviceAssignment_Args *args) {
  auto &client = *as<Client>(args->client);
  auto count = static_cast<int64_t>(args->num_replicas) * args->num_partitions;
  if (count < 0 || static_cast<size_t>(count) > client.devices.size() ||
      static_cast<size_t>(count) > args->default_assignment_size)
    return makeError(ALULA_STATUS_INVALID_ARGUMENT,
                     "alula: " + std::to_string(count) +
                         " devices are asked for, there are " +
                         std::to_string(client.devices.size()));
  auto *ids = static_cast<int32_t *>(args->default_assignment);
  for (int32_t i = 0; i < count; ++i)
    ids[i] = i;
  return nullptr;
}

// The topology of one host is its client.

void *alula::pjrt::Client_TopologyDescription(
    PJRT_Client_TopologyDescription_Args *args) {
  put(args, &PJRT_Client_TopologyDescription_Args::topology,
      as<Client>(args->client));
  return nullptr;
}

void *alula::pjrt::TopologyDescription_PlatformName(
    PJRT_TopologyDescription_PlatformName_Args *args) {
  using Args = PJRT_TopologyDescription_PlatformName_Args;
  putText(args, &Args::platform_name, &Args::platform_name_size, platformName);
  return nullptr;
}

void *alula::pjrt::TopologyDescription_PlatformVersion(
    PJRT_TopologyDescription_PlatformVersion_Args *args) {
  using Args = PJRT_TopologyDescription_PlatformVersion_Args;
  putText(args, &Args::platform_version, &Args::platform_version_size,
          platformVersion);
  return nullptr;
}

void *alula::pjrt::TopologyDescription_GetDeviceDescriptions(
    PJRT_TopologyDescription_GetDeviceDescriptions_Args *args) {
  using Args = PJRT_TopologyDescription_GetDeviceDescriptions_Args;
  auto &list = as<Client>(args->topology)->deviceList;
  put(args, &Args::descriptions, list.data());
  put(args, &Args::num_descriptions, list.size());
  return nullptr;
}

void *alula::pjrt::TopologyDescription_Attributes(
    PJRT_TopologyDescription_Attributes_Args *args) {
  using Args = PJRT_TopologyDescription_Attributes_Args;
  put(args, &Args::attributes, (void *)nullptr);
  put(args, &Args::num_attributes, 0);
  return nullptr;
}

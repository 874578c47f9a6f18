#include "pjrt/functions.h"
#include "pjrt/named_value.h"
#include "pjrt/objects.h"
#include "pjrt/python_callbacks.h"

#include <cstdlib>

using namespace alula::pjrt;

Client::Client(const Platform &platform) : topology(platform) {}

// Devices end first: what their queues still do needs the rest.
Client::~Client() { topology.devices.clear(); }

namespace {
constexpr int64_t mostDevices = 256;

void *checkDeviceCount(const std::string &source, const std::string &text,
                       int64_t count) {
  if (count >= 1 && count <= mostDevices)
    return nullptr;
  return invalid("alula: " + source + " is '" + text + "', not 1 to " +
                 std::to_string(mostDevices));
}

/// How many devices the host is to look like, if the client doesn't say.
void *readDeviceCount(int64_t &count) {
  const char *text = getenv("ALULA_NUM_DEVICES");
  count = 1;
  if (!text || !*text)
    return nullptr;
  char *end;
  count = strtol(text, &end, 10);
  return checkDeviceCount("ALULA_NUM_DEVICES", text, *end ? 0 : count);
}

struct ClientOptions {
  int64_t deviceCount = 1;
  /// The runtime's driver of all devices.
  std::string device = defaultPlatform.driver;
  int64_t callback = 0, callbackToken = 0;
};

void *readOptions(const NamedValues &given, ClientOptions &options) {
  if (void *error = readDeviceCount(options.deviceCount))
    return error;
  const char *device = getenv("ALULA_DEVICE");
  if (device && *device)
    options.device = device;
  for (size_t i = 0; i < given.size(); ++i) {
    NamedValue option = given.get(i);
    if (option.name == "device") {
      options.device = option.text;
    } else if (option.name == "num_devices") {
      options.deviceCount = option.number;
      if (void *error =
              checkDeviceCount("the option num_devices",
                               std::to_string(option.number), option.number))
        return error;
    } else if (option.name == "python_callback") {
      options.callback = option.number;
    } else if (option.name == "python_callback_token") {
      options.callbackToken = option.number;
    } else if (option.name != "node_id" && option.name != "num_nodes") {
      return invalid("alula: no client option is called '" +
                     std::string(option.name) +
                     "'; there are device and num_devices");
    }
  }
  return nullptr;
}

/// An instance of the runtime for each device. They take turns with the threads
/// of the first: they are parts of one machine.
void *openDevices(Client &client) {
  alula_instance_options options = {};
  options.struct_bytes = sizeof options;
  options.device = client.topology.platform.driver;
  for (auto &device : client.topology.devices) {
    alula_instance *made = nullptr;
    if (alula_error *error = alula_instance_create(&options, &made))
      return makeError(error);
    device->instance.reset(made);
    if (void *error = client.pythonCallbacks->connect(made))
      return error;
    options.share_threads = client.topology.devices.front()->instance.get();
  }
  return nullptr;
}
} // namespace

void *alula::pjrt::Client_Create(PJRT_Client_Create_Args *args) {
  ClientOptions options;
  if (void *error =
          readOptions(NamedValues(take(args, &ALULA_ARGS::create_options),
                                  take(args, &ALULA_ARGS::num_options)),
                      options))
    return error;
  if (!hasField(args, &ALULA_ARGS::client))
    return invalid("alula: the struct has no room for the client");
  const Platform *platform = nullptr;
  if (void *error = findPlatform(options.device, platform))
    return error;
  auto client = std::make_unique<Client>(*platform);
  client->pythonCallbacks = std::make_unique<PythonCallbacks>(
      options.callback, options.callbackToken);
  client->topology.addDevices(client.get(),
                              static_cast<int32_t>(options.deviceCount));
  if (void *error = openDevices(*client))
    return error;
  put(args, &ALULA_ARGS::client, client.release());
  return nullptr;
}

void *alula::pjrt::Client_Destroy(PJRT_Client_Destroy_Args *args) {
  delete as<Client>(take(args, &ALULA_ARGS::client));
  return nullptr;
}

void *alula::pjrt::Client_PlatformName(PJRT_Client_PlatformName_Args *args) {
  ALULA_TAKE(Client, client);
  putText(args, &ALULA_ARGS::platform_name, &ALULA_ARGS::platform_name_size,
          client->topology.platform.name);
  return nullptr;
}

void *
alula::pjrt::Client_PlatformVersion(PJRT_Client_PlatformVersion_Args *args) {
  ALULA_TAKE(Client, client);
  putText(args, &ALULA_ARGS::platform_version,
          &ALULA_ARGS::platform_version_size, pluginVersion);
  return nullptr;
}

void *alula::pjrt::Client_ProcessIndex(PJRT_Client_ProcessIndex_Args *args) {
  ALULA_TAKE(Client, client);
  put(args, &ALULA_ARGS::process_index, 0);
  return nullptr;
}

void *alula::pjrt::Client_Devices(PJRT_Client_Devices_Args *args) {
  ALULA_TAKE(Client, client);
  auto &list = client->topology.deviceList;
  put(args, &ALULA_ARGS::devices, list.data());
  put(args, &ALULA_ARGS::num_devices, list.size());
  return nullptr;
}

void *alula::pjrt::Client_AddressableDevices(
    PJRT_Client_AddressableDevices_Args *args) {
  ALULA_TAKE(Client, client);
  auto &list = client->topology.deviceList;
  put(args, &ALULA_ARGS::addressable_devices, list.data());
  put(args, &ALULA_ARGS::num_addressable_devices, list.size());
  return nullptr;
}

void *alula::pjrt::Client_AddressableMemories(
    PJRT_Client_AddressableMemories_Args *args) {
  ALULA_TAKE(Client, client);
  auto &list = client->topology.memoryList;
  put(args, &ALULA_ARGS::addressable_memories, list.data());
  put(args, &ALULA_ARGS::num_addressable_memories, list.size());
  return nullptr;
}

namespace {
/// The device with an id, or an error that says how many there are.
void *findDevice(Client &client, int32_t id, void *&device) {
  auto &devices = client.topology.devices;
  if (id < 0 || static_cast<size_t>(id) >= devices.size())
    return invalid("alula: no device " + std::to_string(id) + ", there are " +
                   std::to_string(devices.size()));
  device = devices[static_cast<size_t>(id)].get();
  return nullptr;
}
} // namespace

void *alula::pjrt::Client_LookupDevice(PJRT_Client_LookupDevice_Args *args) {
  ALULA_TAKE(Client, client);
  void *device;
  if (void *error = findDevice(*client, take(args, &ALULA_ARGS::id), device))
    return error;
  put(args, &ALULA_ARGS::device, device);
  return nullptr;
}

void *alula::pjrt::Client_LookupAddressableDevice(
    PJRT_Client_LookupAddressableDevice_Args *args) {
  ALULA_TAKE(Client, client);
  void *device;
  if (void *error = findDevice(
          *client, take(args, &ALULA_ARGS::local_hardware_id), device))
    return error;
  put(args, &ALULA_ARGS::addressable_device, device);
  return nullptr;
}

void *alula::pjrt::Client_DefaultDeviceAssignment(
    PJRT_Client_DefaultDeviceAssignment_Args *args) {
  ALULA_TAKE(Client, client);
  auto *ids = as<int32_t>(take(args, &ALULA_ARGS::default_assignment));
  int64_t replicas = take(args, &ALULA_ARGS::num_replicas);
  int64_t count = replicas * take(args, &ALULA_ARGS::num_partitions);
  size_t room = take(args, &ALULA_ARGS::default_assignment_size);
  size_t devices = client->topology.devices.size();
  if (replicas < 0 || count < 0 || static_cast<size_t>(count) > devices)
    return invalid("alula: " + std::to_string(count) +
                   " devices are asked for, there are " +
                   std::to_string(devices));
  if (static_cast<size_t>(count) > room || (count && !ids))
    return invalid("alula: " + std::to_string(count) +
                   " devices are asked for, there is room for " +
                   std::to_string(room));
  for (int32_t i = 0; i < count; ++i)
    ids[i] = i;
  return nullptr;
}

void *alula::pjrt::Client_TopologyDescription(
    PJRT_Client_TopologyDescription_Args *args) {
  ALULA_TAKE(Client, client);
  put(args, &ALULA_ARGS::topology, &client->topology);
  return nullptr;
}

// The host's memory needs no preparation.

void *alula::pjrt::Client_DmaMap(PJRT_Client_DmaMap_Args *args) {
  ALULA_TAKE(Client, client);
  return nullptr;
}

void *alula::pjrt::Client_DmaUnmap(PJRT_Client_DmaUnmap_Args *args) {
  ALULA_TAKE(Client, client);
  return nullptr;
}

void *alula::pjrt::Client_UpdateGlobalProcessInfo(
    PJRT_Client_UpdateGlobalProcessInfo_Args *args) {
  ALULA_TAKE(Client, client);
  return nullptr;
}

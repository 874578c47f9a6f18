#include "pjrt/ffi/call_site.h"
#include "pjrt/functions.h"
#include "pjrt/interrupts.h"
#include "pjrt/named_value.h"
#include "pjrt/objects.h"
#include "pjrt/python_callbacks.h"

#include <algorithm>
#include <cstdlib>

using namespace alula::pjrt;

Client::Client(const Platform &platform) : topology(platform) {}

// Devices end first: what their queues still do needs the rest.
Client::~Client() { topology.devices.clear(); }

namespace {
constexpr int64_t mostDevices = 256;

/// With the tenth of what is in use, a process has no more than 64 MB and a
/// tenth beyond its arrays.
constexpr int64_t defaultKeptBytes = int64_t(58) << 20;

void *checkDeviceCount(const std::string &source, const std::string &text,
                       int64_t count) {
  if (count >= 1 && count <= mostDevices)
    return nullptr;
  return invalid("alula: " + source + " is '" + text + "', not 1 to " +
                 std::to_string(mostDevices));
}

/// How many devices the host is to look like, if the client doesn't say. 0: as
/// the platform has it.
void *readDeviceCount(int64_t &count) {
  const char *text = getenv("ALULA_NUM_DEVICES");
  count = 0;
  if (!text || !*text)
    return nullptr;
  char *end;
  count = strtol(text, &end, 10);
  return checkDeviceCount("ALULA_NUM_DEVICES", text, *end ? 0 : count);
}

struct ClientOptions {
  /// 0: those that the machine has, or one.
  int64_t deviceCount = 0;
  /// The runtime's driver of all devices.
  std::string device = defaultPlatform.driver;
  int64_t callback = 0, callbackToken = 0;
  /// Of the processes: this one's number, how many there are.
  int64_t process = 0, processCount = 1;
  /// Of released memory, that devices keep for later arrays.
  int64_t keptBytes = defaultKeptBytes;
  std::string collectives;
  /// Seconds.
  int64_t collectivesTimeout = 0;
  alula_device_collectives deviceCollectives =
      ALULA_DEVICE_COLLECTIVES_IF_THERE;
};

constexpr int64_t mostProcesses = 65536, mostSeconds = 1'000'000;

/// How much released memory is kept, if the client doesn't say.
void *readKeptBytes(int64_t &bytes) {
  const char *text = getenv("ALULA_KEPT_BYTES");
  if (!text || !*text)
    return nullptr;
  char *end;
  bytes = strtoll(text, &end, 10);
  if (*end || bytes < 0)
    return invalid("alula: ALULA_KEPT_BYTES is '" + std::string(text) +
                   "', not a number of bytes");
  return nullptr;
}

/// How GPUs exchange arrays: "nccl", an error where it can't be, or "host"; if
/// nobody says, by NCCL where it can be.
void *readDeviceCollectives(const char *where, std::string_view text,
                            ClientOptions &options) {
  if (text == "nccl")
    options.deviceCollectives = ALULA_DEVICE_COLLECTIVES_ALWAYS;
  else if (text == "host")
    options.deviceCollectives = ALULA_DEVICE_COLLECTIVES_NEVER;
  else if (!text.empty())
    return invalid("alula: " + std::string(where) + " is '" +
                   std::string(text) + "', not nccl or host");
  return nullptr;
}

/// What the environment says of collectives.
void *readCollectives(ClientOptions &options) {
  if (const char *devices = getenv("ALULA_DEVICE_COLLECTIVES"))
    if (void *error =
            readDeviceCollectives("ALULA_DEVICE_COLLECTIVES", devices, options))
      return error;
  if (const char *engine = getenv("ALULA_COLLECTIVES"))
    options.collectives = engine;
  const char *seconds = getenv("ALULA_COLLECTIVES_TIMEOUT");
  if (!seconds || !*seconds)
    return nullptr;
  char *end;
  options.collectivesTimeout = strtol(seconds, &end, 10);
  if (*end || options.collectivesTimeout < 1 ||
      options.collectivesTimeout > mostSeconds)
    return invalid("alula: ALULA_COLLECTIVES_TIMEOUT is '" +
                   std::string(seconds) + "', not 1 to " +
                   std::to_string(mostSeconds) + " seconds");
  return nullptr;
}

void *readOptions(const NamedValues &given, ClientOptions &options) {
  if (void *error = readDeviceCount(options.deviceCount))
    return error;
  if (void *error = readCollectives(options))
    return error;
  if (void *error = readKeptBytes(options.keptBytes))
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
    } else if (option.name == "kept_bytes") {
      options.keptBytes = std::max<int64_t>(option.number, 0);
    } else if (option.name == "python_callback") {
      options.callback = option.number;
    } else if (option.name == "python_callback_token") {
      options.callbackToken = option.number;
    } else if (option.name == "node_id") {
      options.process = option.number;
    } else if (option.name == "num_nodes") {
      options.processCount = option.number;
    } else if (option.name == "collectives") {
      options.collectives = option.text;
    } else if (option.name == "device_collectives") {
      if (void *error = readDeviceCollectives("the option device_collectives",
                                              option.text, options))
        return error;
    } else if (option.name == "collectives_timeout") {
      options.collectivesTimeout =
          std::clamp<int64_t>(option.number, 1, mostSeconds);
    } else if (option.name != "partition_index") {
      return invalid("alula: no client option is called '" +
                     std::string(option.name) +
                     "'; there are device, num_devices, kept_bytes, "
                     "collectives, collectives_timeout and "
                     "device_collectives");
    }
  }
  if (options.processCount < 1 || options.processCount > mostProcesses ||
      options.process < 0 || options.process >= options.processCount)
    return invalid("alula: process " + std::to_string(options.process) +
                   " of " + std::to_string(options.processCount));
  return nullptr;
}

/// An instance of the runtime for each device. They take turns with the threads
/// of the first: they are parts of one machine. If the client has not said how
/// many, all that the machine has.
void *openInstances(const Platform &platform, int64_t count, int64_t keptBytes,
                    std::vector<InstanceUse> &instances) {
  bool takesAll = !count && platform.isCounted;
  if (!count)
    count = takesAll ? mostDevices : 1;
  alula_instance_options options = {};
  options.struct_bytes = sizeof options;
  options.kept_bytes = static_cast<uint64_t>(keptBytes);
  for (int32_t i = 0; i < count; ++i) {
    std::string name = platform.getDevice(i);
    options.device = name.c_str();
    alula_instance *made = nullptr;
    if (alula_error *error = alula_instance_create(&options, &made)) {
      if (!takesAll || !i ||
          alula_error_get_code(error) != ALULA_STATUS_NOT_FOUND)
        return makeError(error);
      alula_error_destroy(error);
      break;
    }
    instances.emplace_back(made, alula_instance_destroy);
    options.share_threads = instances.front().get();
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
  std::vector<InstanceUse> instances;
  if (void *error = openInstances(*platform, options.deviceCount,
                                  options.keptBytes, instances))
    return error;
  auto client = std::make_unique<Client>(*platform);
  client->deviceCollectives = options.deviceCollectives;
  client->pythonCallbacks = std::make_unique<PythonCallbacks>(
      options.callback, options.callbackToken);
  Processes &processes = client->processes;
  processes.number = static_cast<uint32_t>(options.process);
  processes.count = static_cast<uint32_t>(options.processCount);
  processes.engine = options.collectives;
  processes.timeout = static_cast<uint32_t>(options.collectivesTimeout) * 1000;
  processes.setStore(args);
  std::vector<int32_t> counts;
  if (void *error = processes.countDevices(
          static_cast<int32_t>(instances.size()), counts))
    return error;
  client->topology.addDevices(client.get(), counts, processes.number);
  for (size_t i = 0; i < instances.size(); ++i) {
    if (void *error = client->pythonCallbacks->connect(instances[i].get()))
      return error;
    auto *device = as<Device>(client->topology.localList[i]);
    device->handlers =
        std::make_shared<ffi::Connection>(instances[i].get(), device->localId);
    device->instance = std::move(instances[i]);
  }
  client->pythonCallbacks->callAtExit(UnderWay::endAll);
  UnderWay::beginAgain();
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
  put(args, &ALULA_ARGS::process_index, client->processes.number);
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
  auto &list = client->topology.localList;
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
/// The device with a number in a list, or an error that says how many there
/// are.
void *pickDevice(const std::vector<void *> &list, int32_t number,
                 void *&device) {
  if (number < 0 || static_cast<size_t>(number) >= list.size())
    return invalid("alula: no device " + std::to_string(number) +
                   ", there are " + std::to_string(list.size()));
  device = list[static_cast<size_t>(number)];
  return nullptr;
}
} // namespace

void *alula::pjrt::Client_LookupDevice(PJRT_Client_LookupDevice_Args *args) {
  ALULA_TAKE(Client, client);
  void *device;
  if (void *error = pickDevice(client->topology.deviceList,
                               take(args, &ALULA_ARGS::id), device))
    return error;
  put(args, &ALULA_ARGS::device, device);
  return nullptr;
}

void *alula::pjrt::Client_LookupAddressableDevice(
    PJRT_Client_LookupAddressableDevice_Args *args) {
  ALULA_TAKE(Client, client);
  void *device;
  if (void *error =
          pickDevice(client->topology.localList,
                     take(args, &ALULA_ARGS::local_hardware_id), device))
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

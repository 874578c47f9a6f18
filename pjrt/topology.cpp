// The devices of a host, also of one that is only compiled for.

#include "pjrt/ffi/call_site.h"
#include "pjrt/functions.h"
#include "pjrt/named_value.h"
#include "pjrt/objects.h"
#include "pjrt/python_callbacks.h"

using namespace alula::pjrt;

void Topology::addDevices(Client *client, const std::vector<int32_t> &counts,
                          uint32_t thisProcess) {
  isClients = client != nullptr;
  int32_t count = 0;
  for (uint32_t process = 0; process < counts.size(); ++process)
    for (int32_t i = 0; i < counts[process]; ++i, ++count) {
      auto device = std::make_unique<Device>();
      device->id = count;
      device->localId = i;
      device->process = static_cast<int32_t>(process);
      device->isLocal = process == thisProcess;
      device->description = "AlulaDevice(id=" + std::to_string(count);
      if (counts.size() > 1)
        device->description += ", process_index=" + std::to_string(process);
      device->description += ")";
      devices.push_back(std::move(device));
    }
  for (auto &device : devices) {
    device->topology = this;
    device->client = client;
    for (size_t kind = 0; kind < std::size(memoryKinds); ++kind) {
      Memory &memory = device->memories[kind];
      int32_t number = device->id + static_cast<int32_t>(kind) * count;
      memory = {device.get(),
                kind,
                number,
                {device.get()},
                "AlulaMemory(id=" + std::to_string(number) +
                    ", kind=" + std::string(memoryKinds[kind]) + ")"};
      if (!device->isLocal)
        continue;
      device->memoryList.push_back(&memory);
      memoryList.push_back(&memory);
    }
    deviceList.push_back(device.get());
    if (device->isLocal)
      localList.push_back(device.get());
  }
}

Topology::Topology(const Platform &platform) : platform(platform) {}
Topology::~Topology() = default;

void *Topology::getPlace(Place &place) {
  if (isClients) {
    place = getFirst().client->getPlace(static_cast<size_t>(getFirst().id));
    return nullptr;
  }
  std::lock_guard lock(mutex);
  if (!instance) {
    alula_instance_options options = {};
    options.struct_bytes = sizeof options;
    std::string name = platform.getDevice(0);
    options.device = name.c_str();
    alula_instance *made;
    if (alula_error *error = alula_instance_create(&options, &made))
      return makeError(error);
    InstanceUse use(made, alula_instance_destroy);
    pythonCallbacks = std::make_unique<PythonCallbacks>(0, 0);
    if (void *error = pythonCallbacks->connect(made))
      return error;
    handlers = std::make_shared<ffi::Connection>(made, -1);
    instance = std::move(use);
  }
  place = {instance.get(), pythonCallbacks.get(), handlers.get(),
           platform.getTarget(alula_instance_get_chip(instance.get()))};
  return nullptr;
}

namespace {
constexpr std::string_view magic = "alula topology ";

void *makeTopology(std::string_view driver, int64_t count, Topology *&result) {
  const Platform *platform = nullptr;
  if (void *error = findPlatform(driver, platform))
    return error;
  if (count < 1 || count > 65536)
    return invalid("alula: a topology has 1 to 65536 devices, " +
                   std::to_string(count) + " are asked for");
  result = new Topology(*platform);
  result->addDevices(nullptr, {static_cast<int32_t>(count)});
  return nullptr;
}
} // namespace

void *alula::pjrt::TopologyDescription_Create(
    PJRT_TopologyDescription_Create_Args *args) {
  if (!hasField(args, &ALULA_ARGS::topology))
    return invalid("alula: the struct has no room for the topology");
  NamedValues options(take(args, &ALULA_ARGS::create_options),
                      take(args, &ALULA_ARGS::num_options));
  int64_t count = 1;
  std::string_view device = defaultPlatform.driver;
  for (size_t i = 0; i < options.size(); ++i) {
    NamedValue option = options.get(i);
    if (option.name == "num_devices")
      count = option.number;
    else if (option.name == "device")
      device = option.text;
    else
      return invalid("alula: no topology option is called '" +
                     std::string(option.name) +
                     "'; there are device and num_devices");
  }
  Topology *made;
  if (void *error = makeTopology(device, count, made))
    return error;
  put(args, &ALULA_ARGS::topology, made);
  return nullptr;
}

void *alula::pjrt::TopologyDescription_Destroy(
    PJRT_TopologyDescription_Destroy_Args *args) {
  auto *topology = as<Topology>(take(args, &ALULA_ARGS::topology));
  // A client's goes with the client.
  if (topology && !topology->isClients)
    delete topology;
  return nullptr;
}

void *alula::pjrt::TopologyDescription_Serialize(
    PJRT_TopologyDescription_Serialize_Args *args) {
  ALULA_TAKE(Topology, topology);
  putOwned(args, &ALULA_ARGS::serialized_bytes,
           &ALULA_ARGS::serialized_bytes_size, &ALULA_ARGS::serialized_topology,
           &ALULA_ARGS::serialized_topology_deleter,
           std::string(magic) + topology->platform.driver + ' ' +
               std::to_string(topology->devices.size()));
  return nullptr;
}

void *alula::pjrt::TopologyDescription_Deserialize(
    PJRT_TopologyDescription_Deserialize_Args *args) {
  ALULA_TAKE(const char, serialized_topology);
  std::string_view bytes(serialized_topology,
                         take(args, &ALULA_ARGS::serialized_topology_size));
  bool isOurs = bytes.starts_with(magic);
  std::string_view rest = bytes.substr(isOurs ? magic.size() : bytes.size());
  size_t blank = rest.find(' ');
  if (!isOurs || blank == rest.npos || rest.size() - blank > 10)
    return invalid("alula: the bytes are no topology of this plugin's");
  Topology *made;
  if (void *error = makeTopology(
          rest.substr(0, blank),
          atoll(std::string(rest.substr(blank + 1)).c_str()), made))
    return error;
  put(args, &ALULA_ARGS::topology, made);
  return nullptr;
}

void *alula::pjrt::TopologyDescription_PlatformName(
    PJRT_TopologyDescription_PlatformName_Args *args) {
  ALULA_TAKE(Topology, topology);
  putText(args, &ALULA_ARGS::platform_name, &ALULA_ARGS::platform_name_size,
          topology->platform.name);
  return nullptr;
}

void *alula::pjrt::TopologyDescription_PlatformVersion(
    PJRT_TopologyDescription_PlatformVersion_Args *args) {
  ALULA_TAKE(Topology, topology);
  putText(args, &ALULA_ARGS::platform_version,
          &ALULA_ARGS::platform_version_size, pluginVersion);
  return nullptr;
}

void *alula::pjrt::TopologyDescription_GetDeviceDescriptions(
    PJRT_TopologyDescription_GetDeviceDescriptions_Args *args) {
  ALULA_TAKE(Topology, topology);
  auto &list = topology->deviceList;
  put(args, &ALULA_ARGS::descriptions, list.data());
  put(args, &ALULA_ARGS::num_descriptions, list.size());
  return nullptr;
}

void *alula::pjrt::TopologyDescription_Attributes(
    PJRT_TopologyDescription_Attributes_Args *args) {
  ALULA_TAKE(Topology, topology);
  put(args, &ALULA_ARGS::attributes, static_cast<void *>(nullptr));
  put(args, &ALULA_ARGS::num_attributes, 0);
  return nullptr;
}

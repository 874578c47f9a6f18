#pragma once

#include "pjrt/platforms.h"
#include "pjrt/processes.h"
#include "pjrt/queue.h"
#include "pjrt/strides.h"
#include "pjrt/value.h"

#include <memory>
#include <span>
#include <unordered_map>

// The objects behind the opaque pointers of the PJRT API. Ids and lists live as
// long as the client; the client outlives all objects created from it.

namespace alula::pjrt {

struct Client;
struct Topology;
struct Program;
struct PythonCallbacks;
namespace ffi {
class Connection;
} // namespace ffi

/// A device's memories. Those of a CPU are all the host's own; clients that
/// tell the kinds apart find what they know of other platforms. Of a device
/// with memory of its own, all but the first, the default, are pinned memory of
/// the host.
inline constexpr std::string_view memoryKinds[] = {"device", "pinned_host",
                                                   "unpinned_host"};

struct Memory {
  Device *device;
  /// Of `memoryKinds`.
  size_t kind;
  int32_t id;
  std::vector<void *> devices;
  std::string description;
};

/// An instance of the runtime, while it is used.
using InstanceUse =
    std::unique_ptr<alula_instance, decltype(&alula_instance_destroy)>;

struct Device {
  const Topology *topology = nullptr;
  /// Null if it is only compiled for.
  Client *client = nullptr;
  /// Null too, like the instance, which it outlives.
  std::shared_ptr<ffi::Connection> handlers;
  /// The runtime's device: its memory, streams and loaded programs. Null too.
  InstanceUse instance{nullptr, alula_instance_destroy};
  /// Of all processes' devices, and of those of its own.
  int32_t id = 0, localId = 0;
  int32_t process = 0;
  /// Of this process, or of a topology without one.
  bool isLocal = true;
  std::string description, debugDescription;
  Memory memories[std::size(memoryKinds)];
  std::vector<void *> memoryList;
  MemoryCount memoryCount;
  /// Goes first: what it still does needs the rest.
  Queue queue;
};

/// Where a program is loaded first: a device, and how many there are that may
/// use it too.
struct Place {
  alula_instance *instance;
  PythonCallbacks *python;
  ffi::Connection *handlers;
  /// What it is compiled for unless somebody says; NULL: the host.
  const char *target;
  size_t device = 0, deviceCount = 1;
};

/// The devices of a client, in all its processes; or of a host that is only
/// compiled for.
struct Topology {
  explicit Topology(const Platform &platform);
  ~Topology();
  /// `counts`: of each process.
  void addDevices(Client *client, const std::vector<int32_t> &counts,
                  uint32_t thisProcess = 0);
  /// Of this process.
  Device &getFirst() const { return *as<Device>(localList.front()); }
  /// Where programs are loaded to be looked at: a client's first device, if it
  /// is a client's.
  void *getPlace(Place &place);

  const Platform &platform;
  std::vector<std::unique_ptr<Device>> devices;
  /// Those of this process, and their memories.
  std::vector<void *> localList, memoryList;
  std::vector<void *> deviceList;
  bool isClients = false;

private:
  std::mutex mutex;
  std::unique_ptr<PythonCallbacks> pythonCallbacks;
  std::shared_ptr<ffi::Connection> handlers;
  /// Made when it is needed; null for a client's topology.
  InstanceUse instance{nullptr, alula_instance_destroy};
};

/// Compiled programs that are in use, by their content.
class ProgramCache {
public:
  /// The program that was compiled from these bytes with these options.
  std::shared_ptr<Program> find(std::string_view source,
                                const std::string &options);
  void add(std::string_view source, const std::string &options,
           const std::shared_ptr<Program> &program);

private:
  struct Entry {
    std::string options;
    std::weak_ptr<Program> program;
  };
  std::mutex mutex;
  /// By a hash of the source; the programs have the sources themselves.
  std::unordered_multimap<size_t, Entry> entries;
  /// Programs that are gone are swept out when there are so many.
  size_t sweepAt = 64;
};

struct Client {
  explicit Client(const Platform &platform);
  ~Client();
  Place getPlace(size_t device) {
    alula_instance *instance = topology.devices[device]->instance.get();
    return {instance,
            pythonCallbacks.get(),
            topology.devices[device]->handlers.get(),
            topology.platform.getTarget(alula_instance_get_chip(instance)),
            device,
            topology.devices.size()};
  }

  std::unique_ptr<PythonCallbacks> pythonCallbacks;
  Processes processes;
  Topology topology;
  ProgramCache programs;
  /// How GPUs exchange arrays.
  alula_device_collectives deviceCollectives =
      ALULA_DEVICE_COLLECTIVES_IF_THERE;
  /// Held while a call is enqueued on several devices.
  std::mutex launchOrder;
};

/// A client's reference to an array. Thread-safe, but for the destruction,
/// which must be the last call.
class Buffer {
public:
  Buffer(Device *device, alula_dtype dtype, std::vector<int64_t> dims,
         Layout layout, Ref<Value> value)
      : device(device), dtype(dtype), dims(std::move(dims)),
        layout(std::move(layout)), ready(value->ready),
        memory(&device->memories[0]), value(std::move(value)) {}

  /// The array, null if deleted or donated.
  Ref<Value> acquire();
  /// The same, for a call. Vectors in memory that does not begin at a cache
  /// line lie in two, and programs that read elements several times
  /// take up to 1.5 times as long. What is read once is not worth a copy: the
  /// second call makes one, which takes the array's place.
  Ref<Value> acquireForCall();
  /// The same, of an array whose address somebody is told: it stays there.
  Ref<Value> acquireInPlace();
  /// Takes the array away if it is still `expected`: the buffer is deleted.
  /// What others were given the address of stays as long as they need it.
  bool takeAway(const Value *expected);
  /// After takeAway, when the donation comes to nothing.
  void giveBack(Ref<Value> taken);
  void remove();
  bool isDeleted();
  void addExternalReference();
  bool dropExternalReference();
  /// Deletes the object, perhaps only with the last external reference.
  void destroy();

  Device *const device;
  const alula_dtype dtype;
  const std::vector<int64_t> dims;
  /// The physical layout: the value is row-major in dimensions of this order.
  const Layout layout;
  const Ref<Event> ready;
  /// May be set before the client has the buffer.
  Memory *memory;
  /// The layout, row-major included; made when a client asks.
  std::vector<int64_t> minorToMajor;
  std::once_flag minorToMajorMade;

private:
  ~Buffer() = default;

  std::mutex mutex;
  Ref<Value> value;
  /// The deleted array that external references show.
  Ref<Value> kept;
  int externalReferences = 0;
  bool wasRead = false, isInPlace = false;
  bool isDestroyed = false;
};

/// The device that a memory, or else a device, names; the client's first if
/// neither. An error if it is another process's.
inline void *findDevice(const Client &client, void *device, void *memory,
                        Device *&found) {
  found = memory   ? as<Memory>(memory)->device
          : device ? as<Device>(device)
                   : &client.topology.getFirst();
  if (found->isLocal)
    return nullptr;
  return invalid("alula: " + found->description + " is a device of process " +
                 std::to_string(found->process));
}

/// The memory that is given, or else the device's default.
inline Memory *getMemory(Device *device, void *memory) {
  return memory ? as<Memory>(memory) : &device->memories[0];
}

/// Whether what lies in a memory lies in the host's.
inline bool isOnHost(const Memory &memory) { return memory.kind != 0; }

/// Memory of a device, its own or the host's.
alula_error *createData(Device *device, bool isOnHost, alula_dtype dtype,
                        size_t rank, const int64_t *dims, alula_buffer *&data);

/// A buffer for data that is there.
Buffer *makeBuffer(Device *device, alula_buffer *data, const Layout &layout,
                   bool isReadOnly = false);

inline void *deletedError() {
  return invalid("Buffer has been deleted or donated.");
}

} // namespace alula::pjrt

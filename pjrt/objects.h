#pragma once

#include "pjrt/border.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

// What the opaque pointers of the PJRT API point to. Ids and lists live as
// long as the client; the client outlives everything made from it.

namespace alula::pjrt {

struct Client;
struct Device;

struct Memory {
  Device *device;
  std::vector<void *> devices;
};

struct Device {
  Client *client;
  int32_t id;
  std::string description;
  Memory memory;
  std::vector<void *> memories;
};

struct Client {
  alula_instance *instance = nullptr;
  std::vector<std::unique_ptr<Device>> devices;
  std::vector<void *> deviceList, memoryList;
};

/// Something that will have happened, with the error it ended in.
class Event {
public:
  /// Takes `error` over.
  void finish(std::unique_ptr<Error> error);
  bool isDone();
  /// Waits; a copy of the error, null if there is none.
  void *wait();
  /// `callback` gets a copy of the error, at once if the event is done.
  void onReady(std::function<void(void *error)> callback);

private:
  std::unique_ptr<Error> copyError() const;

  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::unique_ptr<Error> error;
  std::vector<std::function<void(void *error)>> callbacks;
};

/// An event that has happened.
void *makeReadyEvent();

struct Buffer {
  Client *client;
  Device *device;
  std::mutex mutex;
  /// Null once deleted or donated.
  alula_buffer *data;
  alula_dtype dtype;
  std::vector<int64_t> dims;
  std::atomic<int> externalReferences{0};

  ~Buffer() {
    if (data)
      alula_buffer_release(data);
  }
  /// The data with one more reference, null if deleted.
  alula_buffer *acquire();
};

Buffer *makeBuffer(Device *device, alula_buffer *data);

/// A compiled program: shared by the executable and loaded executables that
/// clients hold.
struct Program {
  ~Program() {
    if (executable)
      alula_executable_destroy(executable);
  }
  alula_executable *executable = nullptr;
  uint32_t function = 0;
  std::string name, fingerprint, source;
  std::vector<alula_dtype> resultTypes;
  std::vector<uint32_t> resultTypeCodes;
  std::vector<int64_t> resultDims;
  std::vector<size_t> resultRanks;
  std::vector<const char *> resultMemoryKinds;
  std::vector<size_t> resultMemoryKindSizes;
  uint32_t argumentCount = 0;
};

struct Executable {
  std::shared_ptr<Program> program;
};

struct LoadedExecutable {
  std::shared_ptr<Program> program;
  Client *client;
  Device *device;
  std::vector<void *> devices;
  std::atomic<bool> deleted{false};
};

inline constexpr std::string_view platformName = "alula";
inline constexpr std::string_view platformVersion = "alula 0.1.0";
inline constexpr std::string_view memoryKind = "device";

} // namespace alula::pjrt

// A thread that executes commands asynchronously, with a delay.

#pragma once

#include "runtime/device/afar/memory.h"

namespace alula::runtime {

struct AfarDevice {
  explicit AfarDevice(Instance &instance)
      : instance(instance), memory(instance.allocator) {}

  Instance &instance;
  AfarMemory memory;
  /// Of the streams that were made, so that each lags in its own way.
  std::atomic<uint32_t> streams{0};
};

/// A point in a stream: the commands up to the `wanted`th record of it.
class AfarEvent {
public:
  uint64_t addRecord();
  uint64_t getWanted();
  void reach();
  void waitFor(uint64_t record);
  bool hasReached(uint64_t record);

private:
  Mutex mutex;
  Condition changed;
  uint64_t wanted = 0, reached = 0;
};

class AfarStream {
public:
  explicit AfarStream(AfarDevice &device)
      : device(device), random(++device.streams * 2654435761u) {}
  AfarStream(const AfarStream &) = delete;
  AfarStream &operator=(const AfarStream &) = delete;
  ~AfarStream();
  Status start();

  /// Each of these returns when the command is in the queue; those that want an
  /// answer wait for it.
  Status dispatch(LoadedKernels *kernels, const Dispatch &dispatch);
  Status copyTo(uint8_t *to, const void *from, uint64_t bytes);
  Status copyFrom(void *to, const uint8_t *from, uint64_t bytes);
  Status copy(uint8_t *to, const uint8_t *from, uint64_t bytes);
  Status copyFromDevice(uint8_t *to, AfarDevice &source, const uint8_t *from,
                        uint64_t bytes);
  Status fill(uint8_t *to, uint64_t pattern, uint32_t width, uint64_t bytes);
  Status record(AfarEvent &event);
  Status waitInStream(AfarEvent &event);
  /// Waits for all; gives and forgets the error.
  Status synchronize();

private:
  enum class Kind : uint32_t {
    dispatch,
    copyTo,
    copyFrom,
    copy,
    fill,
    record,
    wait
  };
  /// What follows it in the queue belongs to it: the bytes of a small copy, the
  /// bindings and constants of a dispatch.
  struct Command {
    uint64_t bytes;
    Kind kind;
    union {
      struct {
        LoadedKernels *kernels;
        Dispatch dispatch;
      } grid;
      struct {
        uint8_t *to;
        const uint8_t *from;
        uint64_t size, pattern;
        uint32_t width;
        /// Whose memory `from` is.
        AfarMemory *source;
      } data;
      struct {
        AfarEvent *event;
        uint64_t record;
      } event;
    };
  };

  static void *runThread(void *argument);
  void work();
  void lag();
  void run(Command &command);
  Status runDispatch(Command &command);

  /// Room for a command at the end of the queue, with the queue's lock held;
  /// NULL if there is no memory. `enqueue` hands it to the thread.
  Command *reserve(Kind kind, uint64_t more);
  void enqueue(const Command &command);
  void waitUntilIdle();
  Status takeFailure();

  AfarDevice &device;
  uint32_t random;
  pthread_t thread = {};
  Mutex mutex;
  Condition changed;
  /// Commands one after the other: [begin, end) have not run. The memory is
  /// begun anew, or replaced by a larger one, when all have.
  uint8_t *queue = nullptr;
  uint64_t begin = 0, end = 0, capacity = 0;
  bool isStopping = false;
  Status failure = nullptr;
};

} // namespace alula::runtime

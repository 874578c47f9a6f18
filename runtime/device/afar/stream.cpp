#include "runtime/device/afar/stream.h"

#include "runtime/device/host/memory.h"

#include <ctime>

namespace alula::runtime {

/// Larger copies from the host wait instead of taking the bytes along.
constexpr uint64_t mostBytesAlong = 4096;
constexpr uint64_t firstCapacity = uint64_t(1) << 16;

// ---- Events ----

uint64_t AfarEvent::addRecord() {
  Lock lock(mutex);
  return ++wanted;
}

uint64_t AfarEvent::getWanted() {
  Lock lock(mutex);
  return wanted;
}

void AfarEvent::reach() {
  Lock lock(mutex);
  ++reached;
  changed.notifyAll();
}

void AfarEvent::waitFor(uint64_t record) {
  Lock lock(mutex);
  while (reached < record)
    changed.wait(mutex);
}

bool AfarEvent::hasReached(uint64_t record) {
  Lock lock(mutex);
  return reached >= record;
}

// ---- The thread ----

Status AfarStream::start() {
  if (pthread_create(&thread, nullptr, runThread, this) != 0)
    return makeError(ALULA_STATUS_RESOURCE_EXHAUSTED,
                     "device 'afar' can't start a thread for a stream");
  return nullptr;
}

AfarStream::~AfarStream() {
  {
    Lock lock(mutex);
    isStopping = true;
    changed.notifyAll();
  }
  pthread_join(thread, nullptr);
  alula_error_destroy(failure);
  free(queue);
}

void *AfarStream::runThread(void *argument) {
  static_cast<AfarStream *>(argument)->work();
  return nullptr;
}

void AfarStream::work() {
  mutex.lock();
  while (true) {
    while (begin == end && !isStopping)
      changed.wait(mutex);
    if (begin == end)
      break;
    auto &command = *reinterpret_cast<Command *>(queue + begin);
    // An event is reached even if what is before it failed.
    bool runs = !failure || command.kind == Kind::record;
    mutex.unlock();
    lag();
    if (runs)
      run(command);
    mutex.lock();
    begin += command.bytes;
    if (begin == end)
      changed.notifyAll();
  }
  mutex.unlock();
}

/// Now and then a while, differently for each stream.
void AfarStream::lag() {
  random ^= random << 13;
  random ^= random >> 17;
  random ^= random << 5;
  if (random % 8)
    return;
  timespec pause = {0, long(random / 8 % 50000)};
  nanosleep(&pause, nullptr);
}

void AfarStream::run(Command &command) {
  AfarMemory &memory = device.memory;
  auto &data = command.data;
  switch (command.kind) {
  case Kind::dispatch: {
    Status status = runDispatch(command);
    Lock lock(mutex);
    failure = status;
    return;
  }
  case Kind::copyTo:
    memcpy(memory.translate("a copy to", data.to, data.size), data.from,
           data.size);
    return;
  case Kind::copyFrom:
    memcpy(data.to, memory.translate("a copy from", data.from, data.size),
           data.size);
    return;
  case Kind::copy:
    memmove(memory.translate("a copy to", data.to, data.size),
            data.source->translate("a copy from", data.from, data.size),
            data.size);
    return;
  case Kind::fill:
    (void)!host::fill(nullptr, memory.translate("a fill", data.to, data.size),
                      data.pattern, data.width, data.size);
    return;
  case Kind::record:
    command.event.event->reach();
    return;
  case Kind::wait:
    command.event.event->waitFor(command.event.record);
    return;
  }
}

Status AfarStream::runDispatch(Command &command) {
  Dispatch &dispatch = command.grid.dispatch;
  alula_kernel_args &args = dispatch.args;
  auto *bindings = reinterpret_cast<uint8_t **>(&command + 1);
  AfarMemory &memory = device.memory;
  for (uint32_t i = 0; i < args.binding_count; ++i)
    bindings[i] =
        memory.translate("a binding", bindings[i], args.binding_bytes[i]);
  if (dispatch.scratch)
    dispatch.scratch = memory.translate(
        "scratch", dispatch.scratch,
        dispatch.scratchStride * device.instance.pool.getWorkerCount());
  return cpuDriver.runner.dispatch(reinterpret_cast<Stream *>(&device.instance),
                                   command.grid.kernels, dispatch);
}

// ---- The queue ----

AfarStream::Command *AfarStream::reserve(Kind kind, uint64_t more) {
  uint64_t bytes = (sizeof(Command) + more + memoryAlignment - 1) /
                   memoryAlignment * memoryAlignment;
  if (begin == end)
    begin = end = 0;
  if (end + bytes > capacity) {
    waitUntilIdle();
    begin = end = 0;
    if (bytes > capacity) {
      uint64_t grown = bytes > firstCapacity ? bytes : firstCapacity;
      void *memory = realloc(queue, grown);
      if (!memory)
        return nullptr;
      queue = static_cast<uint8_t *>(memory);
      capacity = grown;
    }
  }
  auto *command = reinterpret_cast<Command *>(queue + end);
  command->bytes = bytes;
  command->kind = kind;
  return command;
}

void AfarStream::enqueue(const Command &command) {
  end += command.bytes;
  changed.notifyAll();
}

void AfarStream::waitUntilIdle() {
  while (begin != end)
    changed.wait(mutex);
}

Status AfarStream::takeFailure() {
  Status status = failure;
  failure = nullptr;
  return status;
}

Status AfarStream::synchronize() {
  Lock lock(mutex);
  waitUntilIdle();
  return takeFailure();
}

// ---- Commands ----

Status AfarStream::dispatch(LoadedKernels *kernels, const Dispatch &dispatch) {
  const alula_kernel_args &args = dispatch.args;
  uint64_t bindings = args.binding_count * sizeof(void *);
  uint64_t sizes = args.binding_count * sizeof(uint64_t);
  uint64_t constants = args.constant_count * sizeof(int64_t);
  Lock lock(mutex);
  Command *command = reserve(Kind::dispatch, bindings + sizes + constants);
  if (!command)
    return makeOutOfMemory("a command", bindings + sizes + constants);
  auto *behind = reinterpret_cast<uint8_t *>(command + 1);
  command->grid = {kernels, dispatch};
  alula_kernel_args &mine = command->grid.dispatch.args;
  if (bindings) {
    memcpy(behind, args.bindings, bindings);
    memcpy(behind + bindings, args.binding_bytes, sizes);
  }
  if (constants)
    memcpy(behind + bindings + sizes, args.constants, constants);
  mine.bindings = reinterpret_cast<void **>(behind);
  mine.binding_bytes = reinterpret_cast<uint64_t *>(behind + bindings);
  mine.constants = reinterpret_cast<int64_t *>(behind + bindings + sizes);
  enqueue(*command);
  return nullptr;
}

Status AfarStream::copyTo(uint8_t *to, const void *from, uint64_t bytes) {
  bool takesAlong = bytes <= mostBytesAlong;
  Lock lock(mutex);
  Command *command = reserve(Kind::copyTo, takesAlong ? bytes : 0);
  if (!command)
    return makeOutOfMemory("a command", bytes);
  command->data = {to,     static_cast<const uint8_t *>(from), bytes, 0, 0,
                   nullptr};
  if (takesAlong && bytes) {
    memcpy(command + 1, from, bytes);
    command->data.from = reinterpret_cast<uint8_t *>(command + 1);
  }
  enqueue(*command);
  if (!takesAlong)
    waitUntilIdle();
  return nullptr;
}

Status AfarStream::copyFrom(void *to, const uint8_t *from, uint64_t bytes) {
  Lock lock(mutex);
  Command *command = reserve(Kind::copyFrom, 0);
  if (!command)
    return makeOutOfMemory("a command", bytes);
  command->data = {static_cast<uint8_t *>(to), from, bytes, 0, 0, nullptr};
  enqueue(*command);
  waitUntilIdle();
  return takeFailure();
}

Status AfarStream::copy(uint8_t *to, const uint8_t *from, uint64_t bytes) {
  return copyFromDevice(to, device, from, bytes);
}

Status AfarStream::copyFromDevice(uint8_t *to, AfarDevice &source,
                                  const uint8_t *from, uint64_t bytes) {
  Lock lock(mutex);
  Command *command = reserve(Kind::copy, 0);
  if (!command)
    return makeOutOfMemory("a command", sizeof(Command));
  command->data = {to, from, bytes, 0, 0, &source.memory};
  enqueue(*command);
  return nullptr;
}

Status AfarStream::fill(uint8_t *to, uint64_t pattern, uint32_t width,
                        uint64_t bytes) {
  Lock lock(mutex);
  Command *command = reserve(Kind::fill, 0);
  if (!command)
    return makeOutOfMemory("a command", sizeof(Command));
  command->data = {to, nullptr, bytes, pattern, width, nullptr};
  enqueue(*command);
  return nullptr;
}

Status AfarStream::record(AfarEvent &event) {
  Lock lock(mutex);
  Command *command = reserve(Kind::record, 0);
  if (!command)
    return makeOutOfMemory("a command", sizeof(Command));
  command->event = {&event, event.addRecord()};
  enqueue(*command);
  return nullptr;
}

Status AfarStream::waitInStream(AfarEvent &event) {
  Lock lock(mutex);
  Command *command = reserve(Kind::wait, 0);
  if (!command)
    return makeOutOfMemory("a command", sizeof(Command));
  command->event = {&event, event.getWanted()};
  enqueue(*command);
  return nullptr;
}

} // namespace alula::runtime

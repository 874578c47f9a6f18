// Loops of a stream: recorded once, decided by the device or, where that can't
// be, by the host.

#include "runtime/device/cuda/device.h"

#include <cstdio>
#include <ctime>

namespace alula::runtime::cuda {
namespace {

/// One thread reads the condition, as long as nobody wants loops to stop, and
/// gives it to one or two conditions of graphs; cudaGraphSetConditional is the
/// driver's, which links it in. The other kernel exchanges memory word by word
/// after an odd number of rounds.
const char loopText[] = R"(
.version 7.0
.target sm_80
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 condition, .param .b32 value);
.visible .entry alula_loop_test(
  .param .u64 loop, .param .u64 second, .param .u64 condition,
  .param .u64 is_odd, .param .u64 odd, .param .u64 stop)
{
  .reg .pred %p<4>;
  .reg .b32 %r<5>;
  .reg .b64 %d<7>;
  ld.param.u64 %d1, [loop];
  ld.param.u64 %d2, [second];
  ld.param.u64 %d3, [condition];
  ld.param.u64 %d4, [is_odd];
  ld.param.u64 %d5, [odd];
  ld.param.u64 %d6, [stop];
  cvt.u32.u64 %r1, %d5;
  st.global.u32 [%d4], %r1;
  ld.global.u8 %r2, [%d3];
  ld.volatile.global.u32 %r3, [%d6];
  setp.ne.u32 %p1, %r2, 0;
  setp.eq.u32 %p2, %r3, 0;
  and.pred %p1, %p1, %p2;
  selp.u32 %r4, 1, 0, %p1;
  {
    .param .b64 handle;
    .param .b32 value;
    st.param.b64 [handle], %d1;
    st.param.b32 [value], %r4;
    call.uni cudaGraphSetConditional, (handle, value);
  }
  setp.eq.u64 %p3, %d2, 0;
  @%p3 bra DONE;
  {
    .param .b64 handle;
    .param .b32 value;
    st.param.b64 [handle], %d2;
    st.param.b32 [value], %r4;
    call.uni cudaGraphSetConditional, (handle, value);
  }
DONE:
  ret;
}
.visible .entry alula_loop_exchange(
  .param .u64 first, .param .u64 second, .param .u64 bytes,
  .param .u64 is_odd)
{
  .reg .pred %p<4>;
  .reg .b32 %r<9>;
  .reg .b64 %d<12>;
  ld.param.u64 %d1, [first];
  ld.param.u64 %d2, [second];
  ld.param.u64 %d3, [bytes];
  ld.param.u64 %d4, [is_odd];
  ld.global.u32 %r1, [%d4];
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra DONE;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mov.u32 %r5, %nctaid.x;
  mad.lo.u32 %r6, %r2, %r3, %r4;
  mul.lo.u32 %r7, %r3, %r5;
  cvt.u64.u32 %d5, %r6;
  cvt.u64.u32 %d6, %r7;
  shl.b64 %d7, %d5, 2;
  shl.b64 %d8, %d6, 2;
  and.b64 %d9, %d3, -4;
WORDS:
  setp.ge.u64 %p2, %d7, %d9;
  @%p2 bra BYTES;
  add.u64 %d10, %d1, %d7;
  add.u64 %d11, %d2, %d7;
  ld.global.u32 %r1, [%d10];
  ld.global.u32 %r8, [%d11];
  st.global.u32 [%d10], %r8;
  st.global.u32 [%d11], %r1;
  add.u64 %d7, %d7, %d8;
  bra WORDS;
BYTES:
  add.u64 %d7, %d9, %d5;
  setp.ge.u64 %p3, %d7, %d3;
  @%p3 bra DONE;
  add.u64 %d10, %d1, %d7;
  add.u64 %d11, %d2, %d7;
  ld.global.u8 %r1, [%d10];
  ld.global.u8 %r8, [%d11];
  st.global.u8 [%d10], %r8;
  st.global.u8 [%d11], %r1;
DONE:
  ret;
}
)";

bool overlap(DeviceAddress a, DeviceAddress b, uint64_t aBytes,
             uint64_t bBytes) {
  return a < b + bBytes && b < a + aBytes;
}
} // namespace

bool findLoopKernels(CudaDevice &device) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  const Api &api = *device.api;
  if (!api.GraphAddNode || !api.GraphConditionalHandleCreate)
    return false;
  pthread_mutex_lock(&mutex);
  LoopKernels &loops = device.loops;
  if (!loops.isTried) {
    loops.isTried = true;
    if (api.ModuleLoadDataEx(&loops.module, loopText, 0, nullptr, nullptr) !=
            success ||
        api.ModuleGetFunction(&loops.test, loops.module, "alula_loop_test") !=
            success ||
        api.ModuleGetFunction(&loops.exchange, loops.module,
                              "alula_loop_exchange") != success)
      loops.test = nullptr;
  }
  bool isThere = loops.test;
  pthread_mutex_unlock(&mutex);
  return isThere;
}

// ---- Recording ----

Status CudaStream::beginLoop(const int *wanted, bool *isTaken) {
  *isTaken = false;
  Current current(device);
  if (!canRecord || openLoops == mostOpenLoops ||
      pending.loopCount == mostLoops || !findLoopKernels(device)) {
    (void)refuseInLoop();
    return nullptr;
  }
  if (!loopsDone)
    ALULA_TRY(
        check(device.api->EventCreate(&loopsDone, eventNoTiming), "an event"));
  if (!openLoops) {
    // Calls take turns, each with its own.
    if (pending.loopCount && cancel != wanted)
      return nullptr;
    cancel = wanted;
    commandsBefore = pending.count();
    valuesBefore = uint32_t(pending.values.size());
    loopsBefore = pending.loopCount;
  }
  firstTests[openLoops] = middleTests[openLoops] = UINT32_MAX;
  ++openLoops;
  *isTaken = true;
  return nullptr;
}

Status CudaStream::testLoop(const uint8_t *condition,
                            LoopRecorder::Place place) {
  Command command = {};
  command.kind = Command::Test;
  command.place = place;
  command.condition = reinterpret_cast<DeviceAddress>(condition);
  uint32_t loop = openLoops - 1;
  if (place == LoopRecorder::First) {
    command.isOdd =
        reinterpret_cast<DeviceAddress>(&loopWords[1 + pending.loopCount++]);
    firstTests[loop] = pending.count();
  } else {
    const Command &first = pending.commands[firstTests[loop]];
    command.isOdd = first.isOdd;
    if (place == LoopRecorder::Middle)
      middleTests[loop] = pending.count();
    else
      command.target = firstTests[loop] + 1;
  }
  return push(command);
}

Status CudaStream::endLoop(const Exchange *exchanges, size_t count, bool isLoop,
                           bool *isTaken) {
  canRecord &= isLoop;
  uint32_t loop = openLoops - 1;
  DeviceAddress isOdd = pending.commands[firstTests[loop]].isOdd;
  Command command = {};
  command.kind = Command::End;
  ALULA_TRY(push(command));
  for (uint32_t test : {firstTests[loop], middleTests[loop]})
    if (test != UINT32_MAX)
      pending.commands[test].target = pending.count();
  uint32_t firstExchange = pending.count();
  for (size_t i = 0; i < count; ++i) {
    command = {};
    command.kind = Command::Exchange;
    command.to = reinterpret_cast<DeviceAddress>(exchanges[i].first);
    command.from = reinterpret_cast<DeviceAddress>(exchanges[i].second);
    command.bytes = exchanges[i].bytes;
    command.isOdd = isOdd;
    canRecord &=
        command.to && command.from && command.to % 4 == 0 &&
        command.from % 4 == 0 &&
        !overlap(command.to, command.from, command.bytes, command.bytes);
    // Each of two names says the same, and nothing else may say more.
    bool isKnown = false;
    for (uint32_t k = firstExchange; k < pending.count(); ++k) {
      const Command &known = pending.commands[k];
      bool isSame = known.bytes == command.bytes &&
                    ((known.to == command.to && known.from == command.from) ||
                     (known.to == command.from && known.from == command.to));
      isKnown |= isSame;
      for (DeviceAddress end : {known.to, known.from})
        canRecord &=
            isSame || (!overlap(command.to, end, command.bytes, known.bytes) &&
                       !overlap(command.from, end, command.bytes, known.bytes));
    }
    if (!isKnown)
      ALULA_TRY(push(command));
  }
  *isTaken = canRecord;
  // Of loops in loops the outermost is forgotten, when it ends.
  if (openLoops == 1 && !canRecord)
    forgetLoops();
  else
    --openLoops;
  return nullptr;
}

void CudaStream::forgetLoops() {
  if (openLoops) {
    // Shrinking never allocates.
    (void)!pending.commands.resize(commandsBefore);
    (void)!pending.values.resize(valuesBefore);
    pending.loopCount = loopsBefore;
  }
  openLoops = 0;
  canRecord = true;
}

// ---- Decided by the host ----

Status CudaStream::issueTest(const Command &command, bool *holds) {
  const Api &api = *device.api;
  uint8_t byte = 0;
  ALULA_TRY(check(api.MemcpyAsync(reinterpret_cast<DeviceAddress>(&byte),
                                  command.condition, 1, handle),
                  "a loop's condition"));
  ALULA_TRY(check(api.StreamSynchronize(handle), "a loop's condition"));
  if (cancel && __atomic_load_n(cancel, __ATOMIC_RELAXED))
    loopWords[0] = 1;
  *holds = byte && !loopWords[0];
  *reinterpret_cast<uint32_t *>(command.isOdd) =
      command.place == LoopRecorder::Middle;
  return nullptr;
}

Status CudaStream::issueExchange(const Command &command) {
  if (!*reinterpret_cast<uint32_t *>(command.isOdd))
    return nullptr;
  const Api &api = *device.api;
  DeviceAddress between = 0;
  ALULA_TRY(check(
      api.MemAllocFromPoolAsync(&between, command.bytes, device.pool, handle),
      "an exchange of memory"));
  Result result = api.MemcpyAsync(between, command.to, command.bytes, handle);
  if (result == success)
    result = api.MemcpyAsync(command.to, command.from, command.bytes, handle);
  if (result == success)
    result = api.MemcpyAsync(command.from, between, command.bytes, handle);
  Result freed = api.MemFreeAsync(between, handle);
  return check(result != success ? result : freed, "an exchange of memory");
}

Status CudaStream::issueAll() {
  for (uint32_t i = 0; i < pending.count();) {
    const Command &command = pending.commands[i++];
    if (command.kind == Command::Test) {
      bool holds = false;
      ALULA_TRY(issueTest(command, &holds));
      if (holds == (command.place == LoopRecorder::Last))
        i = command.target;
    } else if (command.kind == Command::Exchange) {
      ALULA_TRY(issueExchange(command));
    } else if (command.kind != Command::End) {
      ALULA_TRY(issue(command));
    }
  }
  return nullptr;
}

// ---- Waiting ----

Result CudaStream::waitForStream() {
  const Api &api = *device.api;
  if (!cancel)
    return api.StreamSynchronize(handle);
  // Who cancels a call has a word of his own, which no device sees.
  Result result = api.EventRecord(loopsDone, handle);
  for (long pause = 1000; result == success;) {
    result = api.EventQuery(loopsDone);
    if (result != notReady)
      break;
    result = success;
    if (__atomic_load_n(cancel, __ATOMIC_RELAXED))
      __atomic_store_n(&loopWords[0], 1, __ATOMIC_RELAXED);
    timespec time = {0, pause};
    nanosleep(&time, nullptr);
    pause = pause < 200000 ? pause * 2 : pause;
  }
  return result != success ? result : api.StreamSynchronize(handle);
}

} // namespace alula::runtime::cuda

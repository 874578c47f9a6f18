// Loops and choices of a stream: recorded once, decided by the device or, where
// that can't be, by the host.

#include "runtime/device/cuda/device.h"

#include <cstdio>
#include <ctime>

namespace alula::runtime::cuda {
namespace {

/// One thread reads the condition, as long as nobody wants loops to stop, and
/// gives it to one or two conditions of graphs; cudaGraphSetConditional is the
/// driver's, which links it in. The second exchanges memory word by word after
/// an odd number of rounds. One thread of the third tells whether an index is
/// that of a branch; 0 stands for LoopRecorder::Number, 2 for Truth.
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
.visible .entry alula_choose(
  .param .u64 condition, .param .u64 index, .param .u64 kind,
  .param .u64 branch, .param .u64 last)
{
  .reg .pred %p<4>;
  .reg .b32 %r<6>;
  .reg .b64 %d<6>;
  ld.param.u64 %d1, [condition];
  ld.param.u64 %d2, [index];
  ld.param.u64 %d3, [kind];
  ld.param.u64 %d4, [branch];
  ld.param.u64 %d5, [last];
  cvt.u32.u64 %r2, %d4;
  cvt.u32.u64 %r3, %d5;
  cvt.u32.u64 %r5, %d3;
  setp.eq.u32 %p1, %r5, 0;
  @%p1 bra NUMBER;
  ld.global.u8 %r1, [%d2];
  setp.ne.u32 %p2, %r5, 2;
  @%p2 bra COMPARE;
  setp.eq.u32 %p2, %r1, 0;
  selp.u32 %r1, 1, 0, %p2;
  bra COMPARE;
NUMBER:
  ld.global.u32 %r1, [%d2];
COMPARE:
  min.u32 %r1, %r1, %r3;
  setp.eq.u32 %p3, %r1, %r2;
  selp.u32 %r4, 1, 0, %p3;
  {
    .param .b64 handle;
    .param .b32 value;
    st.param.b64 [handle], %d1;
    st.param.b32 [value], %r4;
    call.uni cudaGraphSetConditional, (handle, value);
  }
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
                              "alula_loop_exchange") != success ||
        api.ModuleGetFunction(&loops.choose, loops.module, "alula_choose") !=
            success)
      loops.test = nullptr;
  }
  bool isThere = loops.test;
  pthread_mutex_unlock(&mutex);
  return isThere;
}

// ---- Recording ----

Status CudaStream::open(const int *wanted, bool *isTaken) {
  *isTaken = false;
  Current current(device);
  if (!canRecord || openCount == mostOpen || pending.wordCount == mostWords ||
      !findLoopKernels(device)) {
    (void)refuseInLoop();
    return nullptr;
  }
  if (!loopsDone)
    ALULA_TRY(
        check(device.api->EventCreate(&loopsDone, eventNoTiming), "an event"));
  if (!openCount) {
    // Calls take turns, each with its own.
    if (pending.wordCount && cancel != wanted)
      return nullptr;
    cancel = wanted;
    commandsBefore = pending.count();
    valuesBefore = uint32_t(pending.values.size());
    wordsBefore = pending.wordCount;
    hadLoops = pending.hasLoops;
  }
  opened[openCount++] = {UINT32_MAX, UINT32_MAX};
  *isTaken = true;
  return nullptr;
}

void CudaStream::close(bool *isTaken) {
  *isTaken = canRecord;
  // Of what is in one another the outermost is forgotten, when it ends.
  if (openCount == 1 && !canRecord)
    forgetOpen();
  else
    --openCount;
}

Status CudaStream::beginLoop(const int *wanted, bool *isTaken) {
  ALULA_TRY(open(wanted, isTaken));
  pending.hasLoops |= *isTaken;
  return nullptr;
}

Status CudaStream::testLoop(const uint8_t *condition,
                            LoopRecorder::Place place) {
  Command command = {};
  command.kind = Command::Test;
  command.place = place;
  command.condition = reinterpret_cast<DeviceAddress>(condition);
  Open &loop = opened[openCount - 1];
  if (place == LoopRecorder::First) {
    command.word =
        reinterpret_cast<DeviceAddress>(&loopWords[1 + pending.wordCount++]);
    loop.first = pending.count();
  } else {
    const Command &first = pending.commands[loop.first];
    command.word = first.word;
    if (place == LoopRecorder::Middle)
      loop.second = pending.count();
    else
      command.target = loop.first + 1;
  }
  return push(command);
}

/// Exchanges memory if the word is not 0.
Status CudaStream::pushExchanges(const Exchange *exchanges, size_t count,
                                 DeviceAddress word) {
  uint32_t firstExchange = pending.count();
  for (size_t i = 0; i < count; ++i) {
    Command command = {};
    command.kind = Command::Exchange;
    command.to = reinterpret_cast<DeviceAddress>(exchanges[i].first);
    command.from = reinterpret_cast<DeviceAddress>(exchanges[i].second);
    command.bytes = exchanges[i].bytes;
    command.word = word;
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
  return nullptr;
}

Status CudaStream::endLoop(const Exchange *exchanges, size_t count, bool isLoop,
                           bool *isTaken) {
  canRecord &= isLoop;
  const Open &loop = opened[openCount - 1];
  DeviceAddress word = pending.commands[loop.first].word;
  Command command = {};
  command.kind = Command::End;
  ALULA_TRY(push(command));
  for (uint32_t test : {loop.first, loop.second})
    if (test != UINT32_MAX)
      pending.commands[test].target = pending.count();
  ALULA_TRY(pushExchanges(exchanges, count, word));
  close(isTaken);
  return nullptr;
}

void CudaStream::forgetOpen() {
  if (openCount) {
    // Shrinking never allocates.
    (void)!pending.commands.resize(commandsBefore);
    (void)!pending.values.resize(valuesBefore);
    pending.wordCount = wordsBefore;
    pending.hasLoops = hadLoops;
  }
  openCount = 0;
  canRecord = true;
}

Status CudaStream::choose(const uint8_t *index, LoopRecorder::Index kind,
                          uint32_t count, const int *wanted, bool *isTaken) {
  ALULA_TRY(open(wanted, isTaken));
  if (!*isTaken)
    return nullptr;
  Open &choice = opened[openCount - 1];
  choice.first = choice.second = pending.count();
  Command command = {};
  command.kind = Command::Choice;
  command.condition = reinterpret_cast<DeviceAddress>(index);
  command.word =
      reinterpret_cast<DeviceAddress>(&loopWords[1 + pending.wordCount++]);
  command.index = kind;
  command.branchCount = count;
  // All are decided first: a branch may write where the index was.
  for (; command.branch < count; ++command.branch)
    ALULA_TRY(push(command));
  return nullptr;
}

Status CudaStream::beginBranch() {
  Open &choice = opened[openCount - 1];
  Command command = pending.commands[choice.second];
  command.kind = Command::Branch;
  command.condition = 0;
  command.decider = choice.second;
  choice.second = pending.count();
  return push(command);
}

Status CudaStream::endBranch(const Exchange *exchanges, size_t count) {
  Open &choice = opened[openCount - 1];
  ALULA_TRY(pushExchanges(
      exchanges, count,
      reinterpret_cast<DeviceAddress>(&loopWords[1 + mostWords])));
  Command command = {};
  command.kind = Command::End;
  ALULA_TRY(push(command));
  Command &branch = pending.commands[choice.second];
  branch.target = pending.count();
  choice.second = branch.decider + 1;
  return nullptr;
}

Status CudaStream::endChoice(bool isChoice, bool *isTaken) {
  canRecord &= isChoice;
  close(isTaken);
  return nullptr;
}

// ---- Decided by the host ----

Status CudaStream::issueTest(const Command &command, bool *holds) {
  const Api &api = *device.api;
  uint8_t byte = 0;
  ALULA_TRY(awaitCollectives());
  ALULA_TRY(check(api.MemcpyAsync(reinterpret_cast<DeviceAddress>(&byte),
                                  command.condition, 1, handle),
                  "a loop's condition"));
  ALULA_TRY(check(api.StreamSynchronize(handle), "a loop's condition"));
  if (cancel && __atomic_load_n(cancel, __ATOMIC_RELAXED))
    loopWords[0] = 1;
  *holds = byte && !loopWords[0];
  *reinterpret_cast<uint32_t *>(command.word) =
      command.place == LoopRecorder::Middle;
  return nullptr;
}

Status CudaStream::issueChoice(const Command &command) {
  const Api &api = *device.api;
  uint8_t byte = 0;
  auto &chosen = *reinterpret_cast<uint32_t *>(command.word);
  bool isNumber = command.index == LoopRecorder::Number;
  void *to = isNumber ? static_cast<void *>(&chosen) : &byte;
  ALULA_TRY(awaitCollectives());
  ALULA_TRY(check(api.MemcpyAsync(reinterpret_cast<DeviceAddress>(to),
                                  command.condition, isNumber ? 4 : 1, handle),
                  "the index of a branch"));
  ALULA_TRY(check(api.StreamSynchronize(handle), "the index of a branch"));
  if (!isNumber)
    chosen = command.index == LoopRecorder::Truth ? !byte : byte;
  if (chosen >= command.branchCount)
    chosen = command.branchCount - 1;
  return nullptr;
}

Status CudaStream::issueExchange(const Command &command) {
  if (!*reinterpret_cast<uint32_t *>(command.word))
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
    } else if (command.kind == Command::Choice) {
      // For all branches at once.
      if (!command.branch)
        ALULA_TRY(issueChoice(command));
    } else if (command.kind == Command::Branch) {
      if (*reinterpret_cast<uint32_t *>(command.word) != command.branch)
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
  if (!waitForCollectives())
    return collectiveFailed;
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

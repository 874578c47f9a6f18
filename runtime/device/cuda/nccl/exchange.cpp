// Exchanges on streams. Each stream has a second one for them, so that what
// does not need an exchange runs beside it. Where the host waits for a stream
// it looks whether the others can still come.

#include "runtime/device/cuda/nccl/nccl.h"

#include "runtime/base/clock.h"

#include <cstdio>
#include <sys/random.h>

namespace alula::runtime::cuda::nccl {
namespace {

// ---- What NCCL has ----

struct Elements {
  Type type;
  /// Of NCCL's in one of ours.
  uint32_t count;
};

/// NCCL's type of the same sums; false if there is none.
bool findElements(alula_dtype dtype, Elements &elements) {
  switch (dtype) {
  case ALULA_DTYPE_I8:
    elements = {int8, 1};
    return true;
  case ALULA_DTYPE_I1:
  case ALULA_DTYPE_UI8:
    elements = {uint8, 1};
    return true;
  case ALULA_DTYPE_I32:
    elements = {int32, 1};
    return true;
  case ALULA_DTYPE_UI32:
    elements = {uint32, 1};
    return true;
  case ALULA_DTYPE_I64:
    elements = {int64, 1};
    return true;
  case ALULA_DTYPE_UI64:
    elements = {uint64, 1};
    return true;
  case ALULA_DTYPE_F16:
    elements = {float16, 1};
    return true;
  case ALULA_DTYPE_BF16:
    elements = {bfloat16, 1};
    return true;
  case ALULA_DTYPE_F32:
    elements = {float32, 1};
    return true;
  case ALULA_DTYPE_F64:
    elements = {float64, 1};
    return true;
  case ALULA_DTYPE_C64:
    elements = {float32, 2};
    return true;
  case ALULA_DTYPE_C128:
    elements = {float64, 2};
    return true;
  default:
    return false;
  }
}

/// NCCL's reduction with the same results; false if there is none. Its minimum
/// and maximum of floats leave out NaN, where ours are NaN.
bool findReduction(const Collective &what, Reduction &reduction) {
  auto kind = alula_dtype_get_kind(what.dtype);
  bool isFloat = kind == ALULA_KIND_FLOAT || kind == ALULA_KIND_COMPLEX;
  bool isTruth = kind == ALULA_KIND_BOOL;
  switch (what.reduction) {
  case ALULA_REDUCTION_SUM:
    reduction = sum;
    return !isTruth;
  case ALULA_REDUCTION_PRODUCT:
    reduction = product;
    return !isTruth && kind != ALULA_KIND_COMPLEX;
  case ALULA_REDUCTION_MIN:
    reduction = min;
    return !isTruth && !isFloat;
  case ALULA_REDUCTION_MAX:
    reduction = max;
    return !isTruth && !isFloat;
  case ALULA_REDUCTION_AND:
    reduction = min;
    return isTruth;
  case ALULA_REDUCTION_OR:
    reduction = max;
    return isTruth;
  case ALULA_REDUCTION_XOR:
  case ALULA_REDUCTION_NONE:
    return false;
  }
  return false;
}

/// Whether NCCL has it: what it has not goes by the host's memory. The same for
/// all members.
bool takes(const Collective &what) {
  Elements elements;
  Reduction reduction;
  if (!what.count)
    return false;
  if (what.kind != ALULA_COLLECTIVE_ALL_REDUCE &&
      what.kind != ALULA_COLLECTIVE_REDUCE_SCATTER)
    return true;
  return findElements(what.dtype, elements) && findReduction(what, reduction);
}

// ---- Flights ----

Status checkCuda(const NcclStream &stream, Result result, const char *what) {
  if (result == success)
    return nullptr;
  const char *name = nullptr;
  stream.device->cuda->GetErrorName(result, &name);
  return makeError(ALULA_STATUS_INTERNAL, "%s: %s", what, name ? name : "?");
}

Status takeFlight(NcclStream &stream, Flight **result) {
  const cuda::Api &api = *stream.device->cuda;
  Flight *flight = stream.idle;
  if (flight) {
    stream.idle = flight->next;
  } else {
    flight = create<Flight>();
    if (!flight)
      return makeOutOfMemory("a collective", sizeof(Flight));
    *flight = {};
    Result made = api.EventCreate(&flight->ready, eventNoTiming);
    if (made == success)
      made = api.EventCreate(&flight->finished, eventNoTiming);
    if (made != success) {
      if (flight->ready)
        api.EventDestroy(flight->ready);
      destroy(flight);
      return checkCuda(stream, made, "an event of a collective");
    }
  }
  flight->next = nullptr;
  *stream.last = flight;
  stream.last = &flight->next;
  ++stream.count;
  *result = flight;
  return nullptr;
}

/// Those that are over, all of them if the stream has run.
void reap(NcclStream &stream, bool hasRun) {
  while (Flight *flight = stream.first) {
    if (flight->isOpen || (!hasRun && stream.device->cuda->EventQuery(
                                          flight->finished) != success))
      return;
    stream.first = flight->next;
    if (!stream.first)
      stream.last = &stream.first;
    if (stream.observed == flight)
      stream.observed = nullptr;
    flight->next = stream.idle;
    stream.idle = flight;
    --stream.count;
  }
}

/// The stream has run.
void endCall(NcclStream &stream) {
  if (stream.ending)
    releaseCommunicators(*stream.ending, stream.participant);
  stream.ending = nullptr;
}

/// Ends what is on its way: nobody touches its memory afterwards.
void giveUp(NcclStream *exchanges) {
  NcclStream &stream = *exchanges;
  const cuda::Api &api = *stream.device->cuda;
  for (Flight *each = stream.first; each; each = each->next) {
    each->isOpen = false;
    if (Communicator *used = each->communicator) {
      Lock lock(stream.device->mutex);
      abortCommunicator(*stream.device, *used);
    }
  }
  api.StreamSynchronize(stream.side);
  api.StreamSynchronize(stream.main);
  reap(stream, /*hasRun=*/true);
  endCall(stream);
}

/// Whether the others can still come to the first that is not over.
Status checkFlights(NcclStream &stream) {
  const cuda::Api &api = *stream.device->cuda;
  const Flight *flight = stream.first;
  while (flight && api.EventQuery(flight->finished) == success)
    flight = flight->next;
  if (!flight)
    return nullptr;
  ALULA_TRY(checkCall(flight->call, *flight->group));
  ALULA_TRY(findEnd(*flight));
  const Communicator *used = flight->communicator;
  const Description what(flight->what.kind, flight->what.number);
  if (used) {
    Code code = fine;
    Code result = stream.device->api->CommGetAsyncError(used->handle, &code);
    code = result == fine ? code : result;
    if (code != fine && code != inProgress)
      return makeNcclError(*stream.device->api, flight->call, *stream.device,
                           used->handle, code, what.text);
  }
  if (stream.observed != flight) {
    if (api.EventQuery(flight->ready) == success) {
      stream.observed = flight;
      stream.since = readClock();
    }
    return nullptr;
  }
  uint64_t timeout = flight->call.collectives->timeout;
  return timeout && readClock() - stream.since > timeout ? makeLate(*flight)
                                                         : nullptr;
}

// ---- Commands ----

struct Launch {
  const Api &api;
  const cuda::Api &cuda;
  NcclStream &stream;
  const Group &group;
  CommunicatorHandle communicator;
  const Collective &what;
  uint64_t bytes;

  Code copy(uint8_t *to, const uint8_t *from) const {
    return cuda.MemcpyAsync(reinterpret_cast<DeviceAddress>(to),
                            reinterpret_cast<DeviceAddress>(from), bytes,
                            stream.side) == success
               ? fine
               : unhandledCudaError;
  }
  int findRank(uint32_t participant) const {
    int rank = 0;
    while (group.members[size_t(rank)].participant != participant)
      ++rank;
    return rank;
  }

  /// Of pieces between members: all are one step.
  template <class Pieces> Code together(Pieces pieces) const {
    Code code = api.GroupStart();
    if (code != fine)
      return code;
    code = pieces();
    Code ended = api.GroupEnd();
    return code != fine && code != inProgress ? code : ended;
  }

  Code allToAll(int rank) const {
    return together([&] {
      for (int i = 0; i < int(group.members.size()); ++i) {
        if (i == rank)
          continue;
        uint64_t offset = uint64_t(i) * bytes;
        if (Code code = api.Send(what.operand + offset, bytes, uint8, i,
                                 communicator, stream.side))
          return code;
        if (Code code = api.Recv(what.result + offset, bytes, uint8, i,
                                 communicator, stream.side))
          return code;
      }
      return fine;
    });
  }

  Code permute(const GroupMembers &pairs, uint32_t self) const {
    bool isTarget = false;
    for (uint32_t i = 0; i < pairs.count; i += 2)
      if (pairs.numbers[i + 1] == self) {
        isTarget = true;
        if (pairs.numbers[i] == self)
          if (Code code = copy(what.result, what.operand))
            return code;
      }
    if (!isTarget &&
        cuda.MemsetD8Async(reinterpret_cast<DeviceAddress>(what.result), 0,
                           bytes, stream.side) != success)
      return unhandledCudaError;
    return together([&] {
      for (uint32_t i = 0; i < pairs.count; i += 2) {
        uint32_t source = pairs.numbers[i], target = pairs.numbers[i + 1];
        if (source == target)
          continue;
        if (source == self)
          if (Code code = api.Send(what.operand, bytes, uint8, findRank(target),
                                   communicator, stream.side))
            return code;
        if (target == self)
          if (Code code = api.Recv(what.result, bytes, uint8, findRank(source),
                                   communicator, stream.side))
            return code;
      }
      return fine;
    });
  }

  Code issue(const GroupMembers &members, uint32_t rank,
             uint32_t participant) const {
    // Alone it gets what it gives.
    if (group.members.size() == 1)
      return copy(what.result, what.operand);
    Elements elements = {uint8, 1};
    Reduction reduction = sum;
    switch (what.kind) {
    case ALULA_COLLECTIVE_ALL_REDUCE:
      findElements(what.dtype, elements);
      findReduction(what, reduction);
      return api.AllReduce(what.operand, what.result,
                           what.count * elements.count, elements.type,
                           reduction, communicator, stream.side);
    case ALULA_COLLECTIVE_REDUCE_SCATTER:
      findElements(what.dtype, elements);
      findReduction(what, reduction);
      return api.ReduceScatter(what.operand, what.result,
                               what.count * elements.count, elements.type,
                               reduction, communicator, stream.side);
    case ALULA_COLLECTIVE_ALL_GATHER:
      return api.AllGather(what.operand, what.result, bytes, uint8,
                           communicator, stream.side);
    case ALULA_COLLECTIVE_BROADCAST:
      return api.Broadcast(what.operand, what.result, bytes, uint8, 0,
                           communicator, stream.side);
    case ALULA_COLLECTIVE_ALL_TO_ALL: {
      uint64_t own = uint64_t(rank) * bytes;
      if (Code code = copy(what.result + own, what.operand + own))
        return code;
      return allToAll(int(rank));
    }
    case ALULA_COLLECTIVE_PERMUTE:
      return permute(members, participant);
    }
    return invalidArgument;
  }
};

Status launch(NcclStream &stream, const ParticipantCall &call,
              const Group &group, uint32_t place, const GroupMembers &members,
              const Collective &what, const Flight &flight) {
  NcclDevice &device = *stream.device;
  const cuda::Api &cuda = *device.cuda;
  CommunicatorHandle communicator =
      flight.communicator ? flight.communicator->handle : nullptr;
  ALULA_TRY(checkCuda(stream, cuda.EventRecord(flight.ready, stream.main),
                      "an event"));
  ALULA_TRY(checkCuda(stream,
                      cuda.StreamWaitEvent(stream.side, flight.ready, 0),
                      "waiting for an event"));
  Launch launch = {*device.api,
                   cuda,
                   stream,
                   group,
                   communicator,
                   what,
                   what.count * alula_dtype_get_bytes(what.dtype)};
  Code code = launch.issue(members, place, call.participant);
  const Description description(what.kind, what.number);
  ALULA_TRY(
      settleCode(device, call, group, communicator, code, description.text));
  return checkCuda(stream, cuda.EventRecord(flight.finished, stream.side),
                   "an event");
}

/// More are looked at before another one starts.
constexpr uint32_t mostUnseen = 64;

Status start(NcclStream *exchanges, const ParticipantCall &call,
             const GroupMembers &members, const Collective &what,
             CollectiveRequest *request) {
  NcclStream &stream = *exchanges;
  if (!takes(what))
    return nullptr;
  Group *group;
  uint32_t place;
  ALULA_TRY(findGroup(call, members, &group, &place));
  ALULA_TRY(agree(*stream.device, call, *group, place, what));
  if (group->members[place].way == Way::byHost)
    return nullptr;
  ALULA_TRY(checkCall(call, *group));
  if (group->members.size() > 1)
    ALULA_TRY(connect(*stream.device, call, *group, place, what));
  Started started = {what.kind, what.reduction, what.dtype, what.number,
                     what.count};
  ALULA_TRY(compare(call, *group, place, started));
  if (stream.count >= mostUnseen)
    reap(stream, /*hasRun=*/false);
  Flight *flight;
  ALULA_TRY(takeFlight(stream, &flight));
  flight->group = group;
  flight->communicator = group->members[place].communicator;
  flight->index = group->members[place].started - 1;
  flight->call = call;
  flight->what = started;
  flight->isOpen = true;
  ALULA_TRY(launch(stream, call, *group, place, members, what, *flight));
  *request = {flight, place};
  return nullptr;
}

Status done(NcclStream *exchanges, const CollectiveRequest *request) {
  auto &flight = *static_cast<Flight *>(request->state);
  flight.isOpen = false;
  return checkCuda(*exchanges,
                   exchanges->device->cuda->StreamWaitEvent(exchanges->main,
                                                            flight.finished, 0),
                   "waiting for a collective");
}

void settle(NcclStream *exchanges, const ParticipantCall &call,
            const char *failure) {
  auto *all = static_cast<Rendezvous *>(
      __atomic_load_n(&call.collectives->kept, __ATOMIC_ACQUIRE));
  if (all) {
    Lock lock(all->mutex);
    all->ended[call.participant] = call.collectives->calls[call.participant];
  }
  bool isOpen = false;
  for (const Flight *each = exchanges ? exchanges->first : nullptr; each;
       each = each->next)
    isOpen |= each->isOpen;
  if (isOpen && !failure) {
    char reason[80];
    snprintf(reason, sizeof reason,
             "participant %u ended without waiting for what it started",
             call.participant);
    abortAll(call, reason);
  }
  if (exchanges && (isOpen || failure))
    giveUp(exchanges);
  if (all && exchanges && exchanges->first) {
    exchanges->ending = all;
    exchanges->participant = call.participant;
  } else if (all) {
    releaseCommunicators(*all, call.participant);
  }
}

bool isBusy(const NcclStream *exchanges) { return exchanges->first; }

Status wait(NcclStream *exchanges) {
  NcclStream &stream = *exchanges;
  const cuda::Api &api = *stream.device->cuda;
  const ParticipantCall call = stream.first->call;
  auto *all = static_cast<Rendezvous *>(call.collectives->kept);
  Status status = checkCuda(stream, api.EventRecord(stream.waited, stream.main),
                            "an event");
  for (Pause pause; !status; pause.take()) {
    Result result = api.EventQuery(stream.waited);
    if (result == success)
      break;
    status = result == notReady
                 ? checkFlights(stream)
                 : checkCuda(stream, result, "waiting for the device");
  }
  {
    Lock lock(all->mutex);
    all->waits[call.participant] = {};
  }
  if (!status) {
    reap(stream, /*hasRun=*/true);
    endCall(stream);
    return nullptr;
  }
  giveUp(exchanges);
  return status;
}

// ---- Devices and streams ----

uint64_t makeProcessNumber() {
  uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number)
    number = readClock();
  return number;
}

Status openDevice(DeviceNumber number, uint32_t ordinal, NcclDevice **device) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static uint64_t devices = 0, process = 0;
  auto *made = create<NcclDevice>();
  if (!made)
    return makeOutOfMemory("a device's collectives", sizeof(NcclDevice));
  made->cuda = getHost().api;
  made->ordinal = ordinal;
  Result result = made->cuda->DeviceGetUuid(made->identity.uuid, number);
  made->api = getApi(made->why);
  if (result != success && made->api) {
    snprintf(made->why, sizeof made->why, "cuDeviceGetUuid failed with %d",
             result);
    made->api = nullptr;
  }
  pthread_mutex_lock(&mutex);
  if (!devices)
    process = makeProcessNumber();
  made->serial = ++devices;
  made->identity.process = process;
  pthread_mutex_unlock(&mutex);
  *device = made;
  return nullptr;
}

void closeDevice(NcclDevice *device) {
  while (Communicator *each = device->communicators) {
    device->communicators = each->next;
    abortCommunicator(*device, *each);
    destroy(each);
  }
  destroy(device);
}

void closeStream(NcclStream *exchanges) {
  NcclStream &stream = *exchanges;
  const cuda::Api &api = *stream.device->cuda;
  if (stream.first)
    giveUp(exchanges);
  while (Flight *flight = stream.idle) {
    stream.idle = flight->next;
    api.EventDestroy(flight->ready);
    api.EventDestroy(flight->finished);
    destroy(flight);
  }
  if (stream.waited)
    api.EventDestroy(stream.waited);
  if (stream.side)
    api.StreamDestroy(stream.side);
  destroy(exchanges);
}

Status openStream(NcclDevice *device, StreamHandle main,
                  NcclStream **exchanges) {
  auto *made = create<NcclStream>();
  if (!made)
    return makeOutOfMemory("a stream's collectives", sizeof(NcclStream));
  *made = {};
  made->device = device;
  made->main = main;
  made->last = &made->first;
  Result result = device->cuda->StreamCreate(&made->side, streamNonBlocking);
  if (result == success)
    result = device->cuda->EventCreate(&made->waited, eventNoTiming);
  if (Status status = checkCuda(*made, result, "a stream for collectives")) {
    closeStream(made);
    return status;
  }
  *exchanges = made;
  return nullptr;
}
} // namespace

const NcclFunctions functions = {
    openDevice, closeDevice, openStream, closeStream, start,
    done,       settle,      isBusy,     wait,        giveUp};

} // namespace alula::runtime::cuda::nccl

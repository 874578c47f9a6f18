// What the members of a group have to agree about: whether all have NCCL, which
// communicator is theirs, and what they exchange next.
//
// The host's engine carries what they tell each other, once for each group of
// an alula_collectives: so whoever is late or gone is found as in all other
// exchanges, and processes need no other connection.

#include "runtime/device/cuda/nccl/nccl.h"

#include "runtime/base/clock.h"

#include <cinttypes>
#include <cstdarg>
#include <cstdio>

namespace alula::runtime::cuda::nccl {

Description::Description(uint32_t kind, uint32_t number) {
  snprintf(text, sizeof text, "%s #%u", alula_collective_get_name(kind),
           number);
}

// ---- Errors ----

void abortAll(const ParticipantCall &call, const char *reason) {
  call.collectives->engine->abort(call.collectives->rendezvous, reason);
}

Status fail(const ParticipantCall &call, alula_status_code code,
            const char *format, ...) {
  char text[1024], reason[1100];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  snprintf(reason, sizeof reason, "participant %u: %s", call.participant, text);
  abortAll(call, reason);
  return makeError(code, "%s", text);
}

/// All get the same words: those of the first that found something.
__attribute__((format(printf, 3, 4))) static Status
failAll(const ParticipantCall &call, const Group &group, const char *format,
        ...) {
  char text[400];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  abortAll(call, text);
  alula_collective_group *unused;
  ALULA_TRY(group.rendezvous->find(group.numbers, &unused));
  return makeError(ALULA_STATUS_ABORTED, "%s", text);
}

Status makeNcclError(const Api &api, const ParticipantCall &call,
                     const NcclDevice &device, CommunicatorHandle communicator,
                     Code code, const char *what) {
  const char *more = api.GetLastError(communicator);
  return fail(call,
              code == remoteError ? ALULA_STATUS_UNAVAILABLE
                                  : ALULA_STATUS_INTERNAL,
              "NCCL's %s on 'cuda:%u' of participant %u: %.200s%s%.500s", what,
              device.ordinal, call.participant, api.GetErrorString(code),
              more && *more ? ": " : "", more ? more : "");
}

Status checkCall(const ParticipantCall &call, const Group &group) {
  alula_collective_group *unused;
  ALULA_TRY(group.rendezvous->find(group.numbers, &unused));
  return call.cancel && __atomic_load_n(call.cancel, __ATOMIC_RELAXED)
             ? makeError(ALULA_STATUS_CANCELLED, "the call was cancelled")
             : nullptr;
}

void Pause::take() {
  // What is soon over is not slept for.
  if (++turns < 200) {
    sched_yield();
    return;
  }
  timespec time = {0, nanoseconds};
  nanosleep(&time, nullptr);
  nanoseconds = nanoseconds < 200000 ? nanoseconds * 2 : nanoseconds;
}

Status settleCode(NcclDevice &device, const ParticipantCall &call,
                  const Group &group, CommunicatorHandle communicator,
                  Code code, const char *what) {
  uint64_t begin = readClock(), timeout = call.collectives->timeout;
  for (Pause pause; code == inProgress; pause.take()) {
    ALULA_TRY(checkCall(call, group));
    if (timeout && readClock() - begin > timeout)
      return fail(call, ALULA_STATUS_DEADLINE_EXCEEDED,
                  "NCCL's %s on 'cuda:%u' of participant %u has not ended "
                  "within %" PRIu64 " ms",
                  what, device.ordinal, call.participant, timeout / 1000000);
    Code result = device.api->CommGetAsyncError(communicator, &code);
    code = result == fine ? code : result;
  }
  return code == fine ? nullptr
                      : makeNcclError(*device.api, call, device, communicator,
                                      code, what);
}

// ---- Groups ----

static void forget(void *kept) {
  auto *all = static_cast<Rendezvous *>(kept);
  while (Name *name = all->names) {
    all->names = name->next;
    destroy(name);
  }
  while (Group *group = all->groups) {
    all->groups = group->next;
    for (Member &member : group->members)
      free(member.told);
    destroy(group);
  }
  destroy(all);
}

static Status findRendezvous(alula_collectives &collectives,
                             Rendezvous **result) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  auto *found = static_cast<Rendezvous *>(collectives.kept);
  if (!found) {
    found = create<Rendezvous>();
    if (found && (!found->ended.resize(collectives.participantCount) ||
                  !found->waits.resize(collectives.participantCount))) {
      destroy(found);
      found = nullptr;
    }
    if (found) {
      found->collectives = &collectives;
      collectives.forget = forget;
      __atomic_store_n(&collectives.kept, found, __ATOMIC_RELEASE);
    }
  }
  pthread_mutex_unlock(&mutex);
  *result = found;
  return found ? nullptr
               : makeOutOfMemory("collectives of devices", sizeof(Rendezvous));
}

/// The participants in the order of their ranks.
static bool listMembers(const GroupMembers &given, Array<uint32_t> &numbers) {
  for (uint32_t i = 0; i < given.count; ++i) {
    uint32_t number = given.numbers[i];
    if (!given.are_pairs) {
      if (!numbers.push(number))
        return false;
      continue;
    }
    size_t place = 0;
    while (place < numbers.size() && numbers[place] < number)
      ++place;
    if (place < numbers.size() && numbers[place] == number)
      continue;
    if (!numbers.push(number))
      return false;
    for (size_t j = numbers.size() - 1; j > place; --j)
      numbers[j] = numbers[j - 1];
    numbers[place] = number;
  }
  return true;
}

static Status makeGroup(Rendezvous &all, const Array<uint32_t> &numbers,
                        Group **result) {
  auto *group = create<Group>();
  if (!group || !group->members.resize(numbers.size()) ||
      !group->numbers.resize(numbers.size())) {
    destroy(group);
    return makeOutOfMemory("a group of participants", sizeof(Group));
  }
  for (size_t i = 0; i < numbers.size(); ++i)
    group->members[i].participant = group->numbers[i] = numbers[i];
  if (Status status = all.find(numbers, &group->meeting)) {
    destroy(group);
    return status;
  }
  group->rendezvous = &all;
  group->next = all.groups;
  group->logBegin = 0;
  all.groups = group;
  *result = group;
  return nullptr;
}

/// The group of these participants, which may have another name.
static Status findSame(Rendezvous &all, const Array<uint32_t> &numbers,
                       Group **group) {
  for (Group *each = all.groups; each; each = each->next) {
    bool isSame = each->members.size() == numbers.size();
    for (size_t i = 0; isSame && i < numbers.size(); ++i)
      isSame = each->members[i].participant == numbers[i];
    if (isSame) {
      *group = each;
      return nullptr;
    }
  }
  return makeGroup(all, numbers, group);
}

static Status nameGroup(Rendezvous &all, const GroupMembers &members,
                        Group **group) {
  Array<uint32_t> numbers;
  auto *name = create<Name>();
  if (!name || !name->numbers.resize(members.count) ||
      !listMembers(members, numbers)) {
    destroy(name);
    return makeOutOfMemory("a group of participants", members.count * 4);
  }
  if (Status status = findSame(all, numbers, group)) {
    destroy(name);
    return status;
  }
  memcpy(name->numbers.data(), members.numbers, members.count * 4);
  name->arePairs = members.are_pairs;
  name->group = *group;
  name->next = all.names;
  all.names = name;
  return nullptr;
}

Status findGroup(const ParticipantCall &call, const GroupMembers &members,
                 Group **group, uint32_t *place) {
  Rendezvous *all;
  ALULA_TRY(findRendezvous(*call.collectives, &all));
  Lock lock(all->mutex);
  Name *name = all->names;
  while (name && (name->arePairs != bool(members.are_pairs) ||
                  name->numbers.size() != members.count ||
                  memcmp(name->numbers.data(), members.numbers,
                         members.count * 4) != 0))
    name = name->next;
  if (name)
    *group = name->group;
  else
    ALULA_TRY(nameGroup(*all, members, group));
  *place = 0;
  while ((*group)->members[*place].participant != call.participant)
    ++*place;
  return nullptr;
}

// ---- What members tell each other ----

/// As much as each tells at most.
static constexpr size_t mostTold = sizeof(UniqueId);
static_assert(sizeof(Introduction) <= mostTold);

/// Gives all members `bytes` of each; what they said, in their order.
static Status tell(const ParticipantCall &call, Group &group, uint32_t place,
                   const Collective &what, const void *mine, size_t bytes,
                   const uint8_t **all) {
  Member &member = group.members[place];
  if (!member.told)
    member.told =
        static_cast<uint8_t *>(malloc(mostTold * (group.members.size() + 1)));
  if (!member.told)
    return makeOutOfMemory("a group of participants", mostTold);
  memcpy(member.told, mine, bytes);
  Collective gather = {ALULA_COLLECTIVE_ALL_GATHER,
                       ALULA_REDUCTION_NONE,
                       ALULA_DTYPE_UI8,
                       what.number,
                       bytes,
                       member.told,
                       member.told + mostTold,
                       what.kind};
  CollectiveRequest request = {};
  const alula_collective_engine &engine = group.rendezvous->engine();
  ALULA_TRY(engine.start(group.meeting, call.participant, &gather, &request));
  ALULA_TRY(engine.done(&request, call.cancel));
  *all = member.told + mostTold;
  return nullptr;
}

/// Why the members can't use NCCL; false if they can.
static bool findObstacle(const Group &group, const Introduction *all,
                         char (&why)[200]) {
  for (size_t i = 0; i < group.members.size(); ++i) {
    uint32_t number = group.members[i].participant;
    if (!all[i].isThere) {
      snprintf(why, sizeof why, "participant %u does not", number);
      return true;
    }
    if (all[i].version != all[0].version) {
      snprintf(why, sizeof why, "its version is %d there, %d in participant %u",
               all[0].version, all[i].version, number);
      return true;
    }
    for (size_t j = 0; j < i; ++j)
      if (memcmp(all[i].identity.uuid, all[j].identity.uuid,
                 sizeof all[i].identity.uuid) == 0) {
        snprintf(why, sizeof why, "participants %u and %u are on one GPU",
                 group.members[j].participant, number);
        return true;
      }
  }
  return false;
}

Status agree(NcclDevice &device, const ParticipantCall &call, Group &group,
             uint32_t place, const Collective &what) {
  Member &mine = group.members[place];
  if (mine.way != Way::unknown)
    return mine.way == Way::byHost || mine.device == device.serial
               ? nullptr
               : fail(call, ALULA_STATUS_FAILED_PRECONDITION,
                      "participant %u was on another device before: that "
                      "needs new collectives",
                      call.participant);
  alula_device_collectives wanted = call.collectives->devices;
  Introduction self = {};
  if (wanted != ALULA_DEVICE_COLLECTIVES_NEVER && device.api)
    self = {1, device.api->version, device.identity};
  if (wanted == ALULA_DEVICE_COLLECTIVES_ALWAYS && !device.api)
    return fail(call, ALULA_STATUS_UNAVAILABLE, "%s", device.why);
  {
    Lock lock(group.rendezvous->mutex);
    mine.hasCome = true;
  }
  const uint8_t *told;
  ALULA_TRY(tell(call, group, place, what, &self, sizeof self, &told));
  auto *all = reinterpret_cast<const Introduction *>(told);
  char why[200];
  bool isObstructed = findObstacle(group, all, why);
  if (isObstructed && wanted == ALULA_DEVICE_COLLECTIVES_ALWAYS)
    return fail(call, ALULA_STATUS_FAILED_PRECONDITION,
                "not all participants exchange arrays by NCCL: %s", why);
  Lock lock(group.rendezvous->mutex);
  size_t count = group.members.size();
  if (!group.identities.size()) {
    if (!group.identities.resize(count))
      return makeOutOfMemory("a group of participants", count);
    for (size_t i = 0; i < count; ++i)
      group.identities[i] = all[i].identity;
  }
  mine.device = device.serial;
  mine.way = isObstructed ? Way::byHost : Way::byNccl;
  return nullptr;
}

// ---- Communicators ----

void abortCommunicator(NcclDevice &device, Communicator &communicator) {
  if (communicator.handle)
    device.api->CommAbort(communicator.handle);
  communicator.handle = nullptr;
}

void releaseCommunicators(Rendezvous &all, uint32_t participant) {
  Lock lock(all.mutex);
  for (Group *group = all.groups; group; group = group->next)
    for (Member &member : group->members)
      if (member.participant == participant && member.communicator) {
        Lock device(member.owner->mutex);
        member.communicator->isTaken = false;
        member.communicator = nullptr;
      }
}

/// The communicators that a device has for a group, with a 1 if it is taken.
constexpr size_t mostOffers = sizeof(UniqueId) / sizeof(uint64_t);
struct Offers {
  uint64_t numbers[mostOffers];

  bool has(uint64_t number, bool isTaken) const {
    for (uint64_t each : numbers)
      if (each == (number | isTaken))
        return true;
    return false;
  }
  /// There may be more.
  bool isFull() const { return numbers[mostOffers - 1]; }
};

static bool isOf(const Communicator &communicator, const Group &group,
                 uint32_t place) {
  return communicator.handle && communicator.rank == place &&
         communicator.members.size() == group.identities.size() &&
         memcmp(communicator.members.data(), group.identities.data(),
                group.identities.size() * sizeof(NcclIdentity)) == 0;
}

/// Those that are free are the call's until `takeChosen`: who decides at the
/// same time, on another device perhaps in another order, gets others.
static Offers takeOffers(NcclDevice &device, const Group &group,
                         uint32_t place) {
  Offers offers = {};
  size_t count = 0;
  Lock lock(device.mutex);
  for (Communicator *each = device.communicators; each && count < mostOffers;
       each = each->next)
    if (isOf(*each, group, place)) {
      offers.numbers[count++] = each->number | each->isTaken;
      each->isTaken = true;
    }
  return offers;
}

/// The first that is free in all devices.
static uint64_t choose(const Offers *all, size_t count) {
  for (uint64_t number : all[0].numbers) {
    bool isFree = number && !(number & 1);
    for (size_t i = 1; i < count; ++i)
      isFree = isFree && all[i].has(number, false);
    if (isFree)
      return number;
  }
  return 0;
}

/// The chosen one; those that were offered are free again, and ended if others
/// don't have them any more. `all` is NULL if nothing was decided.
static Communicator *takeChosen(NcclDevice &device, const Group &group,
                                uint32_t place, const Offers &mine,
                                const Offers *all, uint64_t chosen) {
  Communicator *found = nullptr;
  Lock lock(device.mutex);
  for (Communicator *each = device.communicators; each; each = each->next) {
    if (!isOf(*each, group, place) || !mine.has(each->number, false))
      continue;
    if (each->number == chosen) {
      found = each;
      continue;
    }
    each->isTaken = false;
    bool isEverywhere = true;
    for (size_t i = 0; all && i < group.members.size(); ++i)
      isEverywhere &= all[i].isFull() || all[i].has(each->number, false) ||
                      all[i].has(each->number, true);
    if (!isEverywhere)
      abortCommunicator(device, *each);
  }
  return found;
}

static uint64_t hash(const UniqueId &id) {
  uint64_t hash = 0xCBF29CE484222325;
  for (char byte : id.bytes)
    hash = (hash ^ uint8_t(byte)) * 0x100000001B3;
  return hash & ~uint64_t(1);
}

/// Is joined by all members at the same time.
static Status makeCommunicator(NcclDevice &device, const ParticipantCall &call,
                               Group &group, uint32_t place,
                               const Collective &what, Communicator **result) {
  const Api &api = *device.api;
  UniqueId id = {};
  if (!place)
    ALULA_TRY(settleCode(device, call, group, nullptr, api.GetUniqueId(&id),
                         "ncclGetUniqueId"));
  const uint8_t *told;
  ALULA_TRY(tell(call, group, place, what, &id, sizeof id, &told));
  memcpy(&id, told, sizeof id);
  auto *made = create<Communicator>();
  size_t count = group.identities.size();
  if (!made || !made->members.resize(count)) {
    destroy(made);
    return makeOutOfMemory("a communicator", sizeof(Communicator));
  }
  memcpy(made->members.data(), group.identities.data(),
         count * sizeof(NcclIdentity));
  made->handle = nullptr;
  made->rank = place;
  made->number = hash(id);
  made->isTaken = true;
  // A member that does not come must not be waited for without end.
  Config config;
  config.blocking = 0;
  Code code = api.CommInitRankConfig(&made->handle, int(count), id, int(place),
                                     &config);
  if (Status status = settleCode(device, call, group, made->handle, code,
                                 "ncclCommInitRankConfig")) {
    abortCommunicator(device, *made);
    destroy(made);
    return status;
  }
  // Others see it only now.
  Lock lock(device.mutex);
  made->next = device.communicators;
  device.communicators = made;
  *result = made;
  return nullptr;
}

Status connect(NcclDevice &device, const ParticipantCall &call, Group &group,
               uint32_t place, const Collective &what) {
  Member &mine = group.members[place];
  if (mine.communicator)
    return nullptr;
  Offers offers = takeOffers(device, group, place);
  const uint8_t *told;
  if (Status status =
          tell(call, group, place, what, &offers, sizeof offers, &told)) {
    takeChosen(device, group, place, offers, nullptr, 0);
    return status;
  }
  auto *all = reinterpret_cast<const Offers *>(told);
  uint64_t chosen = choose(all, group.members.size());
  Communicator *found = takeChosen(device, group, place, offers, all, chosen);
  if (!found)
    ALULA_TRY(makeCommunicator(device, call, group, place, what, &found));
  Lock lock(group.rendezvous->mutex);
  mine.owner = &device;
  mine.communicator = found;
  return nullptr;
}

// ---- What comes next ----

Status compare(const ParticipantCall &call, Group &group, uint32_t place,
               const Started &what) {
  Lock lock(group.rendezvous->mutex);
  Member &mine = group.members[place];
  uint64_t index = mine.started - group.logBegin;
  if (index == group.log.size() && !group.log.push(what))
    return makeOutOfMemory("a collective", sizeof what);
  const Started &first = group.log[index];
  if (memcmp(&first, &what, sizeof what) != 0)
    return failAll(call, group,
                   "participant %u starts %s where others start %s",
                   call.participant, Description(what.kind, what.number).text,
                   Description(first.kind, first.number).text);
  ++mine.started;
  // What all of this process have come to is not needed any more.
  uint64_t over = mine.started;
  for (const Member &member : group.members)
    if (member.hasCome && member.started < over)
      over = member.started;
  size_t gone = size_t(over - group.logBegin);
  if (gone >= 64 || gone == group.log.size()) {
    memmove(group.log.data(), group.log.data() + gone,
            (group.log.size() - gone) * sizeof what);
    // Shrinking never allocates.
    (void)!group.log.resize(group.log.size() - gone);
    group.logBegin = over;
  }
  return nullptr;
}

/// Whether a member of this process has not come to it.
static const Member *findMissing(const Group &group, uint64_t index) {
  for (const Member &member : group.members)
    if (member.hasCome && member.started <= index)
      return &member;
  return nullptr;
}

/// All participants wait for others that have not come.
static bool isStuck(const Rendezvous &all) {
  for (const Rendezvous::Wait &wait : all.waits)
    if (!wait.group || !findMissing(*wait.group, wait.index))
      return false;
  return !hasProcesses(*all.collectives);
}

Status findEnd(const Flight &flight) {
  const ParticipantCall &call = flight.call;
  Rendezvous &all = *flight.group->rendezvous;
  Lock lock(all.mutex);
  all.waits[call.participant] = {flight.group, flight.index};
  Description what(flight.what.kind, flight.what.number);
  for (const Member &member : flight.group->members)
    if (member.hasCome && member.started <= flight.index &&
        all.ended[member.participant] >=
            call.collectives->calls[call.participant])
      return failAll(call, *flight.group,
                     "participant %u ended without %s, which participant %u "
                     "waits for",
                     member.participant, what.text, call.participant);
  return isStuck(all)
             ? failAll(call, *flight.group,
                       "all participants wait for each other, participant %u "
                       "in %s",
                       call.participant, what.text)
             : nullptr;
}

Status makeLate(const Flight &flight) {
  const ParticipantCall &call = flight.call;
  Group &group = *flight.group;
  uint64_t milliseconds = call.collectives->timeout / 1000000;
  char who[200] = "";
  size_t used = 0;
  {
    Lock lock(group.rendezvous->mutex);
    const Member *missing = findMissing(group, flight.index);
    for (const Member &member : group.members)
      if (missing ? &member == missing : !member.hasCome) {
        int more = snprintf(who + used, sizeof who - used, "%s%u",
                            used ? ", " : "", member.participant);
        if (more < 0 || size_t(more) >= sizeof who - used)
          break;
        used += size_t(more);
      }
  }
  const Description what(flight.what.kind, flight.what.number);
  if (!used)
    return fail(call, ALULA_STATUS_DEADLINE_EXCEEDED,
                "NCCL has not ended %s within %" PRIu64 " ms", what.text,
                milliseconds);
  return fail(call, ALULA_STATUS_DEADLINE_EXCEEDED,
              "participant %s has not come to %s within %" PRIu64 " ms", who,
              what.text, milliseconds);
}

} // namespace alula::runtime::cuda::nccl

// Collectives between threads of one process, in memory that all of them see.
//
// No progress thread: a member that waits for a collective which all members
// have started does pieces of the work until none is left. So completion needs
// no other member to wait too, and one that computes meanwhile finds the work
// done.
//

#include "runtime/base/clock.h"
#include "runtime/base/memory.h"
#include "runtime/base/mutex.h"
#include "runtime/collectives/engine.h"
#include "runtime/collectives/reduce.h"

#include <cinttypes>
#include <cstdarg>
#include <cstdio>

namespace alula::runtime {
namespace {

struct LocalGroup;
struct LocalRendezvous;

struct Share {
  const uint8_t *operand;
  uint8_t *result;
  bool isStarted, hasLeft;
};

/// One collective of one group, from the first start to the last done.
struct Meeting {
  Meeting *next;
  LocalGroup *group;
  /// How many of the group came before.
  uint64_t sequence;
  /// As the first to come says.
  Collective what;
  Array<Share> shares;
  uint32_t started, left;
  /// Pieces of work, how many were taken and done, who works.
  uint32_t pieces, taken, done, working;
};

struct LocalGroup {
  LocalRendezvous *rendezvous;
  bool arePairs;
  /// As they were given.
  Array<uint32_t> numbers;
  /// Every participant once.
  Array<uint32_t> members;
  /// Of pairs: for each member the place of its source, ALULA_NONE for none.
  Array<uint32_t> sources;
  /// For each member how many collectives it has started.
  Array<uint64_t> sequences;
  Meeting *meetings;
};

struct Participant {
  /// Calls.
  uint64_t begun, ended;
  bool isInCall;
  /// Collectives that it has started and not left.
  uint32_t open;
  Meeting *waitsFor;
};

/// The n-th calls of all participants.
struct Round {
  uint64_t program;
  uint32_t ended;
};

/// How often a thread that may be cancelled looks up.
constexpr uint64_t pollInterval = 20000000;
/// What a piece of work moves, about; and what stays in the cache.
constexpr uint64_t pieceBytes = 65536, cacheBytes = 16384;
constexpr uint32_t mostPieces = 64;

struct LocalRendezvous {
  Mutex mutex;
  Condition changed;
  uint64_t timeout;
  Array<Participant> participants;
  Array<LocalGroup *> groups;
  Meeting *idle = nullptr;
  Array<Round> rounds;
  uint64_t firstRound = 0;
  bool isAborted = false;
  /// NULL if there was no memory for it.
  char *reason = nullptr;
};

__attribute__((format(printf, 2, 3))) void abortWith(LocalRendezvous &all,
                                                     const char *format, ...) {
  // The first reason is the one.
  if (!all.isAborted) {
    // All of it: the end of a traceback says what was raised.
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    int size = vsnprintf(nullptr, 0, format, list);
    all.reason =
        size < 0 ? nullptr : static_cast<char *>(malloc(size_t(size) + 1));
    if (all.reason)
      vsnprintf(all.reason, size_t(size) + 1, format, again);
    va_end(again);
    va_end(list);
    all.isAborted = true;
  }
  all.changed.notifyAll();
}

Status makeAborted(const LocalRendezvous &all) {
  return makeError(ALULA_STATUS_ABORTED, "%s",
                   all.reason ? all.reason : "another participant failed");
}

uint32_t countMembers(const Meeting &meeting) {
  return uint32_t(meeting.group->members.size());
}

const char *getName(const Meeting &meeting) {
  return alula_collective_get_name(meeting.what.shown);
}

// ---- The work ----

uint64_t getBlockBytes(const Meeting &meeting) {
  return meeting.what.count * alula_dtype_get_bytes(meeting.what.dtype);
}

/// What is divided into pieces: elements of a sum that all get, else members.
uint64_t countUnits(const Meeting &meeting) {
  return meeting.what.kind == ALULA_COLLECTIVE_ALL_REDUCE
             ? meeting.what.count
             : countMembers(meeting);
}

void planPieces(Meeting &meeting) {
  uint64_t units = countUnits(meeting);
  uint64_t bytes = getBlockBytes(meeting) * countMembers(meeting);
  uint64_t pieces = bytes / pieceBytes + 1;
  if (pieces > mostPieces)
    pieces = mostPieces;
  meeting.pieces = uint32_t(pieces < units ? pieces : units);
}

/// The members' blocks at `offset`, folded in their order.
void reduceBlocks(const Meeting &meeting, uint8_t *into, uint64_t offset,
                  uint64_t count) {
  const Collective &what = meeting.what;
  uint64_t element = alula_dtype_get_bytes(what.dtype);
  uint64_t step = cacheBytes / element;
  for (uint64_t at = 0; at < count; at += step) {
    uint64_t now = count - at < step ? count - at : step;
    uint64_t from = offset + at * element;
    uint8_t *to = into + at * element;
    memcpy(to, meeting.shares[0].operand + from, now * element);
    for (uint32_t i = 1; i < countMembers(meeting); ++i)
      reduceInto(what.reduction, what.dtype, to,
                 meeting.shares[i].operand + from, now);
  }
}

void copyBytes(uint8_t *to, const uint8_t *from, uint64_t bytes) {
  // Empty arrays may have no address.
  if (bytes)
    memcpy(to, from, bytes);
}

/// What one member gets.
void fillResult(const Meeting &meeting, uint32_t place) {
  uint8_t *result = meeting.shares[place].result;
  uint64_t bytes = getBlockBytes(meeting);
  switch (meeting.what.kind) {
  case ALULA_COLLECTIVE_ALL_GATHER:
    for (uint32_t i = 0; i < countMembers(meeting); ++i)
      copyBytes(result + i * bytes, meeting.shares[i].operand, bytes);
    return;
  case ALULA_COLLECTIVE_ALL_TO_ALL:
    for (uint32_t i = 0; i < countMembers(meeting); ++i)
      copyBytes(result + i * bytes, meeting.shares[i].operand + place * bytes,
                bytes);
    return;
  case ALULA_COLLECTIVE_REDUCE_SCATTER:
    return reduceBlocks(meeting, result, place * bytes, meeting.what.count);
  case ALULA_COLLECTIVE_BROADCAST:
    return copyBytes(result, meeting.shares[0].operand, bytes);
  case ALULA_COLLECTIVE_PERMUTE: {
    uint32_t source = meeting.group->sources[place];
    if (source != ALULA_NONE)
      copyBytes(result, meeting.shares[source].operand, bytes);
    else if (bytes)
      memset(result, 0, bytes);
    return;
  }
  case ALULA_COLLECTIVE_ALL_REDUCE:
    return;
  }
}

void workOn(const Meeting &meeting, uint32_t piece) {
  uint64_t units = countUnits(meeting);
  uint64_t begin = units * piece / meeting.pieces;
  uint64_t end = units * (piece + 1) / meeting.pieces;
  if (meeting.what.kind != ALULA_COLLECTIVE_ALL_REDUCE) {
    for (; begin < end; ++begin)
      fillResult(meeting, uint32_t(begin));
    return;
  }
  uint64_t element = alula_dtype_get_bytes(meeting.what.dtype);
  uint64_t offset = begin * element, bytes = (end - begin) * element;
  uint8_t *first = meeting.shares[0].result + offset;
  reduceBlocks(meeting, first, offset, end - begin);
  for (uint32_t i = 1; i < countMembers(meeting); ++i)
    copyBytes(meeting.shares[i].result + offset, first, bytes);
}

// ---- Meetings ----

Status findMeeting(LocalGroup &group, uint64_t sequence, const Collective &what,
                   Meeting **result) {
  for (Meeting *meeting = group.meetings; meeting; meeting = meeting->next)
    if (meeting->sequence == sequence) {
      *result = meeting;
      return nullptr;
    }
  LocalRendezvous &all = *group.rendezvous;
  Meeting *meeting = all.idle;
  if (meeting)
    all.idle = meeting->next;
  else
    meeting = create<Meeting>();
  if (!meeting)
    return makeOutOfMemory("a collective", sizeof(Meeting));
  if (!meeting->shares.resize(0) ||
      !meeting->shares.resize(group.members.size())) {
    meeting->next = all.idle;
    all.idle = meeting;
    return makeOutOfMemory("a collective",
                           group.members.size() * sizeof(Share));
  }
  meeting->group = &group;
  meeting->sequence = sequence;
  meeting->what = what;
  meeting->started = meeting->left = 0;
  meeting->pieces = meeting->taken = meeting->done = meeting->working = 0;
  meeting->next = group.meetings;
  group.meetings = meeting;
  *result = meeting;
  return nullptr;
}

/// A member has what it wanted, or will never get it.
void leave(Meeting &meeting, uint32_t place) {
  LocalGroup &group = *meeting.group;
  LocalRendezvous &all = *group.rendezvous;
  meeting.shares[place].hasLeft = true;
  --all.participants[group.members[place]].open;
  if (++meeting.left < countMembers(meeting))
    return;
  Meeting **link = &group.meetings;
  while (*link != &meeting)
    link = &(*link)->next;
  *link = meeting.next;
  meeting.next = all.idle;
  all.idle = &meeting;
}

bool isSame(const Collective &a, const Collective &b) {
  return a.kind == b.kind && a.reduction == b.reduction && a.dtype == b.dtype &&
         a.count == b.count && a.number == b.number;
}

/// All participants are in a call and wait for others that have not started.
bool isStuck(const LocalRendezvous &all) {
  for (const Participant &one : all.participants)
    if (!one.waitsFor || one.waitsFor->started == countMembers(*one.waitsFor))
      return false;
  return true;
}

/// Whether a member can't come any more, or nobody can go on.
void findEnd(LocalRendezvous &all, const Meeting &meeting, uint32_t place) {
  const LocalGroup &group = *meeting.group;
  uint32_t self = group.members[place];
  for (uint32_t i = 0; i < group.members.size(); ++i) {
    uint32_t member = group.members[i];
    if (!meeting.shares[i].isStarted &&
        all.participants[member].ended >= all.participants[self].begun)
      return abortWith(all,
                       "participant %u ended without %s #%u, which "
                       "participant %u waits for",
                       member, getName(meeting), meeting.what.number, self);
  }
  if (isStuck(all))
    abortWith(all,
              "all participants wait for each other, participant %u in "
              "%s #%u",
              self, getName(meeting), meeting.what.number);
}

uint32_t findMissing(const Meeting &meeting) {
  uint32_t place = 0;
  while (meeting.shares[place].isStarted)
    ++place;
  return meeting.group->members[place];
}

/// Waits for others, at most until `deadline` if that is not 0.
Status waitForOthers(LocalRendezvous &all, const Meeting &meeting,
                     uint64_t deadline, const int *cancel) {
  uint64_t now = deadline ? readClock() : 0;
  if (deadline && now >= deadline && meeting.started < countMembers(meeting)) {
    Status late = makeError(ALULA_STATUS_DEADLINE_EXCEEDED,
                            "participant %u has not come within %" PRIu64 " ms",
                            findMissing(meeting), all.timeout / 1000000);
    return late;
  }
  if (deadline || cancel)
    all.changed.waitFor(all.mutex, pollInterval);
  else
    all.changed.wait(all.mutex);
  if (cancel && __atomic_load_n(cancel, __ATOMIC_RELAXED))
    return makeError(ALULA_STATUS_CANCELLED, "the call was cancelled");
  return nullptr;
}

Status waitFor(LocalRendezvous &all, Meeting &meeting, uint32_t place,
               const int *cancel) {
  uint64_t deadline = all.timeout ? readClock() + all.timeout : 0;
  while (true) {
    if (all.isAborted)
      return makeAborted(all);
    bool isComplete = meeting.started == countMembers(meeting);
    if (isComplete && meeting.done == meeting.pieces)
      return nullptr;
    if (isComplete && meeting.taken < meeting.pieces) {
      uint32_t piece = meeting.taken++;
      ++meeting.working;
      all.mutex.unlock();
      workOn(meeting, piece);
      all.mutex.lock();
      --meeting.working;
      ++meeting.done;
      if (meeting.done == meeting.pieces || all.isAborted)
        all.changed.notifyAll();
      continue;
    }
    if (!isComplete) {
      findEnd(all, meeting, place);
      if (all.isAborted)
        continue;
    }
    ALULA_TRY(waitForOthers(all, meeting, deadline, cancel));
  }
}

// ---- Groups ----

bool fillGroup(LocalGroup &group, const GroupMembers &given) {
  if (!group.numbers.resize(given.count))
    return false;
  memcpy(group.numbers.data(), given.numbers, given.count * sizeof(uint32_t));
  auto findPlace = [&](uint32_t number, uint32_t &place) {
    for (place = 0; place < group.members.size(); ++place)
      if (group.members[place] == number)
        return true;
    return group.members.push(number) && group.sources.push(ALULA_NONE);
  };
  uint32_t source, target;
  for (uint32_t i = 0; i < given.count; ++i) {
    if (!findPlace(given.numbers[i], target))
      return false;
    if (given.are_pairs && i % 2) {
      (void)findPlace(given.numbers[i - 1], source);
      group.sources[target] = source;
    }
  }
  return group.sequences.resize(group.members.size());
}

// ---- The table ----

LocalRendezvous &open(Rendezvous *handle) {
  return *reinterpret_cast<LocalRendezvous *>(handle);
}

Status createRendezvous(alula_collective_world *,
                        const alula_collective_settings *settings,
                        Rendezvous **result) {
  uint32_t count = settings->participant_count;
  auto *all = create<LocalRendezvous>();
  if (!all || !all->participants.resize(count)) {
    destroy(all);
    return makeOutOfMemory("collectives", sizeof(LocalRendezvous));
  }
  all->timeout = settings->timeout;
  *result = reinterpret_cast<Rendezvous *>(all);
  return nullptr;
}

void destroyMeetings(Meeting *first) {
  while (first) {
    Meeting *next = first->next;
    destroy(first);
    first = next;
  }
}

void destroyRendezvous(Rendezvous *handle) {
  LocalRendezvous &all = open(handle);
  for (LocalGroup *group : all.groups) {
    destroyMeetings(group->meetings);
    destroy(group);
  }
  destroyMeetings(all.idle);
  free(all.reason);
  destroy(&all);
}

Status begin(Rendezvous *handle, uint32_t number, uint64_t program) {
  LocalRendezvous &all = open(handle);
  Lock lock(all.mutex);
  if (all.isAborted)
    return makeAborted(all);
  Participant &one = all.participants[number];
  if (one.isInCall)
    return makeError(ALULA_STATUS_FAILED_PRECONDITION,
                     "participant %u is in another call", number);
  uint64_t place = one.begun - all.firstRound;
  if (place == all.rounds.size() && !all.rounds.push({program, 0}))
    return makeOutOfMemory("collectives", sizeof(Round));
  if (all.rounds[place].program != program) {
    abortWith(all,
              "participant %u runs another program than those that came "
              "before it in call %" PRIu64,
              number, one.begun);
    return makeAborted(all);
  }
  ++one.begun;
  one.isInCall = true;
  return nullptr;
}

void settle(Rendezvous *handle, uint32_t number, const char *failure) {
  LocalRendezvous &all = open(handle);
  Lock lock(all.mutex);
  Participant &one = all.participants[number];
  if (failure)
    abortWith(all, "participant %u failed: %s", number, failure);
  if (one.open == 0)
    return;
  abortWith(all, "participant %u ended without waiting for what it started",
            number);
  for (LocalGroup *group : all.groups) {
    uint32_t place = 0;
    while (place < group->members.size() && group->members[place] != number)
      ++place;
    if (place == group->members.size())
      continue;
    for (Meeting *next, *meeting = group->meetings; meeting; meeting = next) {
      while (meeting->working)
        all.changed.wait(all.mutex);
      next = meeting->next;
      const Share &share = meeting->shares[place];
      if (share.isStarted && !share.hasLeft)
        leave(*meeting, place);
    }
  }
}

void end(Rendezvous *handle, uint32_t number, const char *failure) {
  LocalRendezvous &all = open(handle);
  Lock lock(all.mutex);
  Participant &one = all.participants[number];
  uint64_t place = one.ended - all.firstRound;
  ++one.ended;
  one.isInCall = false;
  ++all.rounds[place].ended;
  size_t over = 0;
  while (over < all.rounds.size() &&
         all.rounds[over].ended == all.participants.size())
    ++over;
  if (over) {
    size_t rest = all.rounds.size() - over;
    memmove(all.rounds.data(), all.rounds.data() + over, rest * sizeof(Round));
    // Shrinking never allocates.
    (void)!all.rounds.resize(rest);
    all.firstRound += over;
  }
  if (failure)
    abortWith(all, "participant %u failed: %s", number, failure);
  // Those that wait for it see that it won't come.
  all.changed.notifyAll();
}

void abortAll(Rendezvous *handle, const char *reason) {
  LocalRendezvous &all = open(handle);
  Lock lock(all.mutex);
  abortWith(all, "%s", reason);
}

Status getGroup(Rendezvous *handle, const GroupMembers *members,
                Group **result) {
  const GroupMembers &given = *members;
  LocalRendezvous &all = open(handle);
  Lock lock(all.mutex);
  if (all.isAborted)
    return makeAborted(all);
  for (LocalGroup *group : all.groups)
    if (group->arePairs == given.are_pairs &&
        group->numbers.size() == given.count &&
        memcmp(group->numbers.data(), given.numbers,
               given.count * sizeof(uint32_t)) == 0) {
      *result = reinterpret_cast<Group *>(group);
      return nullptr;
    }
  auto *group = create<LocalGroup>();
  if (group) {
    group->rendezvous = &all;
    group->arePairs = given.are_pairs;
    group->meetings = nullptr;
  }
  if (!group || !fillGroup(*group, given) || !all.groups.push(group)) {
    destroy(group);
    return makeOutOfMemory("a group of participants",
                           given.count * sizeof(uint32_t));
  }
  *result = reinterpret_cast<Group *>(group);
  return nullptr;
}

Status start(Group *handle, uint32_t number, const Collective *collective,
             CollectiveRequest *request) {
  const Collective &what = *collective;
  auto *group = reinterpret_cast<LocalGroup *>(handle);
  LocalRendezvous &all = *group->rendezvous;
  Lock lock(all.mutex);
  if (all.isAborted)
    return makeAborted(all);
  uint32_t place = 0;
  while (group->members[place] != number)
    ++place;
  Meeting *meeting = nullptr;
  ALULA_TRY(findMeeting(*group, group->sequences[place], what, &meeting));
  if (!isSame(meeting->what, what)) {
    abortWith(all, "participant %u starts %s #%u where others start %s #%u",
              number, alula_collective_get_name(what.shown), what.number,
              getName(*meeting), meeting->what.number);
    return makeAborted(all);
  }
  ++group->sequences[place];
  meeting->shares[place] = {what.operand, what.result, true, false};
  ++all.participants[number].open;
  *request = {meeting, place};
  if (++meeting->started < countMembers(*meeting))
    return nullptr;
  planPieces(*meeting);
  all.changed.notifyAll();
  return nullptr;
}

Status done(const CollectiveRequest *request, const int *cancel) {
  auto &meeting = *static_cast<Meeting *>(request->state);
  LocalRendezvous &all = *meeting.group->rendezvous;
  Lock lock(all.mutex);
  Participant &one = all.participants[meeting.group->members[request->place]];
  one.waitsFor = &meeting;
  Status status = waitFor(all, meeting, request->place, cancel);
  one.waitsFor = nullptr;
  // What failed is left by `settle`, when nobody works on it.
  if (!status)
    leave(meeting, request->place);
  return status;
}

} // namespace

const CollectiveEngine localEngine = {sizeof(CollectiveEngine),
                                      ALULA_COLLECTIVES_ABI_MAJOR,
                                      ALULA_COLLECTIVES_ABI_MINOR,
                                      "local",
                                      /*connect=*/nullptr,
                                      /*disconnect=*/nullptr,
                                      createRendezvous,
                                      destroyRendezvous,
                                      begin,
                                      settle,
                                      end,
                                      abortAll,
                                      getGroup,
                                      start,
                                      done};

} // namespace alula::runtime

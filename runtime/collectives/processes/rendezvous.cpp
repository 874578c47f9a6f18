#include "runtime/collectives/processes/world.h"

#include <cstdio>
#include <cstring>

using namespace alula::collectives;

/// How often a thread that may be cancelled looks up.
static constexpr std::chrono::milliseconds pollInterval{20};

Group::Group(Rendezvous &rendezvous, const alula_collective_members &given)
    : rendezvous(rendezvous),
      members(given, rendezvous.processOf.data(), rendezvous.world.getNumber()),
      sequences(members.participants.size()) {}

Rendezvous::Rendezvous(World &world, const alula_collective_settings &settings,
                       uint64_t channel, uint64_t ordinal)
    : world(world), channel(channel), ordinal(ordinal),
      timeout(settings.timeout),
      processOf(settings.process_of,
                settings.process_of + settings.participant_count) {
  for (uint32_t i = 0; i < processOf.size(); ++i) {
    if (processOf[i] == world.getNumber())
      participants[i] = {};
    else if (roundsOf.try_emplace(processOf[i], 0).second)
      others.push_back(processOf[i]);
  }
}

Header Rendezvous::makeHeader(MessageKind kind) const {
  return {.kind = kind, .channel = channel, .ordinal = ordinal};
}

// ---- Failures ----

alula_error *Rendezvous::makeAborted() const {
  return world.fail(ALULA_STATUS_ABORTED, reason);
}

void Rendezvous::abortHere(const std::string &why) {
  // The first reason is the one.
  if (!isAborted)
    reason = why;
  isAborted = true;
  world.hasFailed = true;
  world.changed.notify_all();
}

void Rendezvous::abortEverywhere(const std::string &why) {
  if (isAborted)
    return;
  abortHere(why);
  for (uint32_t process : others) {
    Message message(makeHeader(MessageKind::abort), why.size());
    memcpy(message.getPayload(), why.data(), why.size());
    world.link->send(process, std::move(message));
  }
}

void Rendezvous::abort(const std::string &why) {
  Lock lock(world.mutex);
  abortEverywhere(why);
}

void Rendezvous::giveUp() {
  Lock lock(world.mutex);
  bool isOver = !participants.empty();
  for (auto &[number, one] : participants)
    isOver &= one.begun > 0 && !one.isInCall;
  if (!isOver && !participants.empty())
    abortEverywhere("the call was given up before it began");
}

// ---- Calls ----

void Rendezvous::compareRound(uint64_t round, uint32_t process,
                              uint64_t program) {
  if (programs[round - firstRound] == program)
    return;
  abortEverywhere(
      world.describe(process) + " runs another program than process " +
      std::to_string(world.getNumber()) + " in call " + std::to_string(round));
}

alula_error *Rendezvous::begin(uint32_t number, uint64_t program) {
  Lock lock(world.mutex);
  if (isAborted)
    return makeAborted();
  auto found = participants.find(number);
  if (found == participants.end())
    return world.fail(ALULA_STATUS_INVALID_ARGUMENT,
                      "participant " + std::to_string(number) +
                          " is in process " +
                          std::to_string(processOf[number]) + ", this is " +
                          std::to_string(world.getNumber()));
  Participant &one = found->second;
  if (one.isInCall)
    return world.fail(ALULA_STATUS_FAILED_PRECONDITION,
                      "participant " + std::to_string(number) +
                          " is in another call");
  uint64_t round = one.begun;
  if (round - firstRound == programs.size()) {
    programs.push_back(program);
    for (uint32_t process : others) {
      Header header = makeHeader(MessageKind::hello);
      header.group = program;
      header.sequence = round;
      world.link->send(process, Message(header, 0));
      auto said = programsOf.extract({round, process});
      if (!said.empty())
        compareRound(round, process, said.mapped());
    }
  } else if (programs[round - firstRound] != program) {
    abortEverywhere("participant " + std::to_string(number) +
                    " runs another program than those that came before it "
                    "in call " +
                    std::to_string(round));
  }
  if (isAborted)
    return makeAborted();
  ++one.begun;
  one.isInCall = true;
  return nullptr;
}

void Rendezvous::end(uint32_t number, const char *failure) {
  Lock lock(world.mutex);
  Participant &one = participants.at(number);
  ++one.ended;
  one.isInCall = false;
  if (failure)
    abortEverywhere("participant " + std::to_string(number) +
                    " failed: " + failure);
  uint64_t over = one.ended;
  for (auto &[other, state] : participants)
    over = std::min(over, state.ended);
  for (; firstRound < over && !programs.empty(); ++firstRound)
    programs.pop_front();
  world.changed.notify_all();
}

void Rendezvous::settle(uint32_t number, const char *failure) {
  Lock lock(world.mutex);
  if (failure)
    abortEverywhere("participant " + std::to_string(number) +
                    " failed: " + failure);
  if (participants.at(number).open == 0)
    return;
  abortEverywhere("participant " + std::to_string(number) +
                  " ended without waiting for what it started");
  for (auto &group : groups) {
    uint32_t place = group->members.findPlace(number);
    if (place == group->members.participants.size())
      continue;
    for (bool isAgain = true; isAgain;) {
      isAgain = false;
      for (auto &[sequence, meeting] : group->meetings) {
        const Share &share = meeting.exchange.shares[place];
        if (!share.isStarted || share.hasLeft)
          continue;
        if (meeting.working)
          world.changed.wait(lock);
        else
          leave(meeting, place);
        isAgain = true;
        break;
      }
    }
  }
}

// ---- Collectives ----

/// How long devices may go on with what they exchange with a process that is
/// gone: it has left if it has all that it needs, and the last bytes may still
/// be on their way.
static constexpr std::chrono::seconds mostAlone{5};

void Rendezvous::findLost(const Members &members) {
  for (uint32_t process : members.processes) {
    if (process == world.getNumber() || !world.peers[process].isLost)
      continue;
    auto [since, isNew] = lostSince.try_emplace(process, Clock::now());
    if (Clock::now() - since->second >= mostAlone)
      abortEverywhere(world.describe(process) +
                      " is gone: " + world.peers[process].reason);
  }
}

alula_error *Rendezvous::getGroup(const alula_collective_members &given,
                                  Group *&result) {
  Lock lock(world.mutex);
  result = nullptr;
  for (auto &group : groups)
    if (group->members.arePairs == (given.are_pairs != 0) &&
        group->members.numbers.size() == given.count &&
        memcmp(group->members.numbers.data(), given.numbers,
               given.count * sizeof(uint32_t)) == 0)
      result = group.get();
  if (!result)
    result = groups.emplace_back(std::make_unique<Group>(*this, given)).get();
  findLost(result->members);
  return isAborted ? makeAborted() : nullptr;
}

const char *Rendezvous::describe(const Meeting &meeting,
                                 char (&text)[64]) const {
  snprintf(text, sizeof text, "%s #%u of call %llu",
           alula_collective_get_name(meeting.exchange.what.shown),
           meeting.exchange.what.number,
           static_cast<unsigned long long>(meeting.round));
  return text;
}

static bool isSame(const alula_collective &a, const alula_collective &b) {
  return a.kind == b.kind && a.reduction == b.reduction && a.dtype == b.dtype &&
         a.count == b.count && a.number == b.number;
}

alula_error *Rendezvous::start(Group &group, uint32_t number,
                               const alula_collective &what,
                               alula_collective_request *request) {
  Lock lock(world.mutex);
  if (isAborted)
    return makeAborted();
  uint32_t place = group.members.findPlace(number);
  uint64_t sequence = group.sequences[place];
  auto [found, isNew] = group.meetings.try_emplace(sequence);
  Meeting &meeting = found->second;
  if (isNew) {
    meeting.group = &group;
    meeting.sequence = sequence;
    meeting.round = participants.at(number).begun - 1;
    meeting.exchange.members = &group.members;
    meeting.exchange.what = what;
    meeting.exchange.shares.resize(group.members.participants.size());
    for (auto &received : meeting.exchange.received)
      received.resize(group.members.processes.size());
  } else if (!isSame(meeting.exchange.what, what)) {
    abortEverywhere("participant " + std::to_string(number) + " starts " +
                    alula_collective_get_name(what.shown) + " #" +
                    std::to_string(what.number) + " where others start " +
                    alula_collective_get_name(meeting.exchange.what.shown) +
                    " #" + std::to_string(meeting.exchange.what.number));
    return makeAborted();
  }
  ++group.sequences[place];
  meeting.exchange.shares[place] = {what.operand, what.result, true, false};
  ++participants.at(number).open;
  *request = {&meeting, place};
  if (++meeting.started < group.members.countLocal())
    return nullptr;
  setStage(meeting, Stage::sending);
  // As early as can be: the others may be waiting.
  work(meeting, lock);
  return nullptr;
}

void Rendezvous::setStage(Meeting &meeting, Stage stage) {
  meeting.stage = stage;
  meeting.taken = meeting.finished = 0;
  meeting.pieces = 1;
  if (stage == Stage::folding) {
    meeting.exchange.prepareFold();
    meeting.pieces = meeting.exchange.countFoldPieces();
  } else if (stage == Stage::filling) {
    meeting.pieces = meeting.group->members.countLocal();
  }
  world.changed.notify_all();
}

bool Rendezvous::haveBegun(const Meeting &meeting) const {
  const Members &members = meeting.group->members;
  for (uint32_t i = 0; i < members.processes.size(); ++i)
    if (i != members.self && roundsOf.at(members.processes[i]) <= meeting.round)
      return false;
  return true;
}

void Rendezvous::send(const Meeting &meeting, uint32_t phase) {
  const Members &members = meeting.group->members;
  const alula_collective &what = meeting.exchange.what;
  Header header = makeHeader(MessageKind::data);
  header.group = members.hash;
  header.sequence = meeting.sequence;
  header.phase = phase;
  header.collective = what.kind;
  header.reduction = what.reduction;
  header.dtype = what.dtype;
  header.number = what.number;
  header.shown = what.shown;
  header.count = what.count;
  for (uint32_t i = 0; i < members.processes.size(); ++i) {
    uint64_t bytes = i == members.self
                         ? 0
                         : meeting.exchange.countBytes(phase, members.self, i);
    if (!bytes)
      continue;
    Message message(header, bytes);
    meeting.exchange.pack(phase, i, message.getPayload());
    world.link->send(members.processes[i], std::move(message));
  }
}

/// Those that have come, from the inbox; true once all have.
bool Rendezvous::takeMessages(Meeting &meeting, uint32_t phase) {
  const Members &members = meeting.group->members;
  const alula_collective &what = meeting.exchange.what;
  bool areAll = true;
  for (uint32_t i = 0; i < members.processes.size(); ++i) {
    Message &message = meeting.exchange.received[phase][i];
    uint64_t bytes = i == members.self
                         ? 0
                         : meeting.exchange.countBytes(phase, i, members.self);
    if (!bytes || message)
      continue;
    auto found = inbox.extract(
        Key{members.hash, meeting.sequence, phase, members.processes[i]});
    if (found.empty()) {
      areAll = false;
      continue;
    }
    message = std::move(found.mapped());
    const Header &header = message.getHeader();
    if (header.collective == what.kind && header.reduction == what.reduction &&
        header.dtype == what.dtype && header.number == what.number &&
        header.count == what.count && message.getPayloadBytes() == bytes)
      continue;
    char text[64];
    abortEverywhere(world.describe(members.processes[i]) + " starts " +
                    alula_collective_get_name(header.shown) + " #" +
                    std::to_string(header.number) + " where process " +
                    std::to_string(world.getNumber()) + " starts " +
                    describe(meeting, text));
    return false;
  }
  return areAll;
}

bool Rendezvous::work(Meeting &meeting, Lock &lock) {
  // For a phase: the next stage once all messages are there.
  auto receive = [&](uint32_t phase, Stage next) {
    if (!takeMessages(meeting, phase))
      return false;
    setStage(meeting, next);
    return true;
  };
  bool isReduction = meeting.exchange.what.kind == ALULA_COLLECTIVE_ALL_REDUCE;
  Stage stage = meeting.stage;
  switch (stage) {
  case Stage::receiving:
    return receive(0, isReduction ? Stage::folding : Stage::filling);
  case Stage::gathering:
    return receive(1, Stage::filling);
  case Stage::sending:
    if (!haveBegun(meeting))
      return false;
    break;
  case Stage::folding:
  case Stage::spreading:
  case Stage::filling:
    break;
  case Stage::starting:
  case Stage::complete:
    return false;
  }
  if (meeting.taken == meeting.pieces)
    return false;
  uint32_t piece = meeting.taken++;
  ++meeting.working;
  lock.unlock();
  if (stage == Stage::folding)
    meeting.exchange.foldPiece(piece);
  else if (stage == Stage::filling)
    meeting.exchange.fill(
        meeting.group->members.places[meeting.group->members.self][piece]);
  else
    send(meeting, stage == Stage::sending ? 0 : 1);
  lock.lock();
  --meeting.working;
  if (++meeting.finished == meeting.pieces) {
    if (stage == Stage::sending)
      setStage(meeting, Stage::receiving);
    else if (stage == Stage::spreading)
      setStage(meeting, Stage::gathering);
    else if (stage == Stage::filling)
      setStage(meeting, Stage::complete);
    else
      setStage(meeting, meeting.exchange.isTwoPhase() ? Stage::spreading
                                                      : Stage::filling);
  }
  if (isAborted)
    world.changed.notify_all();
  return true;
}

// ---- Waiting ----

/// Whether a member of this process can't come any more.
void Rendezvous::findEnd(const Meeting &meeting, uint32_t place) {
  const Members &members = meeting.group->members;
  uint32_t self = members.participants[place];
  char text[64];
  for (uint32_t other : members.places[members.self]) {
    uint32_t number = members.participants[other];
    if (!meeting.exchange.shares[other].isStarted &&
        participants.at(number).ended >= participants.at(self).begun)
      abortEverywhere("participant " + std::to_string(number) +
                      " ended without " + describe(meeting, text) +
                      ", which participant " + std::to_string(self) +
                      " waits for");
  }
}

std::optional<uint32_t> Rendezvous::findMissing(const Meeting &meeting) const {
  const Members &members = meeting.group->members;
  for (uint32_t i = 0; i < members.processes.size(); ++i) {
    uint32_t process = members.processes[i];
    if (i == members.self)
      continue;
    bool isMissing = false;
    if (meeting.stage == Stage::sending)
      isMissing = roundsOf.at(process) <= meeting.round;
    else if (meeting.stage == Stage::receiving ||
             meeting.stage == Stage::gathering) {
      uint32_t phase = meeting.stage == Stage::gathering;
      isMissing = meeting.exchange.countBytes(phase, i, members.self) &&
                  !meeting.exchange.received[phase][i];
    }
    if (isMissing)
      return process;
  }
  return std::nullopt;
}

alula_error *Rendezvous::makeLate(const Meeting &meeting) const {
  auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(timeout).count();
  std::string who = "a thread of this process";
  if (auto process = findMissing(meeting))
    who = world.describe(*process);
  const Members &members = meeting.group->members;
  for (uint32_t place : members.places[members.self])
    if (meeting.stage == Stage::starting &&
        !meeting.exchange.shares[place].isStarted)
      who = "participant " + std::to_string(members.participants[place]);
  char text[64];
  return world.fail(ALULA_STATUS_DEADLINE_EXCEEDED,
                    who + " has not come to " + describe(meeting, text) +
                        " within " + std::to_string(milliseconds) + " ms");
}

alula_error *Rendezvous::done(Meeting &meeting, uint32_t place,
                              const int *cancel) {
  Lock lock(world.mutex);
  bool hasDeadline = timeout.count() != 0;
  auto deadline = Clock::now() + timeout;
  while (meeting.stage != Stage::complete) {
    if (isAborted)
      return makeAborted();
    if (work(meeting, lock))
      continue;
    if (meeting.stage == Stage::starting)
      findEnd(meeting, place);
    if (auto process = findMissing(meeting);
        process && world.peers[*process].isLost)
      abortEverywhere(world.describe(*process) +
                      " is gone: " + world.peers[*process].reason);
    if (isAborted || meeting.stage == Stage::complete)
      continue;
    if (hasDeadline && Clock::now() >= deadline)
      return makeLate(meeting);
    if (cancel && __atomic_load_n(cancel, __ATOMIC_RELAXED))
      return world.fail(ALULA_STATUS_CANCELLED, "the call was cancelled");
    if (!hasDeadline && !cancel)
      world.changed.wait(lock);
    else if (!cancel)
      world.changed.wait_until(lock, deadline);
    else
      world.changed.wait_for(lock, pollInterval);
  }
  // What failed is left by `settle`, when nobody works on it.
  leave(meeting, place);
  return nullptr;
}

/// A member has what it wanted, or will never get it.
void Rendezvous::leave(Meeting &meeting, uint32_t place) {
  Group &group = *meeting.group;
  meeting.exchange.shares[place].hasLeft = true;
  --participants.at(group.members.participants[place]).open;
  uint32_t started = 0;
  for (uint32_t other : group.members.places[group.members.self])
    started += meeting.exchange.shares[other].isStarted;
  if (++meeting.left == (isAborted ? started : group.members.countLocal()))
    group.meetings.erase(meeting.sequence);
}

// ---- From other processes ----

void Rendezvous::accept(uint32_t process, Message message) {
  const Header &header = message.getHeader();
  switch (header.kind) {
  case MessageKind::hello:
    roundsOf[process] = header.sequence + 1;
    if (header.sequence >= firstRound &&
        header.sequence - firstRound < programs.size())
      compareRound(header.sequence, process, header.group);
    else
      programsOf[{header.sequence, process}] = header.group;
    return;
  case MessageKind::data: {
    Key key{header.group, header.sequence, header.phase, process};
    inbox[key] = std::move(message);
    return;
  }
  case MessageKind::abort:
    return abortHere(world.describe(process) + ": " + message.getText());
  default:
    return;
  }
}

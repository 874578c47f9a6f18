#include "runtime/collectives/processes/world.h"

#include <algorithm>
#include <cstring>
#include <unistd.h>

using namespace alula::collectives;

/// How long a process waits, before it closes its connections, for others to
/// have got what it sent; and if something has failed.
static constexpr std::chrono::seconds flushTime{10}, failedFlushTime{1};

World::World(const alula_collective_connection &connection,
             std::unique_ptr<Link> given)
    : makeError(connection.make_error), connectTimeout(connection.timeout_ms),
      link(std::move(given)), peers(link->getCount()) {
  link->start(*this);
}

World::~World() {
  bool isGood = flush();
  link->close(isGood);
}

alula_error *World::meet(std::chrono::milliseconds timeout) {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  std::string name = std::string(host) + ", pid " + std::to_string(getpid());
  for (uint32_t i = 0; i < getCount(); ++i) {
    if (i == getNumber())
      continue;
    Message message({.kind = MessageKind::identity}, name.size());
    memcpy(message.getPayload(), name.data(), name.size());
    link->send(i, std::move(message));
  }
  auto deadline = Clock::now() + timeout;
  std::unique_lock lock(mutex);
  for (uint32_t i = 0; i < getCount(); ++i) {
    if (i == getNumber())
      continue;
    changed.wait_until(lock, deadline,
                       [&] { return peers[i].isKnown || peers[i].isLost; });
    if (peers[i].isKnown)
      continue;
    hasFailed = true;
    if (peers[i].isLost)
      return fail(ALULA_STATUS_UNAVAILABLE,
                  describe(i) + " is gone: " + peers[i].reason);
    return fail(ALULA_STATUS_DEADLINE_EXCEEDED,
                describe(i) + " has not come within " +
                    std::to_string(timeout.count()) + " ms");
  }
  return nullptr;
}

std::string World::describe(uint32_t process) const {
  const Peer &peer = peers[process];
  std::string text = "process " + std::to_string(process);
  return peer.isKnown ? text + " (" + peer.name + ")" : text;
}

/// Whether all others have got everything.
bool World::flush() {
  for (uint32_t i = 0; i < getCount(); ++i)
    if (i != getNumber())
      link->send(i, Message({.kind = MessageKind::flush}, 0));
  std::unique_lock lock(mutex);
  bool isTogether = link->endsTogether();
  auto isOver = [&](const Peer &peer) {
    return peer.isLost || &peer == &peers[getNumber()] ||
           (peer.hasFlushed && (peer.flushes || !isTogether));
  };
  std::chrono::milliseconds time = flushTime;
  if (isTogether)
    time = std::max(time, connectTimeout);
  if (hasFailed)
    time = failedFlushTime;
  return changed.wait_for(lock, time, [&] {
    for (const Peer &peer : peers)
      if (!isOver(peer))
        return false;
    return true;
  });
}

void World::deliver(uint32_t process, Message message) {
  const Header &header = message.getHeader();
  std::unique_lock lock(mutex);
  Peer &peer = peers[process];
  switch (header.kind) {
  case MessageKind::identity:
    peer.name = message.getText();
    peer.isKnown = true;
    break;
  case MessageKind::flush:
    link->send(process, Message({.kind = MessageKind::flushed}, 0));
    peer.flushes = true;
    break;
  case MessageKind::flushed:
    peer.hasFlushed = true;
    break;
  default: {
    Channel &channel = channels[header.channel];
    uint64_t ordinal = header.ordinal;
    if (auto found = channel.alive.find(ordinal); found != channel.alive.end())
      found->second->accept(process, std::move(message));
    else if (ordinal >= channel.made)
      channel.early[ordinal].emplace_back(process, std::move(message));
    else
      return;
  }
  }
  changed.notify_all();
}

void World::lose(uint32_t process, const std::string &reason) {
  std::unique_lock lock(mutex);
  Peer &peer = peers[process];
  if (peer.isLost)
    return;
  peer.isLost = true;
  peer.reason = reason;
  changed.notify_all();
}

alula_error *World::create(const alula_collective_settings &settings,
                           Rendezvous *&rendezvous) {
  for (uint32_t i = 0; i < settings.participant_count; ++i)
    if (settings.process_of[i] >= getCount())
      return fail(ALULA_STATUS_INVALID_ARGUMENT,
                  "participant " + std::to_string(i) + " is in process " +
                      std::to_string(settings.process_of[i]) + ", there are " +
                      std::to_string(getCount()));
  uint64_t name =
      hashBytes(hashBytes(0, settings.name, strlen(settings.name)),
                settings.process_of, settings.participant_count * 4);
  std::unique_lock lock(mutex);
  Channel &channel = channels[name];
  uint64_t ordinal = channel.made++;
  rendezvous = new Rendezvous(*this, settings, name, ordinal);
  channel.alive[ordinal] = rendezvous;
  auto early = channel.early.extract(ordinal);
  if (!early.empty())
    for (auto &[process, message] : early.mapped())
      rendezvous->accept(process, std::move(message));
  return nullptr;
}

void World::destroy(Rendezvous *rendezvous) {
  rendezvous->giveUp();
  {
    std::unique_lock lock(mutex);
    for (auto &[name, channel] : channels)
      std::erase_if(channel.alive,
                    [&](auto &entry) { return entry.second == rendezvous; });
  }
  delete rendezvous;
}

// ---- The table ----

namespace {
World &open(alula_collective_world *world) {
  return *reinterpret_cast<World *>(world);
}
Rendezvous &open(alula_collective_rendezvous *rendezvous) {
  return *reinterpret_cast<Rendezvous *>(rendezvous);
}
} // namespace

alula_error *alula::collectives::connectProcesses(
    OpenLink openLink, const alula_collective_connection *connection,
    alula_collective_world **world, uint32_t *number, uint32_t *count) {
  Failure failure;
  auto start = Clock::now();
  std::unique_ptr<Link> link = openLink(*connection, failure);
  if (!link)
    return connection->make_error(failure.code, failure.message.c_str());
  auto made = std::make_unique<World>(*connection, std::move(link));
  auto spent = std::chrono::duration_cast<std::chrono::milliseconds>(
      Clock::now() - start);
  std::chrono::milliseconds timeout(connection->timeout_ms);
  if (alula_error *error =
          made->meet(std::max(timeout - spent, std::chrono::milliseconds(0))))
    return error;
  *number = made->getNumber();
  *count = made->getCount();
  *world = reinterpret_cast<alula_collective_world *>(made.release());
  return nullptr;
}

alula_collective_engine alula::collectives::makeEngine(const char *name) {
  alula_collective_engine engine = {};
  engine.struct_bytes = sizeof engine;
  engine.abi_major = ALULA_COLLECTIVES_ABI_MAJOR;
  engine.abi_minor = ALULA_COLLECTIVES_ABI_MINOR;
  engine.name = name;
  engine.disconnect = [](alula_collective_world *world) {
    delete &open(world);
  };
  engine.create = [](alula_collective_world *world,
                     const alula_collective_settings *settings,
                     alula_collective_rendezvous **result) -> alula_error * {
    Rendezvous *made = nullptr;
    if (alula_error *error = open(world).create(*settings, made))
      return error;
    *result = reinterpret_cast<alula_collective_rendezvous *>(made);
    return nullptr;
  };
  engine.destroy = [](alula_collective_rendezvous *rendezvous) {
    Rendezvous &one = open(rendezvous);
    one.getWorld().destroy(&one);
  };
  engine.begin = [](alula_collective_rendezvous *rendezvous,
                    uint32_t participant, uint64_t program) {
    return open(rendezvous).begin(participant, program);
  };
  engine.settle = [](alula_collective_rendezvous *rendezvous,
                     uint32_t participant, const char *failure) {
    open(rendezvous).settle(participant, failure);
  };
  engine.end = [](alula_collective_rendezvous *rendezvous, uint32_t participant,
                  const char *failure) {
    open(rendezvous).end(participant, failure);
  };
  engine.abort = [](alula_collective_rendezvous *rendezvous,
                    const char *reason) { open(rendezvous).abort(reason); };
  engine.get_group = [](alula_collective_rendezvous *rendezvous,
                        const alula_collective_members *members,
                        alula_collective_group **group) -> alula_error * {
    Group *found = nullptr;
    alula_error *error = open(rendezvous).getGroup(*members, found);
    *group = reinterpret_cast<alula_collective_group *>(found);
    return error;
  };
  engine.start = [](alula_collective_group *group, uint32_t participant,
                    const alula_collective *what,
                    alula_collective_request *request) {
    Group &mine = *reinterpret_cast<Group *>(group);
    return mine.rendezvous.start(mine, participant, *what, request);
  };
  engine.done = [](const alula_collective_request *request, const int *cancel) {
    Meeting &meeting = *static_cast<Meeting *>(request->state);
    return meeting.group->rendezvous.done(meeting, request->place, cancel);
  };
  return engine;
}

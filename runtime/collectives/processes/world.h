// Processes that are connected, and the rendezvous of their participants.

#pragma once

#include "runtime/collectives/processes/exchange.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace alula::collectives {

using Clock = std::chrono::steady_clock;
class World;

/// What has happened to a collective in this process.
enum class Stage {
  /// Members of this process are missing.
  starting,
  /// Other processes are to get what they need; one that has not begun the call
  /// gets nothing, so that no process runs ahead of another by more than it.
  sending,
  /// Others have to send.
  receiving,
  folding,
  spreading,
  gathering,
  filling,
  complete,
};

/// One collective of one group, from the first start to the last done.
struct Meeting {
  struct Group *group;
  uint64_t sequence, round;
  Exchange exchange;
  Stage stage = Stage::starting;
  /// Members of this process.
  uint32_t started = 0, left = 0;
  /// Of the stage: pieces of work, how many were taken and finished.
  uint32_t pieces = 0, taken = 0, finished = 0;
  /// Threads that work without the lock.
  uint32_t working = 0;
};

struct Group {
  Group(class Rendezvous &rendezvous, const alula_collective_members &given);

  Rendezvous &rendezvous;
  Members members;
  /// For each place, how many it has started.
  std::vector<uint64_t> sequences;
  std::map<uint64_t, Meeting> meetings;
};

/// What the participants of one alula_collectives share.
class Rendezvous {
public:
  Rendezvous(World &world, const alula_collective_settings &settings,
             uint64_t channel, uint64_t ordinal);

  // ---- Of the interface ----
  alula_error *begin(uint32_t participant, uint64_t program);
  void settle(uint32_t participant, const char *failure);
  void end(uint32_t participant, const char *failure);
  void abort(const std::string &reason);
  alula_error *getGroup(const alula_collective_members &given, Group *&result);
  alula_error *start(Group &group, uint32_t participant,
                     const alula_collective &what,
                     alula_collective_request *request);
  alula_error *done(Meeting &meeting, uint32_t place, const int *cancel);
  /// Others need not wait for what will not come.
  void giveUp();
  World &getWorld() const { return world; }

  /// From another process; with the lock.
  void accept(uint32_t process, Message message);

private:
  friend struct Group;
  struct Participant {
    uint64_t begun = 0, ended = 0;
    bool isInCall = false;
    /// Collectives that it has started and not left.
    uint32_t open = 0;
  };
  using Lock = std::unique_lock<std::mutex>;
  /// Group, sequence, phase, process.
  using Key = std::tuple<uint64_t, uint64_t, uint32_t, uint32_t>;

  Header makeHeader(MessageKind kind) const;
  alula_error *makeAborted() const;
  void abortHere(const std::string &reason);
  void abortEverywhere(const std::string &reason);
  void compareRound(uint64_t round, uint32_t process, uint64_t program);
  const char *describe(const Meeting &meeting, char (&text)[64]) const;
  void findEnd(const Meeting &meeting, uint32_t place);
  /// A process whose message or call is missing; none if all are there.
  std::optional<uint32_t> findMissing(const Meeting &meeting) const;
  void findLost(const Members &members);
  bool haveBegun(const Meeting &meeting) const;
  bool takeMessages(Meeting &meeting, uint32_t phase);
  void send(const Meeting &meeting, uint32_t phase);
  void setStage(Meeting &meeting, Stage stage);
  /// Work that somebody can do now; false if there is none.
  bool work(Meeting &meeting, Lock &lock);
  alula_error *makeLate(const Meeting &meeting) const;
  void leave(Meeting &meeting, uint32_t place);

  World &world;
  uint64_t channel, ordinal;
  std::chrono::nanoseconds timeout;
  std::vector<uint32_t> processOf;
  /// All but this one that have participants.
  std::vector<uint32_t> others;
  std::map<uint32_t, Participant> participants;
  std::vector<std::unique_ptr<Group>> groups;
  std::map<Key, Message> inbox;
  /// For each round that this process has begun, its program; those that others
  /// have begun and how many.
  std::deque<uint64_t> programs;
  uint64_t firstRound = 0;
  std::map<uint32_t, uint64_t> roundsOf;
  std::map<std::pair<uint64_t, uint32_t>, uint64_t> programsOf;
  /// When it was first found that a process is gone.
  std::map<uint32_t, Clock::time_point> lostSince;
  bool isAborted = false;
  std::string reason;
};

class World final : public Receiver {
public:
  explicit World(const alula_collective_connection &connection,
                 std::unique_ptr<Link> link);
  ~World();

  /// Waits until all processes have said who they are.
  alula_error *meet(std::chrono::milliseconds timeout);
  void deliver(uint32_t process, Message message) override;
  void lose(uint32_t process, const std::string &reason) override;

  alula_error *create(const alula_collective_settings &settings,
                      Rendezvous *&rendezvous);
  void destroy(Rendezvous *rendezvous);

  alula_error *fail(alula_status_code code, const std::string &message) const {
    return makeError(code, message.c_str());
  }
  /// "process 1 (host, pid 7)".
  std::string describe(uint32_t process) const;
  uint32_t getNumber() const { return link->getNumber(); }
  uint32_t getCount() const { return link->getCount(); }

private:
  friend class Rendezvous;
  struct Channel {
    /// How many were made here.
    uint64_t made = 0;
    std::map<uint64_t, Rendezvous *> alive;
    /// For those that are not made yet.
    std::map<uint64_t, std::vector<std::pair<uint32_t, Message>>> early;
  };
  struct Peer {
    std::string name;
    bool isKnown = false, isLost = false;
    /// It has got all that this process sent; it asks the same of this one.
    bool hasFlushed = false, flushes = false;
    std::string reason;
  };
  bool flush();

  alula_error *(*makeError)(alula_status_code code, const char *message);
  std::chrono::milliseconds connectTimeout;
  std::unique_ptr<Link> link;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Peer> peers;
  std::unordered_map<uint64_t, Channel> channels;
  bool hasFailed = false;
};

} // namespace alula::collectives

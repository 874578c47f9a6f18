// Communicators, groups that use them, and what of a stream is on its way.

#pragma once

#include "runtime/base/memory.h"
#include "runtime/base/mutex.h"
#include "runtime/device/cuda/nccl/api.h"
#include "runtime/device/cuda/nccl/table.h"

namespace alula::runtime::cuda {

/// A GPU of a process. All bytes count.
struct NcclIdentity {
  uint8_t uuid[16];
  uint64_t process;
};

} // namespace alula::runtime::cuda

namespace alula::runtime::cuda::nccl {

const NcclHost &getHost();

/// One of a device's: its members are GPUs of processes, in an order. Calls of
/// different collectives may run at the same time, in another order on each
/// device: a communicator is one's for a call.
struct Communicator {
  Communicator *next;
  /// NULL once it was aborted.
  CommunicatorHandle handle;
  Array<NcclIdentity> members;
  uint32_t rank;
  /// The same for all ranks, and for no other communicator; even.
  uint64_t number;
  /// A call has it.
  bool isTaken;
};

/// What a participant's device says of itself.
struct Introduction {
  uint32_t isThere;
  int32_t version;
  NcclIdentity identity;
};

/// Which way the exchanges of a group go.
enum class Way : uint8_t { unknown, byHost, byNccl };

/// What the members of a group start, for comparison.
struct Started {
  uint32_t kind, reduction, dtype, number;
  uint64_t count;
};

struct Member {
  uint32_t participant;
  /// It is in this process, and has come.
  bool hasCome;
  Way way;
  /// The device that it had then.
  uint64_t device;
  /// Of the call that it is in, once it has needed one.
  Communicator *communicator;
  NcclDevice *owner;
  /// How many exchanges it has started.
  uint64_t started;
  /// What the members told each other: stays until nobody can write it.
  uint8_t *told;
};

struct Rendezvous;

struct Group {
  Group *next;
  Rendezvous *rendezvous;
  /// The engine's.
  alula_collective_group *meeting;
  Array<Member> members;
  /// Their participants.
  Array<uint32_t> numbers;
  /// Once they are known.
  Array<NcclIdentity> identities;
  /// What was started that some member of this process has not come to.
  Array<Started> log;
  uint64_t logBegin;
};

/// Members as programs have them, and the group that they are.
struct Name {
  Name *next;
  Array<uint32_t> numbers;
  bool arePairs;
  Group *group;
};

/// What is kept of an alula_collectives.
struct Rendezvous {
  Mutex mutex;
  const alula_collectives *collectives = nullptr;
  Group *groups = nullptr;
  Name *names = nullptr;
  /// For each participant, how many calls have ended; what it waits for.
  Array<uint64_t> ended;
  struct Wait {
    Group *group;
    uint64_t index;
  };
  Array<Wait> waits;

  const alula_collective_engine &engine() const { return *collectives->engine; }
  /// Or an error, if the members can't go on.
  Status find(const Array<uint32_t> &numbers,
              alula_collective_group **meeting) const {
    GroupMembers members = {numbers.data(), uint32_t(numbers.size()), false};
    return engine().get_group(collectives->rendezvous, &members, meeting);
  }
};

/// An exchange on its way.
struct Flight {
  Flight *next;
  /// The stream has come to it; it is over.
  EventHandle ready, finished;
  Group *group;
  /// NULL if the group is one participant.
  Communicator *communicator;
  /// Which of the group's.
  uint64_t index;
  ParticipantCall call;
  Started what;
  /// Nobody has waited for it.
  bool isOpen;
};

/// "all_reduce #0", for messages.
struct Description {
  explicit Description(uint32_t kind, uint32_t number);
  char text[64];
};

inline bool hasProcesses(const alula_collectives &collectives) {
  return collectives.engine->connect;
}
/// Ends the waiting of all participants.
void abortAll(const ParticipantCall &call, const char *reason);
/// Why a call can't go on: all that take part are told.
[[nodiscard]] Status fail(const ParticipantCall &call, alula_status_code code,
                          const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/// NCCL's words for a code.
[[nodiscard]] Status makeNcclError(const Api &api, const ParticipantCall &call,
                                   const NcclDevice &device,
                                   CommunicatorHandle communicator, Code code,
                                   const char *what);

/// The group that members stand for, and the place of the call's participant;
/// those of pairs are a group in the order of their numbers.
Status findGroup(const ParticipantCall &call, const GroupMembers &members,
                 Group **group, uint32_t *place);
/// Which way the group's exchanges go: the members agree the first time.
Status agree(NcclDevice &device, const ParticipantCall &call, Group &group,
             uint32_t place, const Collective &what);
/// The call's communicator of the group, made by all members if they have none
/// that is free.
Status connect(NcclDevice &device, const ParticipantCall &call, Group &group,
               uint32_t place, const Collective &what);
/// Compares it with what the others start, and counts it.
Status compare(const ParticipantCall &call, Group &group, uint32_t place,
               const Started &what);
/// Whether a member of this process can't come any more, or nobody can.
Status findEnd(const Flight &flight);
/// Waits until NCCL has done what it does in the background.
Status settleCode(NcclDevice &device, const ParticipantCall &call,
                  const Group &group, CommunicatorHandle communicator,
                  Code code, const char *what);
/// What the call has.
void releaseCommunicators(Rendezvous &all, uint32_t participant);
void abortCommunicator(NcclDevice &device, Communicator &communicator);
/// Whether it was cancelled, or is known not to go on.
Status checkCall(const ParticipantCall &call, const Group &group);
/// Time is up.
Status makeLate(const Flight &flight);
extern const NcclFunctions functions;

/// Pauses longer from one time to the next.
class Pause {
public:
  void take();

private:
  uint32_t turns = 0;
  long nanoseconds = 10000;
};

} // namespace alula::runtime::cuda::nccl

namespace alula::runtime::cuda {

struct NcclDevice {
  const Api *cuda = nullptr;
  /// NULL, and why: exchanges go by the host's memory.
  const nccl::Api *api = nullptr;
  char why[400] = "";
  uint32_t ordinal = 0;
  /// No other device of the process ever has it.
  uint64_t serial = 0;
  NcclIdentity identity = {};
  Mutex mutex;
  nccl::Communicator *communicators = nullptr;
};

struct NcclStream {
  NcclDevice *device;
  /// That of the commands, and that of the exchanges.
  StreamHandle main, side;
  EventHandle waited;
  /// In their order.
  nccl::Flight *first, **last;
  nccl::Flight *idle;
  uint32_t count;
  /// The call that is encoded: what it has is free once the stream has run.
  nccl::Rendezvous *ending;
  uint32_t participant;
  /// Whose time is running, and since when.
  const nccl::Flight *observed;
  uint64_t since;
};

} // namespace alula::runtime::cuda

// What an engine of collectives gives: one that knows the other participants of
// a program, be they threads, processes or devices with a network of their own.

#pragma once

#include "alula/artifact.h"
#include "runtime/base/status.h"

namespace alula::runtime {

/// What the participants of one alula_collectives share; each engine knows what
/// is behind it.
struct Rendezvous;
/// A communicator: participants that exchange arrays with each other.
struct Group;

/// The members of a group in their order; or pairs of source and target.
struct GroupMembers {
  const uint32_t *numbers;
  /// Of members, or of numbers in all pairs.
  uint32_t count;
  bool arePairs;
};

/// A collective as one participant starts it.
struct Collective {
  alula_collective_kind kind;
  alula_reduction reduction;
  alula_dtype dtype;
  /// Its number in the file, for people.
  uint32_t number;
  /// Elements of a block.
  uint64_t count;
  /// What this participant gives, and where what it gets goes. They must stay
  /// until the collective is done, or `settle` returns.
  const uint8_t *operand;
  uint8_t *result;
};

/// A collective on its way.
struct CollectiveRequest {
  void *state;
  uint32_t place;
};

/// A table instead of virtual functions: those would need the C++ library.
/// Members of a group start the same collectives in the same order.
struct CollectiveEngine {
  const char *name;
  /// `timeout` in nanoseconds, 0 for none.
  Status (*create)(uint32_t participantCount, uint64_t timeout,
                   Rendezvous **rendezvous);
  void (*destroy)(Rendezvous *rendezvous);

  /// A call of a participant begins. The n-th calls of all participants must
  /// run the same `program`.
  Status (*begin)(Rendezvous *rendezvous, uint32_t participant,
                  uint64_t program);
  /// Nobody touches what the participant gave or gets any more: whatever it
  /// has not waited for is given up. To be called before its memory goes.
  /// `failure` is NULL, or says why it can't go on.
  void (*settle)(Rendezvous *rendezvous, uint32_t participant,
                 const char *failure);
  /// The call ended, `failure` as above.
  void (*end)(Rendezvous *rendezvous, uint32_t participant,
              const char *failure);
  /// Ends the waiting of all participants, now and from now on.
  void (*abort)(Rendezvous *rendezvous, const char *reason);

  /// The communicator of these members, which lives as long as the rendezvous.
  Status (*getGroup)(Rendezvous *rendezvous, const GroupMembers &members,
                     Group **group);
  /// Returns at once.
  Status (*start)(Group *group, uint32_t participant,
                  const Collective &collective, CollectiveRequest *request);
  /// Waits, unless `*cancel` is or becomes something else than 0.
  Status (*done)(const CollectiveRequest &request, const int *cancel);
};

/// Threads of this process.
extern const CollectiveEngine localEngine;

} // namespace alula::runtime

struct alula_collectives {
  const alula::runtime::CollectiveEngine *engine;
  alula::runtime::Rendezvous *rendezvous;
  uint32_t participantCount;
};

// The implementation of an alula_collectives: an engine (alula/collectives.h)
// and its communicator.

#pragma once

#include "alula/collectives.h"
#include "runtime/base/memory.h"
#include "runtime/base/status.h"

namespace alula::runtime {

using CollectiveEngine = alula_collective_engine;
using Collective = alula_collective;
using CollectiveRequest = alula_collective_request;
using GroupMembers = alula_collective_members;
using Rendezvous = alula_collective_rendezvous;
using Group = alula_collective_group;

/// The engine for participants that are threads of this process.
extern const CollectiveEngine localEngine;

} // namespace alula::runtime

struct alula_collectives {
  const alula::runtime::CollectiveEngine *engine;
  alula::runtime::Rendezvous *rendezvous;
  uint32_t participantCount;
  // ---- For devices that exchange arrays without the engine ----
  alula_device_collectives devices;
  /// Nanoseconds; 0 for none.
  uint64_t timeout;
  /// For each participant, how many calls it has begun.
  alula::runtime::Array<uint64_t> calls;
  /// What a driver keeps of it, and how it is freed.
  void *kept;
  void (*forget)(void *kept);
};

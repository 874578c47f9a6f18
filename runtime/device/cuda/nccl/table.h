// What the driver and its library of collectives, libalula_nccl.so.0, are for
// each other.

#pragma once

#include "runtime/device/cuda/api.h"
#include "runtime/device/device.h"

namespace alula::runtime::cuda {

struct NcclDevice;
/// The exchanges of one stream.
struct NcclStream;

struct NcclHost {
  /// Of another build, if these are not its own.
  uint64_t apiBytes, collectivesBytes, collectiveBytes;
  alula_error *(*createError)(alula_status_code code, const char *message);
  const Api *api;
};

/// The device's context is current in all of them.
struct NcclFunctions {
  Status (*openDevice)(DeviceNumber number, uint32_t ordinal,
                       NcclDevice **device);
  void (*closeDevice)(NcclDevice *device);
  Status (*openStream)(NcclDevice *device, StreamHandle stream,
                       NcclStream **exchanges);
  void (*closeStream)(NcclStream *exchanges);

  /// As in DeviceCollectives; the request has no state when `start` is called.
  Status (*start)(NcclStream *exchanges, const ParticipantCall &call,
                  const GroupMembers &members, const Collective &what,
                  CollectiveRequest *request);
  Status (*done)(NcclStream *exchanges, const CollectiveRequest *request);
  void (*settle)(NcclStream *exchanges, const ParticipantCall &call,
                 const char *failure);

  /// Exchanges may be on their way: who waits for the stream must do it by
  /// `wait`, which ends if they can't go on.
  bool (*isBusy)(const NcclStream *exchanges);
  Status (*wait)(NcclStream *exchanges);
  /// Ends those that are on their way.
  void (*giveUp)(NcclStream *exchanges);
};

using NcclQuery = const NcclFunctions *(*)(const NcclHost *host);
#define ALULA_NCCL_QUERY "alula_nccl_query"

} // namespace alula::runtime::cuda

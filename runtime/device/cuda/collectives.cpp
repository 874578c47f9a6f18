// Collectives of streams, by a library that is loaded when the first one comes:
// it has NCCL.

#include "runtime/base/library.h"
#include "runtime/device/cuda/device.h"

#include <dlfcn.h>

namespace alula::runtime::cuda {
namespace {

const char ncclLibrary[] = "libalula_nccl.so.0";

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
const NcclFunctions *functions = nullptr;

alula_error *createError(alula_status_code code, const char *message) {
  return makeError(code, "%s", message);
}

Status load(const Api &api) {
  void *library = openPart(ncclLibrary);
  if (!library)
    return makeError(ALULA_STATUS_NOT_FOUND,
                     "collectives of devices 'cuda' need the library %s beside "
                     "that of the device: %.300s",
                     ncclLibrary, dlerror());
  static NcclHost host;
  host = {sizeof(Api), sizeof(alula_collectives), sizeof(alula_collective),
          createError, &api};
  auto query = reinterpret_cast<NcclQuery>(dlsym(library, ALULA_NCCL_QUERY));
  const NcclFunctions *found = query ? query(&host) : nullptr;
  // It stays loaded.
  __atomic_store_n(&functions, found, __ATOMIC_RELEASE);
  return found ? nullptr
               : makeError(ALULA_STATUS_FAILED_PRECONDITION,
                           "%s is of another version of Alula", ncclLibrary);
}

/// The library, and the device's part of it.
Status openDevice(CudaDevice &device) {
  pthread_mutex_lock(&mutex);
  Status status = functions ? nullptr : load(*device.api);
  if (!status && !device.collectives)
    status = functions->openDevice(device.number, device.ordinal,
                                   &device.collectives);
  pthread_mutex_unlock(&mutex);
  return status;
}
} // namespace

void closeCollectives(CudaDevice &device) {
  if (device.collectives)
    functions->closeDevice(device.collectives);
  device.collectives = nullptr;
}

Status CudaStream::startCollective(const ParticipantCall &call,
                                   const GroupMembers &members,
                                   const Collective &what,
                                   CollectiveRequest *request) {
  // Those of other processes may want NCCL: then all agree that it can't be.
  const alula_collectives &all = *call.collectives;
  *request = {};
  if (all.devices == ALULA_DEVICE_COLLECTIVES_NEVER && !all.engine->connect)
    return nullptr;
  Current current(device);
  ALULA_TRY(check(current.getResult(), "a context"));
  if (!collectives) {
    ALULA_TRY(openDevice(device));
    ALULA_TRY(functions->openStream(device.collectives, handle, &collectives));
  }
  ALULA_TRY(flush());
  return functions->start(collectives, call, members, what, request);
}

Status CudaStream::endCollective(const CollectiveRequest *request) {
  Current current(device);
  ALULA_TRY(flush());
  return functions->done(collectives, request);
}

void CudaStream::settleCollectives(const ParticipantCall &call,
                                   const char *failure) {
  const NcclFunctions *loaded = __atomic_load_n(&functions, __ATOMIC_ACQUIRE);
  if (!loaded)
    return;
  Current current(device);
  loaded->settle(collectives, call, failure);
}

bool CudaStream::waitForCollectives() {
  if (!collectives || !functions->isBusy(collectives))
    return true;
  collectiveFailure = functions->wait(collectives);
  return !collectiveFailure;
}

void CudaStream::giveUpCollectives() {
  if (collectives)
    functions->giveUp(collectives);
}

void CudaStream::closeCollectives() {
  if (collectives)
    functions->closeStream(collectives);
}

} // namespace alula::runtime::cuda

// Exchanges with the other devices that run the program: start and end.

#include "runtime/invoke/commands.h"

#include "runtime/base/clock.h"

namespace alula::runtime {

/// The end of a collective: the copy of what it exchanged is free again.
static void releaseHostCopy(Context &context, PendingCollective &one) {
  if (one.copy)
    context.hostCopies[one.copy - 1].isUsed = false;
  one.copy = 0;
}

static ParticipantCall getPart(const Call &call) {
  return {call.collectives, call.participant, call.cancel};
}

/// Collectives of one call that are in flight at the same time.
static constexpr size_t mostPending = 65536;

GroupMembers Commands::findGroup(const alula_file_collective &record) const {
  const alula_file_group_table &table = file.groupTables[record.groups];
  const uint32_t *number = file.lists.data + table.first_number;
  for (uint32_t i = 0; i < table.group_count; ++i) {
    uint32_t size = *number++;
    for (uint32_t j = 0; j < size; ++j)
      if (number[j] == call.participant)
        return {number, size, false};
    number += size;
  }
  return {nullptr, 0, false};
}

Status Commands::findPairs(const alula_file_collective &record,
                           GroupMembers &members) {
  members = findGroup(record);
  if (!members.count)
    return nullptr;
  const alula_file_group_table &table = file.groupTables[record.groups];
  Array<uint32_t> &pairs = call.context->pairs;
  if (!pairs.resize(size_t(table.group_count) * 2))
    return makeOutOfMemory("pairs of participants", table.group_count);
  const uint32_t *number = file.lists.data + table.first_number;
  for (uint32_t i = 0; i < table.group_count; ++i) {
    pairs[2 * i] = number[3 * i + 1];
    pairs[2 * i + 1] = number[3 * i + 2];
  }
  members = {pairs.data(), 2 * table.group_count, true};
  return nullptr;
}

Status Commands::startCollective(const uint32_t *p) {
  ALULA_TRY(checkCancel());
  const alula_file_collective &record = file.collectives[p[1]];
  const char *name = alula_collective_get_name(record.kind);
  if (!call.collectives)
    return fail(ALULA_STATUS_FAILED_PRECONDITION,
                "%s #%u: the program is for %u devices at once, the call has "
                "no collectives to meet the others",
                name, p[1], call.executable->image->getParticipantCount());
  GroupMembers members = findGroup(record);
  if (record.kind == ALULA_COLLECTIVE_PERMUTE)
    ALULA_TRY(findPairs(record, members));
  // Those in no group have as many blocks as those of the first.
  const alula_file_group_table &table = file.groupTables[record.groups];
  uint64_t width = table.group_count ? file.lists[table.first_number] : 1;
  uint32_t element = alula_dtype_get_bytes(record.dtype);
  uint64_t block = record.count * element, given = block, gotten = block;
  if (record.kind == ALULA_COLLECTIVE_REDUCE_SCATTER ||
      record.kind == ALULA_COLLECTIVE_ALL_TO_ALL)
    given *= width;
  if (record.kind == ALULA_COLLECTIVE_ALL_GATHER ||
      record.kind == ALULA_COLLECTIVE_ALL_TO_ALL)
    gotten *= width;
  uint8_t *operand = nullptr, *result = nullptr;
  ALULA_TRY(access(name, p[2], 0, int64_t(given), &operand));
  ALULA_TRY(access(name, p[3], 0, int64_t(gotten), &result));
  uint64_t alignment = element < 8 ? element : 8;
  if ((reinterpret_cast<uintptr_t>(operand) |
       reinterpret_cast<uintptr_t>(result)) %
      alignment)
    return fail(ALULA_STATUS_INTERNAL,
                "%s #%u: the memory is not aligned to its elements", name,
                p[1]);
  if (operand < result + gotten && result < operand + given)
    return fail(ALULA_STATUS_INTERNAL,
                "%s #%u: what is given and what is gotten share memory", name,
                p[1]);
  return start(p, members,
               {alula_collective_kind(record.kind),
                alula_reduction(record.reduction), alula_dtype(record.dtype),
                p[1], record.count, operand, result,
                alula_collective_kind(record.kind)},
               given, gotten);
}

Status Commands::start(const uint32_t *p, const GroupMembers &members,
                       Collective what, uint64_t given, uint64_t gotten) {
  Array<PendingCollective> &pending = call.context->pending;
  size_t handle = pending.size();
  if (handle == mostPending)
    return fail(ALULA_STATUS_RESOURCE_EXHAUSTED,
                "more than %zu collectives are on their way", mostPending);
  if (!pending.push({}))
    return makeOutOfMemory("a collective", sizeof(PendingCollective));
  PendingCollective &one = pending[handle];
  one.number = p[1];
  one.isOpen = true;
  one.begin = call.trace ? readClock() : 0;
  one.bytes = gotten;
  frame.registers[p[0]] = int64_t(handle);
  if (!members.count)
    return driver.fill(call.stream, what.result, 0, 1, gotten);
  if (const DeviceCollectives *devices = driver.collectives) {
    if (Status status = devices->start(call.stream, getPart(call), members,
                                       what, &one.request))
      return addName(what.number, status);
    one.isOnDevice = one.request.state;
    if (one.isOnDevice)
      return nullptr;
  }
  ALULA_TRY(stageCollective(one, what, given, gotten));
  const CollectiveEngine &engine = *call.collectives->engine;
  Group *group = nullptr;
  Status status =
      engine.get_group(call.collectives->rendezvous, &members, &group);
  if (!status)
    status = engine.start(group, call.participant, &what, &one.request);
  return status ? addName(what.number, status) : nullptr;
}

Status Commands::stageCollective(PendingCollective &one, Collective &what,
                                 uint64_t given, uint64_t gotten) {
  if (driver.sharesMemory)
    return driver.runsAtOnce ? nullptr : driver.synchronize(call.stream);
  uint64_t bytes = alignUp(given) + gotten;
  ALULA_TRY(takeHostCopy(bytes, one.copy));
  uint8_t *memory = call.context->hostCopies[one.copy - 1].data;
  one.staged = memory + alignUp(given);
  one.result = what.result;
  ALULA_TRY(driver.copyFrom(call.stream, memory, what.operand, given));
  what.operand = memory;
  what.result = one.staged;
  return nullptr;
}

Status Commands::takeHostCopy(uint64_t bytes, size_t &number) {
  Array<Context::HostCopy> &copies = call.context->hostCopies;
  for (size_t i = 0; i < copies.size(); ++i)
    if (!copies[i].isUsed && copies[i].bytes >= bytes) {
      copies[i].isUsed = true;
      number = i + 1;
      return nullptr;
    }
  const Allocator &allocator = call.executable->instance->allocator;
  auto *memory = static_cast<uint8_t *>(allocator.allocate(bytes));
  if (memory && copies.push({memory, bytes, true})) {
    number = copies.size();
    return nullptr;
  }
  allocator.release(memory, bytes);
  return makeOutOfMemory("arrays of a collective", bytes);
}

Status Commands::finishCollective(int64_t handle) {
  Array<PendingCollective> &pending = call.context->pending;
  if (handle < 0 || uint64_t(handle) >= pending.size() ||
      !pending[size_t(handle)].isOpen)
    return fail(ALULA_STATUS_INTERNAL,
                "collective_done: nothing is on its way as %" PRId64, handle);
  PendingCollective &one = pending[size_t(handle)];
  if (one.request.state) {
    Status status =
        one.isOnDevice
            ? driver.collectives->done(call.stream, &one.request)
            : call.collectives->engine->done(&one.request, call.cancel);
    if (status)
      return addName(one.number, status);
    if (one.copy)
      ALULA_TRY(driver.copyTo(call.stream, one.result, one.staged, one.bytes));
  }
  releaseHostCopy(*call.context, one);
  one.isOpen = false;
  PendingCollective ended = one;
  size_t open = pending.size();
  while (open && !pending[open - 1].isOpen)
    --open;
  // Shrinking never allocates.
  (void)!pending.resize(open);
  return trace(alula_collective_get_name(file.collectives[ended.number].kind),
               ended.begin, ended.bytes);
}

Status Commands::addName(uint32_t number, Status status) {
  Status full =
      makeError(alula_error_get_code(status), "function '%s': %s #%u: %s",
                file.getString(function.name),
                alula_collective_get_name(file.collectives[number].kind),
                number, alula_error_get_message(status));
  alula_error_destroy(status);
  return full;
}

void settleCollectives(Call &call, Status failure) {
  const char *why = failure ? alula_error_get_message(failure) : nullptr;
  call.collectives->engine->settle(call.collectives->rendezvous,
                                   call.participant, why);
  if (const DeviceCollectives *devices =
          call.executable->instance->driver->collectives)
    devices->settle(call.stream, getPart(call), why);
  for (PendingCollective &one : call.context->pending)
    releaseHostCopy(*call.context, one);
  // Shrinking never allocates.
  (void)!call.context->pending.resize(0);
}

} // namespace alula::runtime

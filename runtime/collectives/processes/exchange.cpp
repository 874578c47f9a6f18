#include "runtime/collectives/processes/exchange.h"
#include "runtime/collectives/reduce.h"

#include <algorithm>
#include <cstring>

using namespace alula::collectives;

/// Below this a second phase costs more than the bytes that it saves.
static constexpr uint64_t directBytes = 16384;
/// What a piece of a fold reads of each member, about.
static constexpr uint64_t pieceBytes = 65536;
static constexpr uint64_t cacheBytes = 16384;

uint64_t alula::collectives::hashBytes(uint64_t seed, const void *data,
                                       size_t bytes) {
  auto *from = static_cast<const uint8_t *>(data);
  uint64_t hash = seed ^ 0xCBF29CE484222325;
  for (size_t i = 0; i < bytes; ++i)
    hash = (hash ^ from[i]) * 0x100000001B3;
  hash ^= hash >> 32;
  hash *= 0xD6E8FEB86659FD93;
  return hash ^ hash >> 32;
}

static void copyBytes(uint8_t *to, const uint8_t *from, uint64_t bytes) {
  // Empty arrays may have no address.
  if (bytes)
    memcpy(to, from, bytes);
}

// ---- Members ----

Members::Members(const alula_collective_members &given,
                 const uint32_t *processOf, uint32_t thisProcess)
    : numbers(given.numbers, given.numbers + given.count),
      arePairs(given.are_pairs != 0) {
  auto add = [&](uint32_t participant) {
    uint32_t place = findPlace(participant);
    if (place < participants.size())
      return place;
    participants.push_back(participant);
    sources.push_back(ALULA_NONE);
    return place;
  };
  for (uint32_t i = 0; i < given.count; ++i) {
    uint32_t place = add(numbers[i]);
    if (arePairs && i % 2)
      sources[place] = findPlace(numbers[i - 1]);
  }
  for (uint32_t place = 0; place < participants.size(); ++place) {
    uint32_t number = processOf[participants[place]];
    auto found = std::find(processes.begin(), processes.end(), number);
    auto index = uint32_t(found - processes.begin());
    if (found == processes.end()) {
      processes.push_back(number);
      places.emplace_back();
    }
    process.push_back(index);
    rank.push_back(uint32_t(places[index].size()));
    places[index].push_back(place);
    if (number == thisProcess)
      self = index;
  }
  hash = hashBytes(arePairs, numbers.data(), numbers.size() * sizeof(uint32_t));
}

uint32_t Members::findPlace(uint32_t participant) const {
  return uint32_t(
      std::find(participants.begin(), participants.end(), participant) -
      participants.begin());
}

// ---- Sizes ----

uint64_t Exchange::getElementBytes() const {
  return alula_dtype_get_bytes(what.dtype);
}

uint64_t Exchange::getBlockBytes() const {
  return what.count * getElementBytes();
}

bool Exchange::isTwoPhase() const {
  return what.kind == ALULA_COLLECTIVE_ALL_REDUCE &&
         members->processes.size() > 1 && getBlockBytes() > directBytes;
}

uint64_t Exchange::getRangeBegin(uint32_t index) const {
  uint64_t count = members->processes.size();
  // Without a product that could be too large.
  return what.count / count * index +
         std::min<uint64_t>(what.count % count, index);
}

uint64_t Exchange::getRangeBytes(uint32_t index) const {
  return (getRangeBegin(index + 1) - getRangeBegin(index)) * getElementBytes();
}

uint64_t Exchange::countBytes(uint32_t phase, uint32_t from,
                              uint32_t to) const {
  const auto &givers = members->places[from], &takers = members->places[to];
  uint64_t block = getBlockBytes();
  if (phase == 1)
    return getRangeBytes(from);
  switch (what.kind) {
  case ALULA_COLLECTIVE_ALL_REDUCE:
    return givers.size() * (isTwoPhase() ? getRangeBytes(to) : block);
  case ALULA_COLLECTIVE_ALL_GATHER:
    return givers.size() * block;
  case ALULA_COLLECTIVE_REDUCE_SCATTER:
  case ALULA_COLLECTIVE_ALL_TO_ALL:
    return givers.size() * takers.size() * block;
  case ALULA_COLLECTIVE_BROADCAST:
    return members->process[0] == from ? block : 0;
  case ALULA_COLLECTIVE_PERMUTE: {
    uint64_t bytes = 0;
    for (uint32_t place : takers)
      if (uint32_t source = members->sources[place];
          source != ALULA_NONE && members->process[source] == from)
        bytes += block;
    return bytes;
  }
  }
  return 0;
}

// ---- Bytes for others ----

void Exchange::pack(uint32_t phase, uint32_t to, uint8_t *payload) const {
  uint64_t block = getBlockBytes();
  auto append = [&](const uint8_t *from, uint64_t bytes) {
    copyBytes(payload, from, bytes);
    payload += bytes;
  };
  if (phase == 1)
    return append(folded.data(), folded.size());
  const auto &mine = members->places[members->self];
  switch (what.kind) {
  case ALULA_COLLECTIVE_ALL_REDUCE: {
    uint64_t offset = isTwoPhase() ? getRangeBegin(to) * getElementBytes() : 0;
    uint64_t bytes = isTwoPhase() ? getRangeBytes(to) : block;
    for (uint32_t place : mine)
      append(shares[place].operand + offset, bytes);
    return;
  }
  case ALULA_COLLECTIVE_ALL_GATHER:
    for (uint32_t place : mine)
      append(shares[place].operand, block);
    return;
  case ALULA_COLLECTIVE_REDUCE_SCATTER:
  case ALULA_COLLECTIVE_ALL_TO_ALL:
    for (uint32_t place : mine)
      for (uint32_t taker : members->places[to])
        append(shares[place].operand + taker * block, block);
    return;
  case ALULA_COLLECTIVE_BROADCAST:
    return append(shares[0].operand, block);
  case ALULA_COLLECTIVE_PERMUTE:
    for (uint32_t taker : members->places[to])
      if (uint32_t source = members->sources[taker];
          source != ALULA_NONE && members->isLocal(source))
        append(shares[source].operand, block);
    return;
  }
}

const uint8_t *Exchange::locate(uint32_t from, uint32_t to) const {
  uint64_t block = getBlockBytes();
  bool isBlockForEach = what.kind == ALULA_COLLECTIVE_REDUCE_SCATTER ||
                        what.kind == ALULA_COLLECTIVE_ALL_TO_ALL;
  uint32_t index = members->process[from];
  if (index == members->self) {
    uint64_t offset = isBlockForEach ? to * block
                      : isTwoPhase() ? getRangeBegin(index) * getElementBytes()
                                     : 0;
    return shares[from].operand + offset;
  }
  const uint8_t *payload = received[0][index].getPayload();
  if (isBlockForEach)
    return payload +
           (members->rank[from] * members->countLocal() + members->rank[to]) *
               block;
  if (what.kind == ALULA_COLLECTIVE_BROADCAST)
    return payload;
  if (what.kind == ALULA_COLLECTIVE_PERMUTE) {
    for (uint32_t taker : members->places[members->self]) {
      if (taker == to)
        break;
      if (uint32_t source = members->sources[taker];
          source != ALULA_NONE && members->process[source] == index)
        payload += block;
    }
    return payload;
  }
  return payload + members->rank[from] *
                       (isTwoPhase() ? getRangeBytes(members->self) : block);
}

// ---- Results ----

/// The members' elements from `offset` bytes on, folded in their order.
void Exchange::fold(uint8_t *into, uint32_t to, uint64_t offset,
                    uint64_t count) const {
  uint64_t element = getElementBytes(), step = cacheBytes / element;
  for (uint64_t at = 0; at < count; at += step) {
    uint64_t now = std::min(step, count - at);
    uint64_t from = offset + at * element;
    uint8_t *target = into + at * element;
    memcpy(target, locate(0, to) + from, now * element);
    for (uint32_t i = 1; i < members->participants.size(); ++i)
      runtime::reduceInto(what.reduction, what.dtype, target,
                          locate(i, to) + from, now);
  }
}

void Exchange::prepareFold() {
  folded.resize(isTwoPhase() ? getRangeBytes(members->self) : getBlockBytes());
}

uint32_t Exchange::countFoldPieces() const {
  return uint32_t(std::min<uint64_t>(folded.size() / pieceBytes + 1, 64));
}

void Exchange::foldPiece(uint32_t piece) {
  uint64_t element = getElementBytes(), count = folded.size() / element;
  uint32_t pieces = countFoldPieces();
  uint64_t each = count / pieces + 1;
  uint64_t begin = std::min(each * piece, count);
  uint64_t end = std::min(begin + each, count);
  // Whose result it is makes no difference.
  fold(folded.data() + begin * element, members->places[members->self][0],
       begin * element, end - begin);
}

void Exchange::fill(uint32_t place) const {
  uint8_t *result = shares[place].result;
  uint64_t block = getBlockBytes();
  switch (what.kind) {
  case ALULA_COLLECTIVE_ALL_REDUCE:
    if (!isTwoPhase())
      return copyBytes(result, folded.data(), block);
    for (uint32_t p = 0; p < members->processes.size(); ++p)
      copyBytes(result + getRangeBegin(p) * getElementBytes(),
                p == members->self ? folded.data()
                                   : received[1][p].getPayload(),
                getRangeBytes(p));
    return;
  case ALULA_COLLECTIVE_ALL_GATHER:
  case ALULA_COLLECTIVE_ALL_TO_ALL:
    if (block)
      for (uint32_t i = 0; i < members->participants.size(); ++i)
        memcpy(result + i * block, locate(i, place), block);
    return;
  case ALULA_COLLECTIVE_REDUCE_SCATTER:
    return fold(result, place, 0, what.count);
  case ALULA_COLLECTIVE_BROADCAST:
    return block ? copyBytes(result, locate(0, place), block) : void();
  case ALULA_COLLECTIVE_PERMUTE: {
    uint32_t source = members->sources[place];
    if (source != ALULA_NONE && block)
      copyBytes(result, locate(source, place), block);
    else if (block)
      memset(result, 0, block);
    return;
  }
  }
}

#include "runtime/device/cuda/emulator/shadow.h"

namespace alula::ptx {

void SharedShadow::start(uint32_t bytes, uint32_t warps) {
  uint32_t words = (bytes + 3) / 4;
  if (warps != warpCount || writes.size() < words) {
    warpCount = warps;
    writes.assign(words, {});
    reads.assign(size_t(words) * warps, {});
  }
  // What an earlier block has not waited for ended with it.
  copies.assign(writes.size(), 0);
  bulkReads.assign(writes.size(), 0);
  barriers.assign(writes.size(), 0);
  // Whatever earlier blocks did lies before all that this one does.
  ++newest;
  for (uint32_t warp = 0; warp < 32; ++warp) {
    View &view = views[warp];
    view = {};
    for (uint32_t agent = 0; agent < agentCount; ++agent)
      view.seen[agent] = view.fenced[agent] = newest;
    met[warp] = ++view.seen[warp];
  }
  ++newest;
  agentClocks[0] = agentClocks[1] = newest;
}

void SharedShadow::meet(uint32_t mask) {
  View together;
  for (uint32_t warp = 0; warp < 32; ++warp)
    if (mask >> warp & 1)
      together.merge(views[warp]);
  for (uint32_t warp = 0; warp < 32; ++warp)
    if (mask >> warp & 1) {
      views[warp] = together;
      meetLanes(warp);
    }
}

void SharedShadow::release(uint32_t warp, uint32_t lanes, bool areAll,
                           View &to) {
  View mine = views[warp];
  uint32_t now = mine.seen[warp];
  mine.lone[warp] = {};
  if (!areAll) {
    // Of the others what they did before they last met.
    mine.seen[warp] = met[warp] - 1;
    if (!(lanes & (lanes - 1)))
      mine.lone[warp] = {now, uint8_t(__builtin_ctz(lanes))};
  }
  to.merge(mine);
  tick(warp);
}

void SharedShadow::acquire(uint32_t warp, const View &from) {
  views[warp].merge(from);
}

void SharedShadow::fenceProxy(uint32_t warp) {
  View &view = views[warp];
  for (uint32_t agent = 0; agent < agentCount; ++agent)
    view.fenced[agent] = std::max(view.fenced[agent], view.seen[agent]);
  tick(warp);
}

const char *SharedShadow::check(uint32_t word, uint32_t bytes, uint32_t warp,
                                uint32_t lane, bool isWrite, bool isAtomic) {
  if (copies[word])
    return "an asynchronous copy to it has not been waited for";
  if (barriers[word])
    return "a barrier of mbarrier.init is there";
  const Access &written = writes[word];
  if (written.bytes & bytes && !isBefore(written, warp, lane) &&
      !(isAtomic && written.isAtomic))
    return isWrite ? "another thread wrote it, without a barrier in between"
                   : "what another thread wrote is read without a barrier in "
                     "between";
  if (!isWrite)
    return nullptr;
  if (bulkReads[word])
    return "what is written is being read, by an instruction that has not been "
           "waited for";
  for (uint32_t other = 0; other < warpCount; ++other) {
    const Access &read = reads[size_t(word) * warpCount + other];
    if (read.bytes & bytes && !isBefore(read, warp, lane))
      return "what another thread reads is written without a barrier in "
             "between";
  }
  return nullptr;
}

static uint32_t getBytesOfWord(uint32_t word, uint32_t begin, uint32_t end) {
  uint32_t from = std::max(word * 4, begin) - word * 4;
  uint32_t to = std::min(word * 4 + 4, end) - word * 4;
  return ((1u << to) - 1) & ~((1u << from) - 1);
}

const char *SharedShadow::read(uint32_t offset, uint32_t bytes, uint32_t warp,
                               uint32_t lane) {
  uint32_t now = views[warp].seen[warp];
  for (uint32_t word = offset / 4; word * 4 < offset + bytes; ++word) {
    uint32_t part = getBytesOfWord(word, offset, offset + bytes);
    if (const char *why = check(word, part, warp, lane, false))
      return why;
    Access &mine = reads[size_t(word) * warpCount + warp];
    if (mine.clock == now) {
      mine.lane = mine.lane == lane ? mine.lane : 255;
      mine.bytes |= uint8_t(part);
    } else {
      mine = {now, uint8_t(warp), uint8_t(lane), uint8_t(part)};
    }
  }
  return nullptr;
}

const char *SharedShadow::write(uint32_t offset, uint32_t bytes, uint32_t warp,
                                uint32_t lane) {
  uint32_t now = views[warp].seen[warp];
  for (uint32_t word = offset / 4; word * 4 < offset + bytes; ++word) {
    uint32_t part = getBytesOfWord(word, offset, offset + bytes);
    if (const char *why = check(word, part, warp, lane, true))
      return why;
    writes[word] = {now, uint8_t(warp), uint8_t(lane), uint8_t(part)};
  }
  return nullptr;
}

const char *SharedShadow::change(uint32_t offset, uint32_t bytes, uint32_t warp,
                                 uint32_t lane) {
  uint32_t now = views[warp].seen[warp];
  for (uint32_t word = offset / 4; word * 4 < offset + bytes; ++word) {
    uint32_t part = getBytesOfWord(word, offset, offset + bytes);
    if (const char *why = check(word, part, warp, lane, true, true))
      return why;
    writes[word] = {now, uint8_t(warp), uint8_t(lane), uint8_t(part), true};
  }
  return nullptr;
}

const char *SharedShadow::beginCopy(uint32_t offset, uint32_t bytes,
                                    uint32_t warp, uint32_t lane) {
  for (uint32_t word = offset / 4; word * 4 < offset + bytes; ++word) {
    uint32_t part = getBytesOfWord(word, offset, offset + bytes);
    if (const char *why = check(word, part, warp, lane, true))
      return why;
    ++copies[word];
  }
  return nullptr;
}

void SharedShadow::endCopy(uint32_t offset, uint32_t bytes, uint32_t agent,
                           uint32_t lane) {
  uint32_t now = agent < bulkAgent ? views[agent].seen[agent]
                                   : agentClocks[agent - bulkAgent];
  for (uint32_t word = offset / 4; word * 4 < offset + bytes; ++word) {
    --copies[word];
    writes[word] = {now, uint8_t(agent), uint8_t(lane),
                    uint8_t(getBytesOfWord(word, offset, offset + bytes))};
  }
}

const char *SharedShadow::checkBulkCopy(uint32_t offset, uint32_t bytes,
                                        uint32_t warp, uint32_t lane) {
  for (uint32_t word = offset / 4; word * 4 < offset + bytes; ++word) {
    uint32_t part = getBytesOfWord(word, offset, offset + bytes);
    if (const char *why = check(word, part, warp, lane, true))
      return why;
    if (writes[word].bytes && !isFenced(writes[word], warp))
      return "what was written there is not fenced for the asynchronous proxy";
  }
  return nullptr;
}

void SharedShadow::beginBulkCopy(uint32_t offset, uint32_t bytes) {
  for (uint32_t word = offset / 4; word * 4 < offset + bytes; ++word)
    ++copies[word];
}

const char *SharedShadow::beginBulkRead(uint32_t offset, uint32_t bytes,
                                        uint32_t warp) {
  for (uint32_t word = offset / 4; word * 4 < offset + bytes; ++word) {
    const Access &written = writes[word];
    // Of its own warp it sees what is fenced, whichever lane wrote it.
    if (copies[word] || barriers[word] || written.agent != warp)
      if (const char *why = check(word, 15, warp, 255, false))
        return why;
    if (written.bytes && !isFenced(written, warp))
      return "what was written there is not fenced for the asynchronous proxy";
    ++bulkReads[word];
  }
  return nullptr;
}

void SharedShadow::endBulkRead(uint32_t offset, uint32_t bytes, uint32_t warp,
                               uint32_t lane) {
  uint32_t now = views[warp].seen[warp];
  for (uint32_t word = offset / 4; word * 4 < offset + bytes; ++word) {
    --bulkReads[word];
    reads[size_t(word) * warpCount + warp] = {now, uint8_t(warp), uint8_t(lane),
                                              15};
  }
}

const char *SharedShadow::setBarrier(uint32_t offset, bool isOne, uint32_t warp,
                                     uint32_t lane, Access &access) {
  if (!isOne)
    barriers[offset / 4] = barriers[offset / 4 + 1] = 0;
  if (const char *why = write(offset, 8, warp, lane))
    return why;
  access = writes[offset / 4];
  if (isOne)
    barriers[offset / 4] = barriers[offset / 4 + 1] = 1;
  return nullptr;
}

} // namespace alula::ptx

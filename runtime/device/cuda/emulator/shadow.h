// Who touched which bytes of a block's shared memory, and what each warp comes
// after.

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace alula::ptx {

/// Who touches shared memory: a warp, the asynchronous proxy when a copy ends
/// (`bulkAgent`), a cp.async whose end a barrier tells (`copyAgent`).
constexpr uint32_t bulkAgent = 32, copyAgent = 33, agentCount = 34;

/// What somebody comes after: accesses of each agent up to a clock.
struct View {
  /// As ordinary accesses see them, and as the asynchronous proxy does.
  uint32_t seen[agentCount] = {}, fenced[agentCount] = {};
  /// Of one lane of a warp, later ones too.
  struct Lone {
    uint32_t clock = 0;
    uint8_t lane = 0;
  } lone[32];

  void merge(const View &other) {
    for (uint32_t i = 0; i < agentCount; ++i) {
      seen[i] = std::max(seen[i], other.seen[i]);
      fenced[i] = std::max(fenced[i], other.fenced[i]);
    }
    for (uint32_t i = 0; i < 32; ++i)
      if (other.lone[i].clock > lone[i].clock)
        lone[i] = other.lone[i];
  }
};

/// Clocks count what orders accesses: barriers, arrivals, fences of proxies.
class SharedShadow {
public:
  /// Of a word: which of its bytes, when, and by whom; lane 255: several.
  struct Access {
    uint32_t clock = 0;
    uint8_t agent = 0, lane = 0, bytes = 0;
    bool isAtomic = false;
  };

  void start(uint32_t bytes, uint32_t warps);
  /// NULL, or why these bytes may not be touched.
  const char *read(uint32_t offset, uint32_t bytes, uint32_t warp,
                   uint32_t lane);
  const char *write(uint32_t offset, uint32_t bytes, uint32_t warp,
                    uint32_t lane);
  /// Atomics of one word are ordered among themselves.
  const char *change(uint32_t offset, uint32_t bytes, uint32_t warp,
                     uint32_t lane);
  /// An asynchronous copy begins, and has been waited for: by its own thread,
  /// or by whoever sees `agent`.
  const char *beginCopy(uint32_t offset, uint32_t bytes, uint32_t warp,
                        uint32_t lane);
  void endCopy(uint32_t offset, uint32_t bytes, uint32_t agent, uint32_t lane);
  /// The same by the asynchronous proxy, which sees what was fenced.
  const char *checkBulkCopy(uint32_t offset, uint32_t bytes, uint32_t warp,
                            uint32_t lane);
  void beginBulkCopy(uint32_t offset, uint32_t bytes);
  /// The asynchronous proxy reads from now on, until `warp`, or a lane of it,
  /// has waited.
  const char *beginBulkRead(uint32_t offset, uint32_t bytes, uint32_t warp);
  void endBulkRead(uint32_t offset, uint32_t bytes, uint32_t warp,
                   uint32_t lane);
  /// These words are a barrier from now on, or no longer.
  const char *setBarrier(uint32_t offset, bool isOne, uint32_t warp,
                         uint32_t lane, Access &access);
  bool comesAfter(const Access &access, uint32_t warp, uint32_t lane) const {
    return isBefore(access, warp, lane);
  }
  bool isFenced(const Access &access, uint32_t warp) const {
    return access.agent == bulkAgent ||
           access.clock <= views[warp].fenced[access.agent];
  }

  /// All warps of `mask` have met.
  void meet(uint32_t mask);
  /// The lanes of one warp have met.
  void meetLanes(uint32_t warp) {
    tick(warp);
    met[warp] = views[warp].seen[warp];
  }
  /// What these lanes of a warp have done becomes a part of `to`.
  void release(uint32_t warp, uint32_t lanes, bool areAll, View &to);
  void acquire(uint32_t warp, const View &from);
  /// What a warp comes after, the asynchronous proxy does too.
  void fenceProxy(uint32_t warp);
  /// Copies that end from now on are later than those that have ended.
  void tickAgent(uint32_t agent, View &to) {
    to.seen[agent] = std::max(to.seen[agent], agentClocks[agent - bulkAgent]);
    newest = std::max(newest, ++agentClocks[agent - bulkAgent]);
  }

private:
  void tick(uint32_t warp) {
    newest = std::max(newest, ++views[warp].seen[warp]);
  }
  bool isBefore(const Access &access, uint32_t warp, uint32_t lane) const {
    const View &view = views[warp];
    if (access.agent == warp)
      return access.lane == lane || access.clock < met[warp];
    if (access.clock <= view.seen[access.agent])
      return true;
    if (access.agent >= bulkAgent)
      return false;
    const View::Lone &lone = view.lone[access.agent];
    return lone.lane == access.lane && access.clock <= lone.clock;
  }
  const char *check(uint32_t word, uint32_t bytes, uint32_t warp, uint32_t lane,
                    bool isWrite, bool isAtomic = false);

  uint32_t warpCount = 0;
  View views[32];
  /// The clock when the lanes of a warp last met.
  uint32_t met[32] = {};
  uint32_t agentClocks[2] = {};
  std::vector<Access> writes;
  /// The last read of each warp.
  std::vector<Access> reads;
  /// Copies on their way, reads by the asynchronous proxy.
  std::vector<uint16_t> copies, bulkReads;
  std::vector<uint8_t> barriers;
  uint32_t newest = 1;
};

} // namespace alula::ptx

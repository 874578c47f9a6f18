// Barriers, and what lanes tell each other.

#include "runtime/device/cuda/emulator/decode.h"
#include "runtime/device/cuda/emulator/machine.h"

#include <algorithm>
#include <cstring>

namespace alula::ptx {
namespace {

/// The lanes that take part must all be here; those that are wait for the rest.
bool areHere(Warp &warp, uint32_t wanted, uint32_t mask, const char *what) {
  uint32_t missing = wanted & warp.live & ~mask;
  if (!missing)
    return true;
  if (warp.park(mask))
    return false;
  warp.fail(FaultKind::divergence, uint32_t(__builtin_ctz(mask)),
            "%s of lanes %#x, of which %#x are elsewhere", what, wanted,
            missing);
  return false;
}

/// operands: -, number, threads, predicate. flags: 1 only arrives, 2 reduces;
/// mode: 1 and, 2 or, 3 popc; number 1: the predicate is negated.
void barrier(Warp &warp, const Instruction &i, uint32_t mask) {
  if (mask != warp.live && warp.park(mask))
    return;
  if (mask != warp.live)
    return warp.fail(FaultKind::divergence, uint32_t(__builtin_ctz(mask)),
                     "a barrier of lanes %#x while %#x are elsewhere", mask,
                     warp.live & ~mask);
  uint32_t first = uint32_t(__builtin_ctz(mask));
  uint32_t number = warp.get<uint32_t>(i.operands[1])[first];
  uint32_t threads =
      i.operands[2].bytes ? warp.get<uint32_t>(i.operands[2])[first] : 0;
  if (number > 15 || threads % 32)
    return warp.fail(FaultKind::invalid, first, "barrier %u of %u threads",
                     number, threads);
  if (i.flags & 2) {
    Barrier &shared = warp.block->barriers[number];
    uint32_t votes = warp.predicate(i.operands[3]);
    if (i.number)
      votes = ~votes;
    votes &= mask;
    shared.all &= votes == mask;
    shared.any |= votes != 0;
    shared.count += uint32_t(__builtin_popcount(votes));
    warp.reduction = &i;
    warp.reductionMask = mask;
  }
  warp.block->arrive(warp, number, threads, !(i.flags & 1));
}

void meetLanes(Warp &warp, const Instruction &i, uint32_t mask) {
  uint32_t wanted = warp.get<uint32_t>(i.operands[0])[__builtin_ctz(mask)];
  if (areHere(warp, wanted, mask, "bar.warp.sync"))
    warp.block->shadow.meetLanes(warp.number);
}

/// mode: 0 up, 1 down, 2 bfly, 3 idx; operands: to, value, lane, clamp, members
void shuffle(Warp &warp, const Instruction &i, uint32_t mask) {
  uint32_t *to = warp.get<uint32_t>(i.operands[0]);
  const uint32_t *b = warp.get<uint32_t>(i.operands[2]),
                 *c = warp.get<uint32_t>(i.operands[3]);
  uint32_t members = warp.get<uint32_t>(i.operands[4])[__builtin_ctz(mask)];
  if (!areHere(warp, members, mask, "shfl.sync"))
    return;
  uint32_t values[32], result[32], inside = 0;
  memcpy(values, warp.get<uint32_t>(i.operands[1]), sizeof values);
  forLanes(mask, [&](uint32_t lane) {
    uint32_t by = b[lane] & 31, clamp = c[lane] & 31,
             segment = c[lane] >> 8 & 31;
    uint32_t most = (lane & segment) | (clamp & ~segment),
             least = lane & segment;
    int32_t from = i.mode == 0   ? int32_t(lane) - int32_t(by)
                   : i.mode == 1 ? int32_t(lane + by)
                   : i.mode == 2 ? int32_t(lane ^ by)
                                 : int32_t(least | (by & ~segment));
    bool isInside = i.mode == 0 ? from >= int32_t(most) : from <= int32_t(most);
    if (!isInside)
      from = int32_t(lane);
    else
      inside |= 1u << lane;
    if (!(mask >> from & 1))
      warp.fail(FaultKind::divergence, lane,
                "shfl.sync from lane %d, which takes no part", from);
    result[lane] = values[from & 31];
  });
  forLanes(mask, [&](uint32_t lane) { to[lane] = result[lane]; });
  if (i.listSizes[0]) {
    uint32_t &predicate =
        warp.predicate(warp.block->launch->module->lists[i.lists[0]]);
    predicate = (predicate & ~mask) | inside;
  }
}

/// mode: 0 all, 1 any, 2 uni, 3 ballot; number 1: negated
void vote(Warp &warp, const Instruction &i, uint32_t mask) {
  uint32_t members = warp.get<uint32_t>(i.operands[2])[__builtin_ctz(mask)];
  if (!areHere(warp, members, mask, "vote.sync"))
    return;
  uint32_t votes = i.operands[1].isConstant
                       ? (*warp.get<uint32_t>(i.operands[1]) ? UINT32_MAX : 0)
                       : warp.predicate(i.operands[1]);
  if (i.number)
    votes = ~votes;
  votes &= mask;
  if (i.mode == 3) {
    uint32_t *to = warp.get<uint32_t>(i.operands[0]);
    forLanes(mask, [&](uint32_t lane) { to[lane] = votes; });
    return;
  }
  bool holds = i.mode == 0   ? votes == mask
               : i.mode == 1 ? votes != 0
                             : votes == mask || !votes;
  uint32_t &to = warp.predicate(i.operands[0]);
  to = (to & ~mask) | (holds ? mask : 0);
}

template <class T> void match(Warp &warp, const Instruction &i, uint32_t mask) {
  uint32_t members = warp.get<uint32_t>(i.operands[2])[__builtin_ctz(mask)];
  if (!areHere(warp, members, mask, "match.sync"))
    return;
  const T *a = warp.get<T>(i.operands[1]);
  uint32_t *to = warp.get<uint32_t>(i.operands[0]);
  uint32_t same[32] = {};
  forLanes(mask, [&](uint32_t lane) {
    forLanes(mask, [&](uint32_t other) {
      same[lane] |= uint32_t(a[lane] == a[other]) << other;
    });
  });
  bool areAll = true;
  forLanes(mask, [&](uint32_t lane) { areAll &= same[lane] == mask; });
  forLanes(mask, [&](uint32_t lane) {
    to[lane] = i.mode ? (areAll ? mask : 0) : same[lane];
  });
  if (i.listSizes[0]) {
    uint32_t &predicate =
        warp.predicate(warp.block->launch->module->lists[i.lists[0]]);
    predicate = (predicate & ~mask) | (areAll ? mask : 0);
  }
}

/// mode: 0 add, 1 min, 2 max, 3 and, 4 or, 5 xor; flags 1: signed
void reduce(Warp &warp, const Instruction &i, uint32_t mask) {
  uint32_t members = warp.get<uint32_t>(i.operands[2])[__builtin_ctz(mask)];
  if (!areHere(warp, members, mask, "redux.sync"))
    return;
  const uint32_t *a = warp.get<uint32_t>(i.operands[1]);
  uint32_t result = a[__builtin_ctz(mask)];
  forLanes(mask & (mask - 1), [&](uint32_t lane) {
    uint32_t b = a[lane];
    bool isLess = i.flags & 1 ? int32_t(b) < int32_t(result) : b < result;
    switch (i.mode) {
    case 0:
      result += b;
      break;
    case 1:
      result = isLess ? b : result;
      break;
    case 2:
      result = isLess ? result : b;
      break;
    case 3:
      result &= b;
      break;
    case 4:
      result |= b;
      break;
    default:
      result ^= b;
      break;
    }
  });
  uint32_t *to = warp.get<uint32_t>(i.operands[0]);
  forLanes(mask, [&](uint32_t lane) { to[lane] = result; });
}

void getActive(Warp &warp, const Instruction &i, uint32_t mask) {
  uint32_t *to = warp.get<uint32_t>(i.operands[0]);
  forLanes(mask, [&](uint32_t lane) { to[lane] = mask; });
}
} // namespace

void decodeExchange(Decoding &decoding, const Statement &s, Instruction &i) {
  std::string_view name = s.opcode[0];
  const Type u32 = {Type::uint, 32}, pred = {Type::pred, 1};
  const std::vector<Written> &written = s.operands;
  auto index = [&](std::initializer_list<std::string_view> names) {
    uint32_t at = 0;
    for (std::string_view each : names) {
      if (s.has(each))
        return at;
      ++at;
    }
    return at;
  };
  if (name == "nanosleep" || name == "brkpt" || name == "griddepcontrol") {
    i.run = runNothing;
    return;
  }
  if ((name == "bar" && s.has("warp"))) {
    if (written.size() != 1)
      return decoding.fail("bar.warp.sync has a mask");
    i.operands[0] = decoding.operand(written[0], u32);
    i.run = meetLanes;
    return;
  }
  if (name == "bar" || name == "barrier") {
    bool reduces = s.has("red"), arrives = s.has("arrive");
    if (s.has("cluster"))
      return;
    if (!reduces && !arrives && !s.has("sync"))
      return;
    i.flags = (arrives ? 1 : 0) | (reduces ? 2 : 0);
    size_t at = 0;
    if (reduces) {
      i.mode = 1 + index({"and", "or", "popc"});
      i.operands[0] =
          decoding.operand(written.at(at++), i.mode == 3 ? u32 : pred);
    }
    if (at >= written.size())
      return decoding.fail("a barrier has a number");
    i.operands[1] = decoding.operand(written[at++], u32);
    size_t rest = written.size() - at - reduces;
    if (rest > 1)
      return decoding.fail("a barrier has a number and a count");
    if (rest)
      i.operands[2] = decoding.operand(written[at++], u32);
    if (reduces) {
      i.operands[3] = decoding.operand(written.at(at), pred);
      i.number = written[at].isNegated;
    }
    i.run = barrier;
    return;
  }
  if (name == "shfl") {
    if (!s.has("sync") || written.size() != 5)
      return decoding.fail("shfl.sync has 5 operands");
    i.mode = index({"up", "down", "bfly", "idx"});
    i.operands[0] = decoding.operand(written[0], u32);
    if (!written[0].second.empty()) {
      Written second;
      second.text = written[0].second;
      decoding.list(i, 0, second, pred, false);
    }
    for (unsigned k = 1; k < 5; ++k)
      i.operands[k] = decoding.operand(written[k], u32);
    i.run = shuffle;
    return;
  }
  if (name == "vote") {
    if (!s.has("sync") || written.size() != 3)
      return decoding.fail("vote.sync has 3 operands");
    i.mode = index({"all", "any", "uni", "ballot"});
    i.operands[0] = decoding.operand(written[0], i.mode == 3 ? u32 : pred);
    i.operands[1] = decoding.anyWidth(written[1].text, pred);
    i.number = written[1].isNegated;
    i.operands[2] = decoding.operand(written[2], u32);
    i.run = vote;
    return;
  }
  if (name == "match" && written.size() == 3) {
    Type type = readType(s.opcode.back());
    i.mode = s.has("all");
    i.operands[0] = decoding.operand(written[0], u32);
    if (!written[0].second.empty()) {
      Written second;
      second.text = written[0].second;
      decoding.list(i, 0, second, pred, false);
    }
    i.operands[1] = decoding.operand(written[1], type);
    i.operands[2] = decoding.operand(written[2], u32);
    i.run = type.size == 64 ? match<uint64_t> : match<uint32_t>;
    return;
  }
  if (name == "redux" && written.size() == 3) {
    i.mode = index({"add", "min", "max", "and", "or", "xor"});
    i.flags = readType(s.opcode.back()).kind == Type::sint;
    for (unsigned k = 0; k < 3; ++k)
      i.operands[k] = decoding.operand(written[k], u32);
    i.run = reduce;
    return;
  }
  if (name == "activemask" && written.size() == 1) {
    i.operands[0] = decoding.operand(written[0], u32);
    i.run = getActive;
  }
}

} // namespace alula::ptx

#include "compiler/partition/propagation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

#include <tuple>

using namespace mlir;
using namespace alula::partition;

Spans Slot::getAllowed(size_t dim, ArrayRef<Span> extra, int64_t size,
                       bool mayPad) const {
  if (isClosed[dim])
    return {};
  Spans used = sharding.getSplitting();
  used.append(sharding.unreduced.begin(), sharding.unreduced.end());
  used.append(forbidden.begin(), forbidden.end());
  for (const Later &hidden : later) {
    if (hidden.dim == dim)
      return {};
    used.append(hidden.spans.begin(), hidden.spans.end());
  }
  Spans free = cutBefore(extra, used);
  return mayPad ? getPaddablePrefix(free, size) : getDividingPrefix(free, size);
}

Projection alula::partition::project(const Rule &rule,
                                     const TensorFactors &tensor,
                                     const Sharding &sharding) {
  Projection projection;
  for (auto [dim, factors] : llvm::enumerate(tensor)) {
    Spans rest = sharding.dims[dim];
    for (unsigned factor : factors) {
      Spans taken = getFittingPrefix(rest, rule.factors[factor]);
      rest = removePrefix(rest, taken);
      bool isWhole = countShards(taken) == rule.factors[factor].size;
      projection.factors[factor] = std::move(taken);
      // What doesn't divide a factor can't go on in the next one.
      if (!rest.empty() && !isWhole) {
        projection.full.insert(factor);
        break;
      }
    }
  }
  return projection;
}

Sharding
alula::partition::projectBack(const Rule &rule, const TensorFactors &tensor,
                              function_ref<ArrayRef<Span>(unsigned)> spans) {
  Sharding sharding(static_cast<int64_t>(tensor.size()));
  for (auto [dim, factors] : llvm::enumerate(tensor))
    for (unsigned factor : factors) {
      ArrayRef<Span> more = spans(factor);
      append(sharding.dims[dim], more);
      // Behind a factor that is not split to the end pieces would have gaps.
      if (countShards(more) != rule.factors[factor].size)
        break;
    }
  return sharding;
}

unsigned Propagation::addSlot(Slot slot) {
  slots.push_back(std::move(slot));
  parents.push_back(static_cast<unsigned>(parents.size()));
  return parents.back();
}

unsigned Propagation::find(unsigned slot) const {
  while (parents[slot] != slot)
    slot = parents[slot];
  return slot;
}

void Propagation::unite(unsigned a, unsigned b) {
  a = find(a);
  b = find(b);
  if (a == b)
    return;
  // Who knows more stays.
  if (slots[b].isGiven && !slots[a].isGiven)
    std::swap(a, b);
  for (auto [mine, other] :
       llvm::zip_equal(slots[a].sharding.dims, slots[b].sharding.dims))
    if (isPrefix(mine, other) && !slots[a].isGiven)
      mine = other;
  slots[a].forbidden.append(slots[b].forbidden.begin(),
                            slots[b].forbidden.end());
  parents[b] = a;
}

void Propagation::addOp(Rule rule, SmallVector<unsigned> operands,
                        SmallVector<unsigned> results, Eagerness eagerness,
                        bool hasManyUses) {
  Node &node = nodes.emplace_back();
  node.rule = std::move(rule);
  node.operands = std::move(operands);
  node.results = std::move(results);
  node.eagerness = eagerness;
  node.hasManyUses = hasManyUses;
}

void Propagation::addIdentity(unsigned from, unsigned to, bool hasManyUses,
                              bool forward, bool backward) {
  if (from == none || to == none || find(from) == find(to))
    return;
  Rule rule;
  rule.isElementwise = rule.mayPad = true;
  TensorFactors dims;
  for (int64_t size : get(to).type.getShape())
    rule.factors[dims.emplace_back(1, rule.add(size))[0]].mayPad = true;
  rule.operands = {dims};
  rule.results = {dims};
  addOp(std::move(rule), {from}, {to}, Eagerness::First, hasManyUses);
  nodes.back().goesForward = forward;
  nodes.back().goesBackward = backward;
}

void Propagation::addBorder(unsigned outside, unsigned inside,
                            ArrayRef<Span> manual) {
  if (outside == none || inside == none)
    return;
  Node &node = nodes.emplace_back();
  node.isBorder = true;
  node.operands = {outside};
  node.results = {inside};
  node.manual.assign(manual.begin(), manual.end());
}

void Propagation::run() {
  SmallVector<int64_t> priorities;
  for (const Slot &slot : slots)
    for (const Slot::Later &later : slot.later)
      priorities.push_back(later.priority);
  llvm::sort(priorities);
  priorities.erase(llvm::unique(priorities), priorities.end());
  constexpr unsigned levels = 5;
  auto runLevels = [&] {
    for (unsigned level = 0; level < levels; ++level)
      runLevel(level);
  };
  runLevels();
  for (int64_t priority : priorities) {
    for (Slot &slot : slots)
      llvm::erase_if(slot.later, [&](Slot::Later &later) {
        if (later.priority != priority)
          return false;
        slot.sharding.dims[later.dim] = later.spans;
        slot.isClosed[later.dim] = later.isClosed;
        return true;
      });
    runLevels();
  }
}

Propagation::Direction Propagation::getDirection(const Node &node,
                                                 unsigned level) const {
  switch (node.eagerness) {
  case Eagerness::First:
    if (level == 0 && node.hasManyUses)
      return {false, false};
    return {node.goesForward, node.goesBackward};
  case Eagerness::Forward:
    return {true, level >= 2};
  case Eagerness::Ordinary:
    return {level >= 2, level >= 2};
  case Eagerness::Broadcast:
    return {level >= 4, level >= 2};
  }
  llvm_unreachable("every eagerness is listed");
}

void Propagation::runLevel(unsigned level) {
  std::vector<SmallVector<unsigned, 4>> users(slots.size());
  for (auto [number, node] : llvm::enumerate(nodes)) {
    auto add = [&, number = number](unsigned slot) {
      if (slot == none)
        return;
      auto &list = users[find(slot)];
      if (list.empty() || list.back() != number)
        list.push_back(static_cast<unsigned>(number));
    };
    llvm::for_each(node.operands, add);
    llvm::for_each(node.results, add);
  }
  std::deque<unsigned> queue;
  std::vector<bool> isQueued(nodes.size(), true);
  for (unsigned i = 0; i < nodes.size(); ++i)
    queue.push_back(i);
  SmallVector<unsigned> changed;
  while (!queue.empty()) {
    unsigned number = queue.front();
    queue.pop_front();
    isQueued[number] = false;
    changed.clear();
    if (nodes[number].isBorder)
      stepBorder(nodes[number], changed);
    else
      step(nodes[number], level, changed);
    for (unsigned slot : changed)
      for (unsigned user : users[slot])
        if (!isQueued[user]) {
          isQueued[user] = true;
          queue.push_back(user);
        }
  }
}

void Propagation::stepBorder(const Node &node,
                             SmallVectorImpl<unsigned> &changed) {
  unsigned outside = find(node.operands[0]), inside = find(node.results[0]);
  Slot &outer = slots[outside], &inner = slots[inside];
  for (size_t dim = 0; dim < outer.sharding.dims.size(); ++dim) {
    // The digits that are handled inside come first.
    Spans &out = outer.sharding.dims[dim], &in = inner.sharding.dims[dim];
    Spans free;
    for (Span span : out) {
      Spans rest = subtract({span}, node.manual);
      free.append(rest.begin(), rest.end());
    }
    if (isPrefix(in, free) && in != free) {
      Spans more =
          inner.getAllowed(dim, removePrefix(free, in),
                           inner.type.getShape()[dim] / countShards(in));
      if (!more.empty()) {
        append(in, more);
        changed.push_back(inside);
      }
    } else if (isPrefix(free, in) && in != free) {
      Spans more =
          outer.getAllowed(dim, removePrefix(in, free),
                           outer.type.getShape()[dim] / countShards(out));
      if (!more.empty()) {
        append(out, more);
        changed.push_back(outside);
      }
    }
  }
}

namespace {
/// One tensor of an op.
struct Tensor {
  unsigned slot;
  const TensorFactors *factors;
  Projection projection;
  bool isOperand;
  bool mayChange;
};

struct Candidate {
  unsigned factor;
  Spans spans;
  int64_t size, shards;
  size_t tensor;
};
} // namespace

bool Propagation::step(const Node &node, unsigned level,
                       SmallVectorImpl<unsigned> &changed) {
  Direction direction = getDirection(node, level);
  if (!direction.forward && !direction.backward)
    return false;
  SmallVector<Tensor, 4> tensors;
  auto add = [&](ArrayRef<unsigned> numbers, ArrayRef<TensorFactors> factors,
                 bool isOperand) {
    for (auto [number, tensor] : llvm::zip_equal(numbers, factors)) {
      if (number == none || tensor.empty())
        continue;
      unsigned slot = find(number);
      tensors.push_back(
          {slot, &tensor, project(node.rule, tensor, slots[slot].sharding),
           isOperand, isOperand ? direction.backward : direction.forward});
    }
  };
  add(node.operands, node.rule.operands, true);
  add(node.results, node.rule.results, false);

  // For each factor the longest list that all agree with.
  SmallVector<Candidate> candidates;
  for (unsigned factor = 0; factor < node.rule.factors.size(); ++factor) {
    // What an op needs whole may lie in pieces before it, and after it.
    if (node.rule.factors[factor].kind != FactorKind::Pass && level == 2)
      continue;
    Candidate candidate{factor, {}, 0, 0, 0};
    bool isFrozen = false;
    for (auto [i, tensor] : llvm::enumerate(tensors)) {
      auto found = tensor.projection.factors.find(factor);
      if (found == tensor.projection.factors.end())
        continue;
      Spans common = getCommonPrefix(candidate.spans, found->second);
      if (common == candidate.spans) {
        bool mayGive =
            tensor.isOperand ? direction.forward : direction.backward;
        if (!isFrozen && mayGive && found->second != candidate.spans) {
          candidate.spans = found->second;
          candidate.tensor = i;
        }
      } else if (common != found->second) {
        candidate.spans = common;
        isFrozen = true;
      }
    }
    if (candidate.spans.empty())
      continue;
    for (const Tensor &tensor : tensors) {
      auto found = tensor.projection.factors.find(factor);
      if (found != tensor.projection.factors.end() &&
          isPrefix(candidate.spans, found->second))
        candidate.size =
            std::max(candidate.size, slots[tensor.slot].type.getNumElements());
    }
    candidate.shards = countShards(candidate.spans);
    candidates.push_back(std::move(candidate));
  }
  // Where factors want the same digits the first one gets them.
  bool isElementwise = node.rule.isElementwise;
  llvm::sort(candidates, [&](const Candidate &a, const Candidate &b) {
    auto key = [&](const Candidate &c) {
      return std::tuple(-c.size, isElementwise ? -c.shards : 0, c.tensor,
                        c.factor);
    };
    return key(a) < key(b);
  });

  for (bool isOperand : {false, true})
    for (Tensor &tensor : tensors) {
      if (tensor.isOperand != isOperand || !tensor.mayChange)
        continue;
      Slot &slot = slots[tensor.slot];
      bool hasChanged = false;
      for (Candidate &candidate : candidates)
        for (auto [dim, factors] : llvm::enumerate(*tensor.factors)) {
          if (!llvm::is_contained(factors, candidate.factor))
            continue;
          Spans &have = tensor.projection.factors[candidate.factor];
          if (!isPrefix(have, candidate.spans) || have == candidate.spans ||
              tensor.projection.full.contains(candidate.factor))
            continue;
          // Only the last factor of what is split may be split further.
          bool isBehind = false, isLast = true;
          for (unsigned factor : factors) {
            const Spans &other = tensor.projection.factors[factor];
            if (factor == candidate.factor)
              isBehind = true;
            else if (isBehind && !other.empty())
              isLast = false;
            else if (!isBehind &&
                     countShards(other) != node.rule.factors[factor].size)
              isLast = false;
          }
          if (!isLast)
            continue;
          Spans more = slot.getAllowed(
              dim, removePrefix(candidate.spans, have),
              node.rule.factors[candidate.factor].size / countShards(have),
              node.rule.factors[candidate.factor].mayPad);
          if (more.empty())
            continue;
          append(have, more);
          append(slot.sharding.dims[dim], more);
          hasChanged = true;
        }
      if (hasChanged)
        changed.push_back(tensor.slot);
      // Operands don't go where the result can't follow.
      if (isElementwise && !isOperand)
        for (Candidate &candidate : candidates) {
          auto found = tensor.projection.factors.find(candidate.factor);
          if (found != tensor.projection.factors.end())
            candidate.spans = getCommonPrefix(candidate.spans, found->second);
        }
    }
  return !changed.empty();
}

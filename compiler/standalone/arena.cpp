// The schedule has placed values; scratch of kernels, which a runtime has for
// each of its threads, goes to the gaps that are there while they run. If all
// of it placed anew takes less, that is the plan: each slot is a memory of its
// own, which may lie anywhere.

#include "compiler/standalone/arena.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

#include <map>

using namespace mlir;
using namespace alula::dispatch;
using namespace alula::standalone;

namespace {
using Interval = std::pair<uint64_t, uint64_t>;

/// The op of the function's own block that `op` is in.
Operation *findStep(Operation *op, Block &block) {
  while (op->getBlock() != &block)
    op = op->getParentOp();
  return op;
}

/// Sorted, and none touches the next.
std::vector<Interval> unite(std::vector<Interval> intervals) {
  llvm::sort(intervals);
  std::vector<Interval> all;
  for (Interval each : intervals)
    if (!all.empty() && each.first <= all.back().second)
      all.back().second = std::max(all.back().second, each.second);
    else
      all.push_back(each);
  return all;
}

class Planner {
public:
  Planner(func::FuncOp function, uint64_t alignment)
      : block(function.front()), alignment(alignment) {
    int64_t count = 0;
    for (Operation &op : block)
      steps[&op] = count++;
    function.walk([&](SlotOp slot) {
      if (slot.getKind() == SlotKind::Arena && slot.getBytes())
        addSlot(slot);
    });
  }

  Arena run(func::FuncOp function,
            llvm::function_ref<uint64_t(Operation *)> getNeed) {
    function.walk([&](Operation *op) {
      if (!isa<RunOp, alula::dispatch::CallOp>(op))
        return;
      uint64_t need = llvm::alignTo(getNeed(op), alignment);
      if (!need)
        return;
      Operation *step = findStep(op, block);
      // Those of one step run one after the other.
      Need &own = needs[steps[step]];
      own.bytes = std::max(own.bytes, need);
      own.ops.push_back(op);
      if (auto kernel = dyn_cast<RunOp>(op))
        own.name = "scratch of " +
                   kernel.getEntry().getLeafReference().getValue().str();
      else
        own.name = "arena of a function";
    });
    for (auto &[step, need] : needs)
      add({need.name, findGap(step, need.bytes), need.bytes, step, step},
          need.ops);
    uint64_t lowerBound = getPeak();
    for (auto isBefore : {isLarger, isEarlier}) {
      std::vector<uint64_t> offsets = placeAnew(isBefore);
      if (getEnd(offsets) >= getEnd(getOffsets()))
        continue;
      for (auto [piece, offset] : llvm::zip_equal(pieces, offsets))
        piece.offset = offset;
    }
    Arena arena;
    arena.bytes = getEnd(getOffsets());
    arena.lowerBound = lowerBound;
    for (auto [piece, ops] : llvm::zip_equal(pieces, owners))
      for (Operation *op : ops)
        arena.places[op] = piece.offset;
    arena.pieces = std::move(pieces);
    return arena;
  }

private:
  struct Need {
    uint64_t bytes = 0;
    std::string name;
    SmallVector<Operation *> ops;
  };

  void addSlot(SlotOp slot) {
    int64_t first = INT64_MAX, last = -1;
    // After a swap the one names what the other did.
    llvm::SetVector<Value> slots;
    slots.insert(slot);
    for (size_t i = 0; i < slots.size(); ++i)
      for (Operation *user : slots[i].getUsers()) {
        int64_t step = steps[findStep(user, block)];
        first = std::min(first, step);
        last = std::max(last, step);
        if (isa<SwapOp>(user))
          slots.insert(user->operand_begin(), user->operand_end());
      }
    if (last < 0)
      return;
    auto offset = static_cast<uint64_t>(slot.getNumber());
    auto bytes =
        llvm::alignTo(static_cast<uint64_t>(slot.getBytes()), alignment);
    add({"value", offset, bytes, first, last}, {slot});
  }

  void add(Piece piece, ArrayRef<Operation *> ops) {
    pieces.push_back(std::move(piece));
    owners.emplace_back(ops);
  }

  std::vector<Interval> getLive(int64_t step) const {
    std::vector<Interval> live;
    for (const Piece &piece : pieces)
      if (piece.first <= step && step <= piece.last)
        live.push_back({piece.offset, piece.offset + piece.bytes});
    return unite(std::move(live));
  }

  /// The lowest offset where so many bytes are free at a step.
  uint64_t findGap(int64_t step, uint64_t bytes) const {
    uint64_t offset = 0;
    for (auto [begin, end] : getLive(step)) {
      if (offset + bytes <= begin)
        break;
      offset = std::max(offset, llvm::alignTo(end, alignment));
    }
    return offset;
  }

  std::vector<uint64_t> getOffsets() const {
    std::vector<uint64_t> offsets;
    for (const Piece &piece : pieces)
      offsets.push_back(piece.offset);
    return offsets;
  }

  uint64_t getEnd(const std::vector<uint64_t> &offsets) const {
    uint64_t end = 0;
    for (auto [piece, offset] : llvm::zip_equal(pieces, offsets))
      end = std::max(end, offset + piece.bytes);
    return end;
  }

  uint64_t getPeak() const {
    uint64_t peak = 0;
    for (const Piece &piece : pieces) {
      uint64_t live = 0;
      for (auto [begin, end] : getLive(piece.first))
        live += end - begin;
      peak = std::max(peak, live);
    }
    return peak;
  }

  static bool isLarger(const Piece &a, const Piece &b) {
    return a.bytes > b.bytes;
  }
  static bool isEarlier(const Piece &a, const Piece &b) {
    return a.first < b.first || (a.first == b.first && a.bytes > b.bytes);
  }

  /// One after the other, each at the lowest offset where nothing is that lives
  /// at the same time.
  std::vector<uint64_t> placeAnew(bool (*isBefore)(const Piece &,
                                                   const Piece &)) const {
    std::vector<size_t> order(pieces.size());
    for (size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    llvm::sort(order, [&](size_t a, size_t b) {
      if (isBefore(pieces[a], pieces[b]) != isBefore(pieces[b], pieces[a]))
        return isBefore(pieces[a], pieces[b]);
      return a < b;
    });
    std::vector<uint64_t> offsets(pieces.size());
    std::vector<size_t> placed;
    for (size_t each : order) {
      std::vector<Interval> taken;
      for (size_t other : placed)
        if (pieces[other].first <= pieces[each].last &&
            pieces[each].first <= pieces[other].last)
          taken.push_back(
              {offsets[other], offsets[other] + pieces[other].bytes});
      for (auto [begin, end] : unite(std::move(taken))) {
        if (offsets[each] + pieces[each].bytes <= begin)
          break;
        offsets[each] = std::max(offsets[each], llvm::alignTo(end, alignment));
      }
      placed.push_back(each);
    }
    return offsets;
  }

  Block &block;
  uint64_t alignment;
  DenseMap<Operation *, int64_t> steps;
  std::map<int64_t, Need> needs;
  std::vector<Piece> pieces;
  /// The slots and calls whose memory a piece is.
  std::vector<SmallVector<Operation *>> owners;
};
} // namespace

Arena alula::standalone::planArena(
    func::FuncOp function, uint64_t alignment,
    llvm::function_ref<uint64_t(Operation *)> getNeed) {
  return Planner(function, alignment).run(function, getNeed);
}

std::string alula::standalone::describePeak(const Function &function) {
  uint64_t most = 0;
  std::string text;
  for (const Piece &at : function.pieces) {
    std::vector<Interval> live;
    std::string pieces;
    for (const Piece &piece : function.pieces)
      if (piece.first <= at.first && at.first <= piece.last) {
        live.push_back({piece.offset, piece.offset + piece.bytes});
        pieces += (pieces.empty() ? "" : ", ") + piece.name + " of " +
                  std::to_string(piece.bytes) + " bytes at " +
                  std::to_string(piece.offset);
      }
    uint64_t bytes = 0;
    for (auto [begin, end] : unite(std::move(live)))
      bytes += end - begin;
    if (bytes > most) {
      most = bytes;
      text = "at step " + std::to_string(at.first) + " live " +
             std::to_string(bytes) + " bytes: " + pieces;
    }
  }
  return text;
}

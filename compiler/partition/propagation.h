// Where no sharding is given, one that asks for little exchange: shardings flow
// along ops, whose rules say which dimensions are split alike.
#pragma once

#include "compiler/partition/rule.h"

#include "llvm/ADT/DenseMap.h"

#include <deque>

namespace alula::partition {

/// What is known of the sharding of one value, or of several that have one.
struct Slot {
  mlir::RankedTensorType type;
  Sharding sharding;
  /// Of each dimension: nothing may be added.
  llvm::SmallVector<bool> isClosed;
  /// Digits that nothing here may be split by.
  Spans forbidden;
  /// Somebody has said it.
  bool isGiven = false;
  /// What is said of dimensions whose turn comes later.
  struct Later {
    size_t dim;
    int64_t priority;
    Spans spans;
    bool isClosed;
  };
  llvm::SmallVector<Later> later;

  Slot() = default;
  explicit Slot(mlir::RankedTensorType type)
      : type(type), sharding(type.getRank()),
        isClosed(static_cast<size_t>(type.getRank()), false) {}

  void setClosed() { isClosed.assign(isClosed.size(), true); }
  /// Of `extra` what may be added to a dimension.
  Spans getAllowed(size_t dim, llvm::ArrayRef<Span> extra, int64_t size,
                   bool mayPad = false) const;
};

/// When an op takes part.
enum class Eagerness : uint8_t { First, Forward, Ordinary, Broadcast };

class Propagation {
public:
  unsigned addSlot(Slot slot);
  /// Both are one from now on.
  void unite(unsigned a, unsigned b);
  Slot &get(unsigned slot) { return slots[find(slot)]; }
  unsigned find(unsigned slot) const;

  static constexpr unsigned none = ~0u;
  /// Slots of operands and results, or `none`.
  void addOp(Rule rule, llvm::SmallVector<unsigned> operands,
             llvm::SmallVector<unsigned> results, Eagerness eagerness,
             bool hasManyUses);
  /// Both are split alike. `forward` and `backward`: which way.
  void addIdentity(unsigned from, unsigned to, bool hasManyUses = false,
                   bool forward = true, bool backward = true);
  /// A value outside of a computation that handles some digits by itself, and
  /// the same inside, where sizes are those of pieces.
  void addBorder(unsigned outside, unsigned inside,
                 llvm::ArrayRef<Span> manual);
  void run();

private:
  struct Node {
    Rule rule;
    llvm::SmallVector<unsigned> operands, results;
    Eagerness eagerness = Eagerness::First;
    bool hasManyUses = false, isBorder = false;
    bool goesForward = true, goesBackward = true;
    Spans manual;
  };
  struct Direction {
    bool forward, backward;
  };
  Direction getDirection(const Node &node, unsigned level) const;
  void runLevel(unsigned level);
  bool step(const Node &node, unsigned level,
            llvm::SmallVectorImpl<unsigned> &changed);
  void stepBorder(const Node &node, llvm::SmallVectorImpl<unsigned> &changed);

  std::deque<Slot> slots;
  std::vector<unsigned> parents;
  std::vector<Node> nodes;
};

/// How the factors of a tensor are split; `overflow` has what no factor could
/// take.
struct Projection {
  /// By the number of the factor.
  llvm::DenseMap<unsigned, Spans> factors;
  llvm::DenseSet<unsigned> full;
};
Projection project(const Rule &rule, const TensorFactors &tensor,
                   const Sharding &sharding);
/// The other way: `spans` by the number of the factor.
Sharding projectBack(const Rule &rule, const TensorFactors &tensor,
                     llvm::function_ref<llvm::ArrayRef<Span>(unsigned)> spans);

} // namespace alula::partition

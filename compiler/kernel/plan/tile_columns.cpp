// Tiles of columns that are reduced together, one accumulator for each.

#include "compiler/kernel/plan/tensors_in_memory.h"
#include "compiler/kernel/plan/tiles.h"
#include "dialect/dispatch/machine.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace alula::kernel;

namespace {
/// The unroll factor over rows, and the most ops that unrolling may give.
constexpr int64_t maxRows = 8, maxOps = 32;

/// The ops that compute an element of `tensor`, up to `limit`.
int64_t countOps(Value tensor, const DenseSet<Operation *> &inlined,
                 int64_t limit) {
  Operation *op = tensor.getDefiningOp();
  if (!op || limit <= 0 || isInMemory(tensor, inlined) ||
      cast<RankedTensorType>(tensor.getType()).getRank() == 0)
    return 0;
  int64_t count = 1;
  for (Value operand : op->getOperands())
    count += countOps(operand, inlined, limit - count);
  return count;
}

int64_t chooseRows(stablehlo::ReduceOp reduce, int64_t terms,
                   const DenseSet<Operation *> &inlined) {
  int64_t ops = 0;
  for (Value input : reduce.getInputs())
    ops += countOps(input, inlined, maxOps);
  for (Operation &op : reduce.getBody().front().without_terminator())
    ops += 1 + static_cast<int64_t>(op.getNumRegions()) * maxOps;
  int64_t rows = std::clamp<int64_t>(
      int64_t(llvm::bit_floor(uint64_t(maxOps / std::max<int64_t>(ops, 1)))), 1,
      maxRows);
  return ShapedType::isDynamic(terms)
             ? rows
             : std::min(rows, std::max<int64_t>(terms, 1));
}
} // namespace

// Whatever lies side by side in memory belongs to one block, up to its width.
SmallVector<int64_t> alula::kernel::chooseTile(stablehlo::ReduceOp reduce,
                                               const TileQuestion &question) {
  auto shape =
      cast<RankedTensorType>(reduce.getInputs()[0].getType()).getShape();
  SmallVector<int64_t> kept, columns;
  for (auto [dim, size] : llvm::enumerate(shape))
    if (!llvm::is_contained(reduce.getDimensions(),
                            static_cast<int64_t>(dim))) {
      kept.push_back(static_cast<int64_t>(dim));
      columns.push_back(size);
    }
  int64_t firstReduced = *llvm::min_element(reduce.getDimensions());
  int64_t lastReduced = *llvm::max_element(reduce.getDimensions());
  size_t numOuter = 0;
  while (kept[numOuter] < firstReduced)
    ++numOuter;
  dispatch::MachineFacts machine = dispatch::getMachine(reduce);
  // Accumulators of a tile stay in L1; tiles are narrower if that gives work to
  // cores until memory bandwidth is the limit. Tiles are aligned to cache
  // lines.
  int64_t blockWidth = machine.l1Bytes / 32, leastWidth = blockWidth / 4;
  int64_t wantedBlocks = machine.getMemoryCores(), unit = machine.lineBytes;
  // Neighbours that are worth a loop of their own.
  int64_t longRun = machine.lineBytes;
  int64_t width = 1;
  size_t cut = kept.size() - 1;
  for (; cut > numOuter; --cut) {
    int64_t size = columns[cut];
    bool isRun = kept[cut - 1] + 1 == kept[cut];
    if (ShapedType::isDynamic(size) || width * size >= blockWidth ||
        (!isRun && width * size >= longRun))
      break;
    width *= std::max<int64_t>(size, 1);
  }
  int64_t most = std::max<int64_t>(blockWidth / width, 1), length = most;
  int64_t size = columns[cut];
  if (!ShapedType::isDynamic(size)) {
    auto others = multiply(ArrayRef(columns).take_front(cut));
    int64_t parts = llvm::divideCeil(
        wantedBlocks,
        std::max<int64_t>(others.value_or(wantedBlocks), 1));
    int64_t least = std::max<int64_t>(leastWidth / width, 1);
    length = std::clamp<int64_t>(llvm::divideCeil(size, parts), least,
                                 std::max(most, least));
    if (width == 1)
      length = static_cast<int64_t>(
          llvm::alignTo(uint64_t(length), uint64_t(unit)));
    length = std::min(length, size);
  }
  // Nothing is still a tile.
  SmallVector<int64_t> tile{std::max<int64_t>(length, 1)};
  for (int64_t whole : ArrayRef(columns).drop_front(cut + 1))
    tile.push_back(std::max<int64_t>(whole, 1));
  tile.push_back(chooseRows(reduce, shape[static_cast<size_t>(lastReduced)],
                            question.inlined));
  return tile;
}

#include "compiler/target/cuda/kernel/group_product.h"

#include "compiler/kernel/neighbours.h"
#include "compiler/target/cuda/kernel/depth_parts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace alula::cuda;

namespace {
/// Two warpgroups multiply, one copies. Their ring and barriers need so much
/// memory, which only devices with warpgroups' products have.
constexpr int64_t memoryBytes = 193 << 10;
constexpr ProductTile wideTile = {128, 256, 3 * 128, 8, 4, "group", "_256"},
                      narrowTile = {128, 128, 3 * 128, 8, 4, "group", "_128"};
/// Less fills no tile, or is over before its stages are full.
constexpr int64_t leastSize = 64, leastSteps = 1 << 20;
} // namespace

std::optional<ProductTile>
alula::cuda::findGroupTile(kernel::Lowering &lowering, Type element,
                           const GroupSizes &sizes) {
  if (lowering.machine.sharedBytes < memoryBytes ||
      !(element.isBF16() || element.isF16()) || !sizes.areLinesAligned ||
      // Workgroups have other threads: it is a launch of its own.
      !DepthParts::mayBeUsed(lowering) || sizes.rows < leastSize ||
      sizes.columns < leastSize || sizes.depth < leastSize ||
      sizes.rows * sizes.columns < leastSteps / sizes.depth)
    return std::nullopt;
  // By how long the busiest core computes; the wider one loads less for what it
  // does.
  auto getTime = [&](const ProductTile &tile) {
    uint64_t tiles = llvm::divideCeil(sizes.rows, tile.rows) *
                     llvm::divideCeil(sizes.columns, tile.columns) *
                     sizes.batches;
    return llvm::divideCeil(tiles,
                            static_cast<uint64_t>(lowering.machine.cores)) *
           tile.columns;
  };
  return 8 * getTime(wideTile) <= 9 * getTime(narrowTile) ? wideTile
                                                          : narrowTile;
}

std::pair<Value, Value> alula::cuda::orderTiles(kernel::Lowering &lowering,
                                                const ProductTile &tile,
                                                ValueRange place, int64_t rows,
                                                int64_t columns) {
  if (tile.together == 1)
    return {place[0], place[1]};
  OpBuilder &b = lowering.b;
  Location location = lowering.b.getLoc();
  auto divide = [&](Value a, Value by) {
    return std::pair<Value, Value>(b.create<arith::DivUIOp>(location, a, by),
                                   b.create<arith::RemUIOp>(location, a, by));
  };
  Value number =
      lowering.add(lowering.mul(place[0], lowering.index(columns)), place[1]);
  auto [group, inGroup] =
      divide(number, lowering.index(tile.together * columns));
  Value first = lowering.mul(group, lowering.index(tile.together));
  // Of the last rows there are fewer.
  Value height = lowering.index(tile.together);
  if (rows % tile.together)
    height = lowering.min(lowering.sub(lowering.index(rows), first), height);
  auto [column, row] = divide(inGroup, height);
  return {lowering.add(first, row), column};
}

void alula::cuda::joinNeighbours(const ProductTile &tile, Operation &op) {
  auto loop = dyn_cast<scf::ParallelOp>(op);
  if (tile.neighbours == 1 || !loop)
    return;
  bool isPlain = llvm::none_of(*loop.getBody(), [](Operation &inner) {
    return inner.getNumRegions() || isa<memref::AllocOp>(inner);
  });
  if (isPlain)
    kernel::setTogether(loop, tile.neighbours);
}

// Temporaries, and the order in which memory is written.

#include "compiler/target/cpu/kernel/memory.h"

#include "compiler/target/cpu/kernel/transposed_copy.h"

#include "dialect/stablehlo/element_rules.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;
using alula::plan::Way;

Value CpuMemory::allocate(ValueRange sizes, Type memoryType) {
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamic;
  for (Value size : sizes) {
    std::optional<int64_t> constant = getConstantIntValue(size);
    shape.push_back(constant ? *constant : ShapedType::kDynamic);
    if (!constant)
      dynamic.push_back(size);
  }
  return lowering.b.create<memref::AllocOp>(MemRefType::get(shape, memoryType),
                                            dynamic);
}

void CpuMemory::fill(ArrayRef<Filling> fillings) {
  auto isInlined = [&](Value tensor) { return lowering.isInlined(tensor); };
  auto isInMemory = [&](Value tensor) { return lowering.hasBuffer(tensor); };
  FillQuestion question{isInlined, isInMemory,
                        /*isAlone=*/fillings.size() == 1};
  FillOrder order;
  for (const Filling &filling : fillings)
    if (order.tile.empty())
      order = getFillOrder(filling.tensor, question);
  if (order.way == Way::Blocks || order.way == Way::Strips)
    return fillTransposed(fillings.front(), order, lowering);
  SmallVector<Value> sizes = lowering.getShape(fillings.front().tensor);
  if (order.way == Way::Elements && !order.tile.empty())
    return fillUnrolled(fillings, sizes, order.tile);
  auto fillElement = [&](ValueRange indices) {
    SmallVector<Value> elements;
    for (const Filling &filling : fillings)
      elements.push_back(lowering.getElement(filling.tensor, indices));
    for (auto [filling, element] : llvm::zip_equal(fillings, elements))
      lowering.store(element, getElementType(filling.tensor), filling.buffer,
                     indices);
  };
  if (order.tile.empty())
    if (std::set<int64_t> seams = findSeams(fillings); !seams.empty())
      return forEachBetween(seams, sizes, fillElement);
  // What is read across its rows lies along them in a tile.
  llvm::SetVector<Operation *> crossed;
  if (order.way == Way::Tiles)
    for (const Filling &filling : fillings)
      for (stablehlo::TransposeOp transpose :
           findCrossed(filling.tensor, question))
        if (order.tile[getCrossedDim(transpose)] > 1)
          crossed.insert(transpose);
  auto copyCrossed = [&](ValueRange first, ValueRange count) {
    for (Operation *op : crossed)
      copyTile(cast<stablehlo::TransposeOp>(op), first, count, order.tile,
               lowering);
  };
  forEachInTiles(sizes, order.tile, copyCrossed, fillElement);
}

/// Where the last dimension goes from one piece of an inlined concatenation to
/// the next.
std::set<int64_t> CpuMemory::findSeams(ArrayRef<Filling> fillings) {
  std::set<int64_t> seams;
  SmallVector<Value> open;
  DenseSet<Value> seen;
  for (const Filling &filling : fillings)
    open.push_back(filling.tensor);
  while (!open.empty()) {
    Value tensor = open.pop_back_val();
    Operation *op = tensor.getDefiningOp();
    if (!op || !seen.insert(tensor).second || !lowering.isInlined(tensor))
      continue;
    if (stablehlo::isElementwise(op))
      llvm::append_range(open, op->getOperands());
    auto concatenate = dyn_cast<stablehlo::ConcatenateOp>(op);
    auto type = dyn_cast<RankedTensorType>(tensor.getType());
    if (!concatenate || !type || !type.hasStaticShape() ||
        static_cast<int64_t>(concatenate.getDimension()) + 1 != type.getRank())
      continue;
    int64_t seam = 0;
    for (Value piece : concatenate.getInputs().drop_back()) {
      seam += cast<RankedTensorType>(piece.getType()).getShape().back();
      if (seam > 0 && seam < type.getShape().back())
        seams.insert(seam);
    }
  }
  return seams;
}

/// Loops over the last dimension that end at seams: each knows its pieces.
void CpuMemory::forEachBetween(const std::set<int64_t> &seams, ValueRange sizes,
                               Loops::Body body) {
  lowering.forEach(sizes.drop_back(), [&](ValueRange outer) {
    int64_t begin = 0;
    auto fillUntil = [&](Value end) {
      Value first = lowering.index(begin);
      lowering.forEach(lowering.sub(end, first), [&](ValueRange inside) {
        SmallVector<Value> indices(outer);
        indices.push_back(lowering.add(inside[0], first));
        body(indices);
      });
    };
    for (int64_t seam : seams) {
      fillUntil(lowering.index(seam));
      begin = seam;
    }
    fillUntil(sizes.back());
  });
}

void CpuMemory::fillUnrolled(ArrayRef<Filling> fillings, ValueRange sizes,
                             ArrayRef<int64_t> tile) {
  SmallVector<Value> outer(sizes);
  for (auto [dim, size] : llvm::enumerate(tile))
    if (size > 1)
      outer[dim] = lowering.index(1);
  int64_t count = ShapedType::getNumElements(tile);
  lowering.forEach(outer, [&](ValueRange first) {
    // What several elements are made of is computed once, before any is
    // written.
    SmallVector<SmallVector<Value>> places, elements;
    for (int64_t number = 0; number < count; ++number) {
      SmallVector<Value> indices(first);
      int64_t rest = number;
      for (size_t dim = tile.size(); dim-- > 0; rest /= tile[dim])
        if (tile[dim] > 1)
          indices[dim] = lowering.index(rest % tile[dim]);
      elements.emplace_back();
      for (const Filling &filling : fillings)
        elements.back().push_back(lowering.getElement(filling.tensor, indices));
      places.push_back(std::move(indices));
    }
    for (auto [at, values] : llvm::zip_equal(places, elements))
      for (auto [filling, element] : llvm::zip_equal(fillings, values))
        lowering.store(element, getElementType(filling.tensor), filling.buffer,
                       at);
  });
}

void CpuMemory::forEachInTiles(ValueRange sizes, ArrayRef<int64_t> tile,
                               BeginTile begin, Loops::Body body) {
  SmallVector<size_t> cut;
  for (auto [dim, size] : llvm::enumerate(tile))
    if (size > 1)
      cut.push_back(dim);
  if (cut.empty())
    return lowering.forEach(sizes, body);
  SmallVector<Value> grid(sizes);
  for (size_t dim : cut)
    grid[dim] = lowering.ceilDiv(sizes[dim], lowering.index(tile[dim]));
  lowering.forEach(grid, [&](ValueRange number) {
    SmallVector<Value> first(number), all(sizes.size(), lowering.index(1)),
        count;
    for (size_t dim : cut) {
      first[dim] = lowering.mul(number[dim], lowering.index(tile[dim]));
      Value rest = lowering.sub(sizes[dim], first[dim]);
      all[dim] = lowering.min(lowering.index(tile[dim]), rest);
      count.push_back(all[dim]);
    }
    begin(first, all);
    lowering.forEach(count, [&](ValueRange inside) {
      SmallVector<Value> indices(first);
      for (auto [dim, offset] : llvm::zip_equal(cut, inside))
        indices[dim] = lowering.add(first[dim], offset);
      body(indices);
    });
  });
}

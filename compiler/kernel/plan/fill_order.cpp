#include "compiler/kernel/plan/fill_order.h"

#include "compiler/kernel/element/element_form.h"
#include "compiler/kernel/library/transpose.h"
#include "compiler/kernel/plan/plan.h"
#include "compiler/kernel/plan/tensors_in_memory.h"
#include "compiler/kernel/plan/tiles.h"
#include "dialect/dispatch/machine.h"
#include "dialect/dispatch/short_sum.h"
#include "dialect/stablehlo/access.h"
#include "dialect/stablehlo/element_rules.h"
#include "dialect/stablehlo/ops.h"

using namespace mlir;
using namespace alula::kernel;
using alula::plan::Way;

namespace {
/// Of elements that can be moved as numbers; else 0.
unsigned getBits(Type element) {
  auto complex = dyn_cast<ComplexType>(element);
  unsigned bits = complex ? 2 * complex.getElementType().getIntOrFloatBitWidth()
                  : element.isIntOrFloat() ? element.getIntOrFloatBitWidth()
                                           : 0;
  return bits >= 8 && bits <= 128 && llvm::isPowerOf2_32(bits) ? bits : 0;
}

/// What only the call knows may be large.
bool isSmaller(std::optional<int64_t> size, int64_t limit) {
  return size && !ShapedType::isDynamic(*size) && *size < limit;
}

/// Appends those below `tensor`, each once.
void collectCrossed(Value tensor, const FillQuestion &question,
                    llvm::SetVector<Operation *> &found, unsigned depth = 0) {
  constexpr unsigned maxDepth = 8;
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  Operation *op = tensor.getDefiningOp();
  if (depth > maxDepth || !op || !type || type.getRank() < 2 ||
      !question.isInlined(tensor))
    return;
  if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op)) {
    if (getCrossedDim(transpose) + 1 != transpose.getPermutation().size() &&
        getBits(getMemoryType(getElementType(tensor))) &&
        question.isInMemory(transpose.getOperand()))
      found.insert(op);
  } else if (stablehlo::isElementwise(op)) {
    for (Value operand : op->getOperands())
      collectCrossed(operand, question, found, depth + 1);
  }
}

/// Whether elements of a tensor are made of short sums by inlined ops.
bool hasShortSum(Value tensor, const FillQuestion &question,
                 unsigned depth = 0) {
  constexpr unsigned maxDepth = 8;
  Operation *op = tensor.getDefiningOp();
  if (depth > maxDepth || !op || !question.isInlined(tensor))
    return false;
  return alula::dispatch::isShortSum(op) ||
         (stablehlo::isElementwise(op) &&
          llvm::any_of(op->getOperands(), [&](Value operand) {
            return hasShortSum(operand, question, depth + 1);
          }));
}

/// All elements of the last dimensions together; no tile if there is but one.
SmallVector<int64_t> getUnrolledTile(Value tensor) {
  ArrayRef<int64_t> sizes = cast<RankedTensorType>(tensor.getType()).getShape();
  SmallVector<int64_t> tile(sizes.size(), 1);
  for (auto [dim, loop] :
       llvm::enumerate(alula::dispatch::getLoopsOfDims(tensor)))
    if (loop == alula::dispatch::unrolled)
      tile[dim] = sizes[dim];
  return multiply(tile) == 1 ? SmallVector<int64_t>() : tile;
}

/// The transpose that the library can write as a copy; null for other tensors.
stablehlo::TransposeOp findCopy(Value tensor, const FillQuestion &question) {
  auto transpose = tensor.getDefiningOp<stablehlo::TransposeOp>();
  if (!transpose || !question.isAlone ||
      transpose.getPermutation().size() < 2 ||
      getCrossedDim(transpose) + 1 == transpose.getPermutation().size() ||
      !getBits(getMemoryType(getElementType(tensor))) ||
      !question.isInMemory(transpose.getOperand()))
    return nullptr;
  return transpose;
}

FillOrder makeOrder(Way way, size_t rank, size_t crossed, int64_t rows,
                    int64_t columns) {
  FillOrder order{way, SmallVector<int64_t>(rank, 1)};
  order.tile[crossed] = rows;
  order.tile[rank - 1] = columns;
  return order;
}

/// Source and target of a block stay in the first cache together.
int64_t getBlockSide(int64_t bytes,
                     const alula::dispatch::MachineFacts &machine) {
  int64_t line = machine.lineBytes;
  return std::clamp(4 * line / bytes, line / 2, 2 * line);
}

/// Nothing for a copy so small that loops of scalars are as fast.
std::optional<FillOrder>
chooseCopy(stablehlo::TransposeOp transpose,
           const alula::dispatch::MachineFacts &machine) {
  constexpr int64_t minSize = 8;
  ArrayRef<int64_t> sizes =
      cast<RankedTensorType>(transpose.getType()).getShape();
  size_t crossed = getCrossedDim(transpose), rank = sizes.size();
  std::optional<int64_t> all = multiply(sizes);
  if (isSmaller(all, machine.l1Bytes / 8) ||
      isSmaller(sizes[crossed], minSize) || isSmaller(sizes[rank - 1], minSize))
    return {};
  unsigned bits = getBits(getMemoryType(getElementType(transpose)));
  int64_t bytes = bits / 8, line = machine.lineBytes;
  auto hasBytes = [&](std::optional<int64_t> size, int64_t limit) {
    return size && *size >= limit / bytes;
  };
  // What no cache holds is written past them. With shorter rows and columns
  // there are too many lines of which only a part is written, or read.
  if (hasBytes(all, machine.getLastCacheBytes()) &&
      hasBytes(sizes[crossed], 2 * line) &&
      hasBytes(sizes[rank - 1], machine.l1Bytes / 16))
    return makeOrder(
        Way::Strips, rank, crossed, ALULA_TRANSPOSE_STRIP(bits),
        std::max(machine.l1Bytes / 32, machine.l1Bytes / 8 / bytes));
  int64_t side = getBlockSide(bytes, machine);
  return makeOrder(Way::Blocks, rank, crossed, side, side);
}

/// Of tiles whose transposed operands are copied before they are read.
int64_t chooseSide(Value tensor, ArrayRef<stablehlo::TransposeOp> crossed,
                   const alula::dispatch::MachineFacts &machine) {
  int64_t bits = getBits(getMemoryType(getElementType(tensor)));
  for (stablehlo::TransposeOp transpose : crossed)
    bits = std::max<int64_t>(bits,
                             getBits(getMemoryType(getElementType(transpose))));
  return getBlockSide(bits / 8, machine);
}

/// The fastest: strips, blocks, tiles or plain.
FillOrder chooseFillOrder(Value tensor, const FillQuestion &question) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  Operation *op = tensor.getDefiningOp();
  if (!op || !type || type.getRank() < 2)
    return {};
  alula::dispatch::MachineFacts machine = alula::dispatch::getMachine(op);
  if (auto copy = findCopy(tensor, question))
    if (auto order = chooseCopy(copy, machine))
      return *order;
  // What one sum needs its neighbours need too.
  if (hasShortSum(tensor, question))
    return {Way::Elements, getUnrolledTile(tensor)};
  ArrayRef<int64_t> sizes = type.getShape();
  // Less than this stays in the cache anyway.
  int64_t minSize = machine.lineBytes / 2;
  SmallVector<stablehlo::TransposeOp> crossed = findCrossed(tensor, question);
  if (crossed.empty() || isSmaller(multiply(sizes), machine.l1Bytes / 8))
    return {};
  size_t dim = getCrossedDim(crossed.front());
  if (isSmaller(sizes[dim], minSize) || isSmaller(sizes.back(), minSize))
    return {};
  // A cache line of floats.
  int64_t side = machine.lineBytes / 4;
  if (machine.blockThreads <= 1)
    side = chooseSide(tensor, crossed, machine);
  return makeOrder(Way::Tiles, sizes.size(), dim, side, side);
}

/// Whether the op's block returns no other inlined tensor of its shape: those
/// share a loop.
bool isReturnedAlone(Operation *op, const DenseSet<Operation *> &inlined) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (!inlined.contains(op) || !type.hasStaticShape())
    return true;
  return llvm::count_if(
             op->getBlock()->getTerminator()->getOperands(), [&](Value value) {
               auto other = dyn_cast<RankedTensorType>(value.getType());
               return other && other.getShape() == type.getShape() &&
                      inlined.contains(value.getDefiningOp());
             }) <= 1;
}

/// Asks `answer` as planners and verifiers see tensors.
template <typename Answer>
auto ask(Operation *op, const DenseSet<Operation *> &inlined, Answer answer) {
  auto isInlined = [&](Value tensor) {
    return tensor.getDefiningOp() == op ||
           inlined.contains(tensor.getDefiningOp());
  };
  auto isHere = [&](Value tensor) {
    bool isPacked =
        isa<BlockArgument>(tensor) && getPacking(getElementType(tensor)) > 1;
    return !isPacked && isInMemory(tensor, inlined);
  };
  return answer(FillQuestion{isInlined, isHere, isReturnedAlone(op, inlined)});
}

} // namespace

size_t alula::kernel::getCrossedDim(stablehlo::TransposeOp transpose) {
  ArrayRef<int64_t> permutation = transpose.getPermutation();
  auto last = static_cast<int64_t>(permutation.size()) - 1;
  return static_cast<size_t>(llvm::find(permutation, last) -
                             permutation.begin());
}

SmallVector<stablehlo::TransposeOp>
alula::kernel::findCrossed(Value tensor, const FillQuestion &question) {
  llvm::SetVector<Operation *> found;
  collectCrossed(tensor, question, found);
  SmallVector<stablehlo::TransposeOp> transposes;
  for (Operation *op : found) {
    auto transpose = cast<stablehlo::TransposeOp>(op);
    if (transposes.empty() ||
        getCrossedDim(transpose) == getCrossedDim(transposes.front()))
      transposes.push_back(transpose);
  }
  return transposes;
}

FillOrder alula::kernel::planFillOrder(Operation *op,
                                       const DenseSet<Operation *> &inlined) {
  // Whole bytes are written element after element.
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || getPacking(type.getElementType()) > 1)
    return {};
  return ask(op, inlined, [&](const FillQuestion &question) {
    return chooseFillOrder(op->getResult(0), question);
  });
}

FillOrder alula::kernel::getFillOrder(Value tensor,
                                      const FillQuestion &question) {
  // What others have put into memory is copied as it lies there.
  if (!tensor.getDefiningOp() || !question.isInlined(tensor))
    return {};
  plan::StageAttr stage = getStage(tensor.getDefiningOp());
  if (!stage || !plan::isOrderOfMap(stage.getWay()))
    return chooseFillOrder(tensor, question);
  FillOrder order{stage.getWay(), llvm::to_vector(stage.getTile())};
  bool isCopy = order.way == Way::Blocks || order.way == Way::Strips;
  if (isCopy && !findCopy(tensor, question))
    return chooseFillOrder(tensor, question);
  return order;
}

std::string
alula::kernel::findFillProblem(Operation *op,
                               const DenseSet<Operation *> &inlined) {
  plan::StageAttr stage = getStage(op);
  Way way = stage.getWay();
  ArrayRef<int64_t> tile = stage.getTile();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (stablehlo::readsAny(op, stablehlo::Access::Part |
                                  stablehlo::Access::Fill |
                                  stablehlo::Access::Reshaped))
    return "it is written part by part, or as it lies";
  if (way == Way::Elements && tile.empty())
    return "";
  if (static_cast<int64_t>(tile.size()) != type.getRank())
    return "a tile must have " + std::to_string(type.getRank()) +
           " sizes, one for each dimension: has " + std::to_string(tile.size());
  if (way == Way::Tiles)
    return "";
  if (way == Way::Elements) {
    // They are written out one after the other.
    constexpr int64_t mostUnrolled = 64;
    for (auto [dim, size] : llvm::enumerate(tile))
      if (size != 1 && size != type.getDimSize(static_cast<unsigned>(dim)))
        return "dimensions are unrolled as a whole: has " +
               std::to_string(size) + " in dimension " + std::to_string(dim);
    int64_t count = multiply(tile).value_or(INT64_MAX);
    return count <= mostUnrolled
               ? ""
               : "at most " + std::to_string(mostUnrolled) +
                     " elements are unrolled: has " + std::to_string(count);
  }
  auto copy = ask(op, inlined, [&](FillQuestion question) {
    question.isAlone = true;
    return findCopy(op->getResult(0), question);
  });
  if (!copy)
    return "it is no copy of memory with the last dimension elsewhere";
  size_t crossed = getCrossedDim(copy), last = tile.size() - 1;
  for (auto [dim, size] : llvm::enumerate(tile))
    if (size != 1 && dim != crossed && dim != last)
      return "a block has 1 in all dimensions but " + std::to_string(crossed) +
             " and " + std::to_string(last) + ": has " + std::to_string(size) +
             " in dimension " + std::to_string(dim);
  int64_t most =
      ALULA_TRANSPOSE_STRIP(getBits(getMemoryType(type.getElementType())));
  if (way == Way::Strips && tile[crossed] > most)
    return "a strip has at most " + std::to_string(most) + " rows: is " +
           std::to_string(tile[crossed]);
  return "";
}

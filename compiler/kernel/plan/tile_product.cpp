// Blocks of products of matrices.

#include "compiler/kernel/element/element_form.h"
#include "compiler/kernel/element/sum_types.h"
#include "compiler/kernel/plan/forms.h"
#include "compiler/kernel/plan/tensors_in_memory.h"
#include "compiler/kernel/plan/tiles.h"
#include "dialect/dispatch/machine.h"
#include "dialect/dispatch/panel_layout.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace alula::kernel;

namespace {
constexpr int64_t fewRows = 3;

/// Blocks of the machine's tile and parts of it.
struct BlockSizes {
  explicit BlockSizes(const alula::dispatch::MachineFacts &machine)
      : rows(machine.blockRows), columns(machine.blockColumns) {}

  int64_t rows, columns;
  /// The size of a tile that has to stay in the cache.
  int64_t nearRows = rows / 2;
  /// Enough that packing a panel of the right side is cheap, and fewer.
  int64_t goodRows = rows / 4, leastRows = rows / 8;
  /// As many are one block.
  int64_t undividedRows = rows * 3 / 16;
  int64_t goodColumns = columns / 2, leastColumns = columns / 4;
  /// A single row (GEMV) streams the unpacked right side, best in long pieces;
  /// in short ones where matrices of a batch lie between each other's columns.
  int64_t longRow = 8 * columns, leastLongRow = 2 * columns;
  int64_t rowBetween = columns;
};

SmallVector<int64_t> getSizes(Value tensor, ArrayRef<int64_t> dims) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return llvm::map_to_vector(dims, [&](int64_t dim) {
    return type.getDimSize(static_cast<unsigned>(dim));
  });
}

/// A matrix times a vector is computed as that vector times the transposed
/// matrix.
bool isSwapped(stablehlo::DotGeneralOp dot) {
  return llvm::all_of(
      getSizes(dot.getRhs(), collectFreeDims(dot, /*isLhs=*/false)),
      [](int64_t size) { return size == 1; });
}

/// Columns of a long row, so that as many threads as there may be get the same.
int64_t divideEvenly(int64_t columns, int64_t limit, int64_t multiple,
                     int64_t most) {
  auto divide = [](int64_t count, int64_t by) {
    return static_cast<int64_t>(llvm::divideCeil(static_cast<uint64_t>(count),
                                                 static_cast<uint64_t>(by)));
  };
  int64_t blocks = divide(columns, limit);
  int64_t parts = std::min(
      static_cast<int64_t>(llvm::bit_ceil(static_cast<uint64_t>(blocks))),
      most);
  blocks = divide(blocks, parts) * parts;
  return std::min(divide(divide(columns, blocks), multiple) * multiple, limit);
}
} // namespace

std::optional<int64_t> alula::kernel::multiply(ArrayRef<int64_t> sizes) {
  if (llvm::is_contained(sizes, 0))
    return 0;
  int64_t product = 1;
  for (int64_t size : sizes)
    if (ShapedType::isDynamic(size) ||
        llvm::MulOverflow(product, size, product))
      return std::nullopt;
  return product;
}

int64_t alula::kernel::getPanelWidth(stablehlo::DotGeneralOp dot,
                                     const DenseSet<Operation *> &inlined) {
  bool swapped = isSwapped(dot);
  Value right = swapped ? dot.getLhs() : dot.getRhs();
  auto panels = right.getDefiningOp<dispatch::FromPanelsOp>();
  auto numbers = dot.getDotDimensionNumbers();
  auto contracted = swapped ? numbers.getLhsContractingDimensions()
                            : numbers.getRhsContractingDimensions();
  ProductTypes types = getProductTypes(dot);
  Type element = swapped ? types.left : types.right;
  if (!panels || !element || !isInMemory(panels.getPanels(), inlined) ||
      !numbers.getLhsBatchingDimensions().empty() ||
      panels.getRows() != contracted ||
      panels.getColumns() != ArrayRef(collectFreeDims(dot, swapped)) ||
      getElementType(right) != element)
    return 0;
  dispatch::PanelLayout layout = dispatch::getPanelLayout(panels);
  if (layout.group != dispatch::getPanelGroup(element) ||
      layout.isOffset !=
          dispatch::wantsOffset(swapped ? types.right : types.left, element) ||
      layout.getBytes(element) != dispatch::getMachine(dot).panelBytes)
    return 0;
  return layout.width;
}

SmallVector<int64_t> alula::kernel::chooseTile(stablehlo::DotGeneralOp dot,
                                               const TileQuestion &question) {
  dispatch::MachineFacts machine = dispatch::getMachine(dot);
  BlockSizes sizes(machine);
  int64_t wantedBlocks = machine.cores;
  bool swapped = isSwapped(dot);
  auto numbers = dot.getDotDimensionNumbers();
  Value left = swapped ? dot.getRhs() : dot.getLhs();
  Value right = swapped ? dot.getLhs() : dot.getRhs();
  ProductTypes types = getProductTypes(dot);
  auto rows = multiply(getSizes(left, collectFreeDims(dot, !swapped)));
  auto columns = multiply(getSizes(right, collectFreeDims(dot, swapped)));
  SmallVector<int64_t> batch =
      getSizes(left, swapped ? numbers.getRhsBatchingDimensions()
                             : numbers.getLhsBatchingDimensions());
  // Whether the product is not written to where it belongs as it is computed.
  Value final = question.last->getResult(0);
  bool isReadAgain =
      question.last != dot || getMemoryType(getElementType(final)) != types.sum;

  int64_t rowLimit = rows && *rows <= sizes.undividedRows
                         ? std::max<int64_t>(*rows, 1)
                     : isReadAgain || getMemoryType(types.left) != types.sum ||
                             getMemoryType(types.right) != types.sum
                         ? sizes.nearRows
                         : sizes.rows;
  int64_t columnLimit = sizes.columns;
  auto countBlocks = [&]() {
    int64_t count =
        columns ? llvm::divideCeil(*columns, columnLimit) : wantedBlocks;
    for (int64_t size : batch)
      count *= std::min(ShapedType::isDynamic(size) ? wantedBlocks : size,
                        wantedBlocks);
    int64_t rowCount = rows.value_or(wantedBlocks * rowLimit);
    return count * std::min(int64_t(llvm::divideCeil(rowCount, rowLimit)),
                            wantedBlocks);
  };
  int64_t leastLimit = sizes.leastColumns;
  bool isLongRow =
      rows && *rows <= fewRows && !getPanelWidth(dot, question.inlined);
  bool isBetween = isLongRow && hasBatchBetweenColumns(dot, swapped);
  if (isLongRow) {
    columnLimit = isBetween ? sizes.rowBetween : sizes.longRow;
    leastLimit = std::min(columnLimit, sizes.leastLongRow);
  }
  // Smaller tiles are more tiles; with fewer rows the right side is packed more
  // often, with fewer columns the left side read more often.
  auto halve = [&](int64_t &limit, int64_t least) {
    while (limit > least && countBlocks() < wantedBlocks)
      limit /= 2;
  };
  halve(columnLimit, std::max(leastLimit, sizes.goodColumns));
  halve(rowLimit, sizes.goodRows);
  halve(columnLimit, leastLimit);
  halve(rowLimit, sizes.leastRows);
  if (columns && isLongRow && !isBetween)
    columnLimit = divideEvenly(std::max<int64_t>(*columns, 1), columnLimit,
                               sizes.goodColumns, machine.getMaxWorkgroups());
  if (columns)
    columnLimit = std::min(columnLimit, std::max<int64_t>(*columns, 1));
  return {rowLimit, columnLimit};
}

// Blocks of convolutions.

#include "compiler/kernel/element/element_form.h"
#include "compiler/kernel/element/sum_types.h"
#include "compiler/kernel/plan/convolution_phases.h"
#include "compiler/kernel/plan/forms.h"
#include "compiler/kernel/plan/tensors_in_memory.h"
#include "compiler/kernel/plan/tiles.h"
#include "dialect/dispatch/machine.h"
#include "dialect/dispatch/ops.h"
#include "dialect/dispatch/panel_layout.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace alula;
using namespace alula::kernel;

namespace {
/// Outputs of a tile are the rows of a matrix product (im2col).
struct BlockSizes {
  explicit BlockSizes(const alula::dispatch::MachineFacts &machine)
      : outputs(machine.blockRows / 2), features(machine.blockColumns),
        copiedBytes(machine.getCoreCacheBytes()) {}

  int64_t outputs;
  /// Of one row of the image.
  int64_t outputsOfRow = outputs / 4;
  int64_t features;
  int64_t leastFeatures = features / 4;
  /// Of inputs that are copied for one block.
  int64_t copiedBytes;
};

struct Window {
  ConvolutionPhases phases;
  int64_t input;
  /// Of the first phase; all, if there is one.
  int64_t output;
};

int64_t getSize(Value tensor, int64_t dim) {
  return cast<RankedTensorType>(tensor.getType())
      .getDimSize(static_cast<unsigned>(dim));
}

class BlockChooser {
public:
  BlockChooser(stablehlo::ConvolutionOp op, const TileQuestion &question)
      : op(op), numbers(op.getDimensionNumbers()), question(question),
        types(getProductTypes(op)), machine(alula::dispatch::getMachine(op)),
        sizes(machine) {
    // Lists may be empty, which says the same as none.
    auto at = [](auto values, size_t i) {
      return values && i < values->size() ? (*values)[i] : 1;
    };
    auto padding = op.getPadding();
    for (size_t i = 0; i < numbers.getInputSpatialDimensions().size(); ++i) {
      ConvolutionPhases phases(
          {at(op.getWindowStrides(), i), at(op.getLhsDilation(), i),
           at(op.getRhsDilation(), i),
           padding ? padding->getValues<int64_t>()[{i, 0}] : 0,
           getSize(op.getRhs(), numbers.getKernelSpatialDimensions()[i])});
      int64_t output =
          getSize(op.getResult(), numbers.getOutputSpatialDimensions()[i]);
      if (!ShapedType::isDynamic(output))
        output = phases.countOutputs(output);
      windows.push_back(
          {std::move(phases),
           getSize(op.getLhs(), numbers.getInputSpatialDimensions()[i]),
           output});
    }
    numBatches = getSize(op.getResult(), numbers.getOutputBatchDimension());
    numGroups = std::max(static_cast<int64_t>(op.getFeatureGroupCount()),
                         static_cast<int64_t>(op.getBatchGroupCount()));
    int64_t all = getSize(op.getResult(), numbers.getOutputFeatureDimension());
    features = ShapedType::isDynamic(all) ? all : all / numGroups;
    inputFeatures =
        getSize(op.getRhs(), numbers.getKernelInputFeatureDimension());
  }

  SmallVector<int64_t> choose();
  SmallVector<int64_t> chooseOfWindowProduct();

private:
  bool isReadInPlace();
  int64_t countBlocks(ArrayRef<int64_t> tile);
  void balance(SmallVectorImpl<int64_t> &tile, size_t side,
               llvm::function_ref<bool()> isTooLarge);

  stablehlo::ConvolutionOp op;
  stablehlo::ConvDimensionNumbersAttr numbers;
  const TileQuestion &question;
  ProductTypes types;
  const alula::dispatch::MachineFacts machine;
  const BlockSizes sizes;
  SmallVector<Window> windows;
  int64_t numBatches, numGroups, features, inputFeatures;
};

bool BlockChooser::isReadInPlace() {
  int64_t last = static_cast<int64_t>(windows.size()) + 1;
  // What is read by others too is written for all.
  bool hasMemory =
      isInMemory(op.getLhs(), question.inlined) || !op.getLhs().hasOneUse();
  if (!hasMemory || getElementType(op.getLhs()) != types.left ||
      numbers.getInputFeatureDimension() != last)
    return false;
  return llvm::all_of(windows, [](const Window &window) {
    return !ShapedType::isDynamic(window.input) &&
           !ShapedType::isDynamic(window.output) && window.phases.begin >= 0 &&
           window.phases.begin + window.phases.getExtent(window.output) <=
               window.input;
  });
}

int64_t BlockChooser::countBlocks(ArrayRef<int64_t> tile) {
  // Of sizes that are not known there are enough.
  auto countOf = [&](int64_t size, int64_t limit) {
    return ShapedType::isDynamic(size)
               ? machine.cores
               : static_cast<int64_t>(llvm::divideCeil(size, limit));
  };
  int64_t count = countOf(numBatches, 1);
  auto multiply = [&](int64_t more) {
    if (llvm::MulOverflow(count, more, count))
      count = std::numeric_limits<int64_t>::max();
  };
  multiply(countOf(numGroups, 1));
  multiply(countOf(features, tile.back()));
  for (auto [window, limit] : llvm::zip_equal(windows, tile.drop_back()))
    multiply(countOf(window.output, limit));
  return count;
}

/// Makes a side of the tile longer, up to twice, if the core that has most to
/// do then has less: 56 rows on 16 cores are 14 blocks of 4, not 19 of 3, of
/// which three cores have two.
void BlockChooser::balance(SmallVectorImpl<int64_t> &tile, size_t side,
                           llvm::function_ref<bool()> isTooLarge) {
  if (ShapedType::isDynamic(windows[side].output))
    return;
  int64_t chosen = tile[side], best = chosen;
  auto countOfCore = [&] {
    int64_t rounds = llvm::divideCeil(countBlocks(tile), machine.cores);
    return rounds * tile[side];
  };
  int64_t least = countOfCore();
  int64_t most = std::min(2 * chosen, windows[side].output);
  while (++tile[side] <= most && !isTooLarge())
    if (int64_t count = countOfCore(); count < least) {
      least = count;
      best = tile[side];
    }
  tile[side] = best;
}

SmallVector<int64_t> BlockChooser::choose() {
  bool inPlace = isReadInPlace();
  auto getLimit = [](int64_t size, int64_t limit) {
    return ShapedType::isDynamic(size)
               ? limit
               : std::min(std::max<int64_t>(size, 1), limit);
  };
  SmallVector<int64_t> tile(windows.size() + 1, 1);
  size_t last = windows.size() - 1;
  tile[last] = getLimit(windows[last].output, sizes.outputsOfRow);
  if (windows.size() > 1)
    tile[last - 1] = getLimit(windows[last - 1].output,
                              std::max<int64_t>(1, sizes.outputs / tile[last]));
  int64_t &featureLimit = tile.back();
  featureLimit = sizes.features;
  int64_t bytes = getMemoryType(types.left).getIntOrFloatBitWidth() / 8;
  auto isTooLarge = [&] {
    int64_t copied = inputFeatures;
    for (size_t i = 0; i < windows.size(); ++i)
      copied *= windows[i].phases.getExtent(tile[i]);
    return !inPlace && copied * bytes > sizes.copiedBytes;
  };
  // Shorter blocks first: what is copied is copied once for all features.
  if (windows.size() > 1)
    while (tile[last - 1] > 1 &&
           (isTooLarge() || (countBlocks(tile) < machine.cores &&
                             tile[last] * tile[last - 1] > sizes.outputs / 4)))
      tile[last - 1] = llvm::divideCeil(tile[last - 1], 2);
  while (tile[last] > 16 && isTooLarge())
    tile[last] = llvm::divideCeil(tile[last], 2);
  while (featureLimit > sizes.leastFeatures &&
         countBlocks(tile) < machine.cores)
    featureLimit /= 2;
  if (windows.size() > 1)
    balance(tile, last - 1, isTooLarge);
  // Only at last: what is divided begins where a panel of the kernel does.
  featureLimit = getLimit(features, featureLimit);
  return tile;
}

SmallVector<int64_t> BlockChooser::chooseOfWindowProduct() {
  int64_t rows = windows.back().output * numBatches, groups = 1;
  for (const Window &window : ArrayRef(windows).drop_back())
    groups *= window.output;
  int64_t rowLimit = std::min(rows, machine.blockRows / 4);
  int64_t featureLimit = std::min(features, machine.blockColumns / 2);
  int64_t blocks = groups * int64_t(llvm::divideCeil(features, featureLimit));
  while (rowLimit > machine.blockRows / 16 &&
         blocks * int64_t(llvm::divideCeil(rows, rowLimit)) < machine.cores)
    rowLimit = llvm::divideCeil(rowLimit, 2);
  return {rowLimit, featureLimit};
}
} // namespace

int64_t alula::kernel::getPanelWidth(stablehlo::ConvolutionOp convolution,
                                     const DenseSet<Operation *> &inlined) {
  auto panels = convolution.getRhs().getDefiningOp<dispatch::FromPanelsOp>();
  ProductTypes types = getProductTypes(convolution);
  if (!panels || !types || !isInMemory(panels.getPanels(), inlined) ||
      getElementType(convolution.getRhs()) != types.right)
    return 0;
  dispatch::PanelLayout layout = dispatch::getPanelLayout(panels);
  return layout.getBytes(types.right) ==
                 dispatch::getMachine(convolution).panelBytes
             ? layout.width
             : 0;
}

SmallVector<int64_t>
alula::kernel::chooseTile(stablehlo::ConvolutionOp convolution,
                          const TileQuestion &question) {
  BlockChooser chooser(convolution, question);
  bool isOfWindow = isWindowProduct(convolution) &&
                    isInMemory(convolution.getRhs(), question.inlined);
  return isOfWindow ? chooser.chooseOfWindowProduct() : chooser.choose();
}

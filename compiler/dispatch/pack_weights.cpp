// Puts constant weights into the panels that products read, once instead of at
// each call.
//   %w = constant : tensor<784x100xf32>;  dot_general %x, %w
//   →  %p = constant : tensor<4x784x32xf32>;  %w = dispatch.from_panels %p
// Only constants all of whose uses are products, as right operand and with the
// same dimension numbers. Rows of bf16 lie in pairs: tensor<4x392x32x2xbf16>,
// those of convolutions if each place of the window has whole pairs.
// Rows of bytes lie in groups of four, of the other sign than what they are
// multiplied with: tensor<4x196x32x4xui8>.
//
// Integers of four and eight bits that become floats where they are multiplied
// (scaled_integers.h) lie in groups of 32 bits, moved up to be unsigned; what
// they are scaled with lies in the same panels, and zero points too, as bytes
// if all of them are integers of eight bits, whatever type they had:
//   %w = constant : tensor<4096x100xi4>
//   →  %p = constant : tensor<4x512x32x8xui4>;  %w = dispatch.from_panels %p
//   %z = constant : tensor<128x100xui4>;  convert %z to f32
//   →  %p = constant : tensor<4x128x32xui8>;  convert (dispatch.from_panels %p)

#include "compiler/dispatch/passes.h"
#include "dialect/dispatch/panel_layout.h"
#include "dialect/dispatch/short_sum.h"
#include "dialect/stablehlo/ops.h"
#include "dialect/stablehlo/scaled_integers.h"
#include "dialect/stablehlo/widened_factor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

namespace alula::dispatch {
#define GEN_PASS_DEF_PACKWEIGHTS
#include "compiler/dispatch/passes.h.inc"
} // namespace alula::dispatch

using namespace mlir;
using namespace alula::dispatch;

namespace {
/// The dimensions of a right side that number its rows and columns.
struct Matrix {
  SmallVector<int64_t> rows, columns;
  /// Whether bytes have the sign of the left side's.
  bool isOffset = false;
  bool operator==(const Matrix &) const = default;
};

int64_t countElements(RankedTensorType type, ArrayRef<int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= type.getDimSize(static_cast<unsigned>(dim));
  return count;
}

std::optional<Matrix> getRightSide(stablehlo::DotGeneralOp dot) {
  auto numbers = dot.getDotDimensionNumbers();
  auto right = cast<RankedTensorType>(dot.getRhs().getType());
  if (!numbers.getLhsBatchingDimensions().empty())
    return std::nullopt;
  Matrix matrix;
  matrix.isOffset = wantsOffset(getElementTypeOrSelf(dot.getLhs().getType()),
                                right.getElementType());
  llvm::append_range(matrix.rows, numbers.getRhsContractingDimensions());
  for (int64_t dim = 0; dim < right.getRank(); ++dim)
    if (!llvm::is_contained(matrix.rows, dim))
      matrix.columns.push_back(dim);
  return matrix;
}

std::optional<Matrix> getRightSide(stablehlo::ConvolutionOp convolution) {
  auto numbers = convolution.getDimensionNumbers();
  if (convolution.getFeatureGroupCount() != 1 ||
      convolution.getBatchGroupCount() != 1)
    return std::nullopt;
  Matrix matrix;
  llvm::append_range(matrix.rows, numbers.getKernelSpatialDimensions());
  matrix.rows.push_back(numbers.getKernelInputFeatureDimension());
  matrix.columns.push_back(numbers.getKernelOutputFeatureDimension());
  return matrix;
}

bool isByte(Type type) { return type.isInteger(8); }

/// Whether the rows that a product reads in one piece begin with a group of the
/// panels: those of a convolution are the features of one place.
bool beginsGroups(Operation *product, Type element) {
  auto convolution = dyn_cast<stablehlo::ConvolutionOp>(product);
  if (!convolution)
    return true;
  auto isDilated = [](std::optional<ArrayRef<int64_t>> dilation) {
    return dilation &&
           llvm::any_of(*dilation, [](int64_t by) { return by > 1; });
  };
  auto kernel = cast<RankedTensorType>(convolution.getRhs().getType());
  int64_t features = kernel.getDimSize(static_cast<unsigned>(
      convolution.getDimensionNumbers().getKernelInputFeatureDimension()));
  // Outputs between the inputs read some places of the window, in any order.
  return features % getPanelGroup(element) == 0 &&
         !isDilated(convolution.getLhsDilation());
}

/// Whether products of these elements are what the library computes from them.
bool multiplies(Operation *product, Type element) {
  Type result = getElementTypeOrSelf(product->getResult(0).getType());
  Type left = getElementTypeOrSelf(product->getOperand(0).getType());
  if (element.isBF16())
    return left == element && (result == element || result.isF32()) &&
           beginsGroups(product, element);
  if (!isByte(element))
    return result == element;
  // In other types products are sums of something else.
  return isa<stablehlo::DotGeneralOp>(product) && isByte(left) &&
         isa<IntegerType>(result) && result.getIntOrFloatBitWidth() <= 32;
}

/// What every reader of a constant takes it for.
std::optional<Matrix> findMatrix(stablehlo::ConstantOp constant) {
  std::optional<Matrix> common;
  for (OpOperand &use : constant->getUses()) {
    std::optional<Matrix> matrix;
    Operation *user = use.getOwner();
    if (use.getOperandNumber() != 1 ||
        !isa<stablehlo::DotGeneralOp, stablehlo::ConvolutionOp>(user) ||
        !multiplies(user, constant.getType().getElementType()) ||
        isShortSum(user))
      return std::nullopt;
    if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(user))
      matrix = getRightSide(dot);
    else if (auto convolution = dyn_cast<stablehlo::ConvolutionOp>(user))
      matrix = getRightSide(convolution);
    if (!matrix || (common && *common != *matrix))
      return std::nullopt;
    common = matrix;
  }
  return common;
}

/// Elements in the order of the tensor; empty for a splat.
ArrayRef<char> getElements(ElementsAttr value) {
  if (auto dense = dyn_cast<DenseElementsAttr>(value))
    return dense.isSplat() ? ArrayRef<char>() : dense.getRawData();
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
    if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
      return blob->getData();
  return {};
}

/// How far the element at row or column `number` is from the first one.
SmallVector<int64_t> getDistances(RankedTensorType type,
                                  ArrayRef<int64_t> dims) {
  SmallVector<int64_t> distances{0};
  for (int64_t dim : dims) {
    int64_t stride = ShapedType::getNumElements(
        type.getShape().drop_front(static_cast<size_t>(dim) + 1));
    SmallVector<int64_t> outer = std::move(distances);
    distances.clear();
    for (int64_t base : outer)
      for (int64_t i = 0; i < type.getDimSize(static_cast<unsigned>(dim)); ++i)
        distances.push_back(base + i * stride);
  }
  return distances;
}

/// In panels of so many columns and groups of so many rows.
template <typename Element>
std::vector<Element> pack(ArrayRef<char> elements, RankedTensorType type,
                          const Matrix &matrix, int64_t width, int64_t group) {
  const auto *from = reinterpret_cast<const Element *>(elements.data());
  auto pad = [](SmallVector<int64_t> distances, int64_t multiple) {
    distances.resize(
        llvm::alignTo(distances.size(), static_cast<uint64_t>(multiple)), -1);
    return distances;
  };
  SmallVector<int64_t> rows = pad(getDistances(type, matrix.rows), group);
  SmallVector<int64_t> columns = pad(getDistances(type, matrix.columns), width);
  std::vector<Element> panels(rows.size() * columns.size());
  Element *to = panels.data();
  for (ArrayRef<int64_t> rest = columns; !rest.empty();
       rest = rest.drop_front(static_cast<size_t>(width))) {
    ArrayRef<int64_t> panel = rest.take_front(static_cast<size_t>(width));
    bool areNeighbours = group == 1 && std::ranges::adjacent_find(
                                           panel, [](int64_t a, int64_t b) {
                                             return b != a + 1 || a < 0;
                                           }) == panel.end();
    for (ArrayRef<int64_t> below = rows; !below.empty();
         below = below.drop_front(static_cast<size_t>(group))) {
      if (areNeighbours) {
        to = std::copy_n(from + below.front() + panel.front(), width, to);
        continue;
      }
      for (int64_t column : panel)
        for (int64_t row : below.take_front(static_cast<size_t>(group)))
          *to++ = column < 0 || row < 0 ? Element() : from[row + column];
    }
  }
  return panels;
}

template <typename Element>
DenseElementsAttr getAttribute(RankedTensorType type,
                               const std::vector<Element> &panels) {
  return DenseElementsAttr::getFromRawBuffer(
      type, ArrayRef(reinterpret_cast<const char *>(panels.data()),
                     panels.size() * sizeof(Element)));
}

/// What an element takes in a constant.
int64_t countBytes(Type element) {
  return std::max<int64_t>(element.getIntOrFloatBitWidth() / 8, 1);
}

/// Whether the elements are known and as many as the type says.
bool isKnown(stablehlo::ConstantOp constant) {
  auto type = cast<RankedTensorType>(constant.getType());
  return getElements(constant.getValue()).size() ==
         static_cast<size_t>(type.getNumElements() *
                             countBytes(type.getElementType()));
}

/// The constant in panels of so many columns and groups of so many rows.
Value createPanels(stablehlo::ConstantOp constant, const Matrix &matrix,
                   int64_t width, int64_t group) {
  auto type = cast<RankedTensorType>(constant.getType());
  Type element = type.getElementType();
  unsigned bits = element.getIntOrFloatBitWidth();
  auto divide = [](int64_t count, int64_t by) {
    return static_cast<int64_t>(llvm::divideCeil(static_cast<uint64_t>(count),
                                                 static_cast<uint64_t>(by)));
  };
  SmallVector<int64_t> shape{divide(countElements(type, matrix.columns), width),
                             divide(countElements(type, matrix.rows), group),
                             width};
  if (group > 1)
    shape.push_back(group);
  if (matrix.isOffset)
    element =
        IntegerType::get(type.getContext(), bits,
                         element.isUnsignedInteger() ? IntegerType::Signless
                                                     : IntegerType::Unsigned);
  auto panelType = RankedTensorType::get(shape, element);
  ArrayRef<char> elements = getElements(constant.getValue());
  DenseElementsAttr value;
  if (bits <= 8) {
    auto panels = pack<uint8_t>(elements, type, matrix, width, group);
    // Above four bits there is anything.
    auto mask = static_cast<uint8_t>((1 << bits) - 1);
    auto sign = static_cast<uint8_t>(matrix.isOffset ? 1 << (bits - 1) : 0);
    for (uint8_t &code : panels)
      code = (code & mask) ^ sign;
    value = getAttribute(panelType, panels);
  } else if (bits == 16) {
    value = getAttribute(panelType,
                         pack<uint16_t>(elements, type, matrix, width, group));
  } else if (bits == 32) {
    value = getAttribute(panelType,
                         pack<float>(elements, type, matrix, width, group));
  } else {
    value = getAttribute(panelType,
                         pack<double>(elements, type, matrix, width, group));
  }
  OpBuilder builder(constant);
  Value panels =
      builder.create<stablehlo::ConstantOp>(constant.getLoc(), value);
  return builder.create<FromPanelsOp>(constant.getLoc(), type, panels,
                                      matrix.rows, matrix.columns);
}

void replaceByPanels(stablehlo::ConstantOp constant, const Matrix &matrix,
                     int64_t panelBytes) {
  Type element = constant.getType().getElementType();
  int64_t group = getPanelGroup(element);
  int64_t width = panelBytes * 8 / (element.getIntOrFloatBitWidth() * group);
  constant.replaceAllUsesWith(createPanels(constant, matrix, width, group));
  constant.erase();
}

void packConstant(stablehlo::ConstantOp constant, int64_t panelBytes) {
  auto type = cast<RankedTensorType>(constant.getType());
  std::optional<Matrix> matrix = findMatrix(constant);
  int64_t group = getPanelGroup(type.getElementType());
  // A narrow one would be mostly spare columns.
  int64_t minColumns = panelBytes / 16;
  if (!matrix || panelBytes * 8 < type.getElementTypeBitWidth() * group ||
      countElements(type, matrix->columns) < minColumns || !isKnown(constant))
    return;
  replaceByPanels(constant, *matrix, panelBytes);
}

// ---- Integers of few bits times scales ----

/// The right side of a product, whose left side has the sums' terms in its
/// rows. A matrix times a vector is that vector times the transposed matrix.
struct RightSide {
  OpOperand *operand;
  SmallVector<int64_t> rows, columns;
};

std::optional<RightSide> findRightSide(stablehlo::DotGeneralOp dot) {
  auto numbers = dot.getDotDimensionNumbers();
  if (!numbers.getLhsBatchingDimensions().empty())
    return std::nullopt;
  auto divide = [](OpOperand &operand, ArrayRef<int64_t> contracted) {
    RightSide side{&operand, SmallVector<int64_t>(contracted), {}};
    auto type = cast<RankedTensorType>(operand.get().getType());
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (!llvm::is_contained(contracted, dim))
        side.columns.push_back(dim);
    return side;
  };
  RightSide right =
      divide(dot->getOpOperand(1), numbers.getRhsContractingDimensions());
  auto type = cast<RankedTensorType>(dot.getRhs().getType());
  bool isVector = llvm::all_of(right.columns, [&](int64_t dim) {
    return type.getDimSize(static_cast<unsigned>(dim)) == 1;
  });
  return isVector ? divide(dot->getOpOperand(0),
                           numbers.getLhsContractingDimensions())
                  : right;
}

/// Constants of integers and of scales, and what their readers take them for.
class FewBits {
public:
  void add(stablehlo::DotGeneralOp dot);
  void packAll(int64_t minElements, int64_t panelBytes);

private:
  /// Numbers that are to lie in panels beside the integers.
  struct Numbers {
    /// Null if there are none.
    stablehlo::ConstantOp constant;
    Matrix matrix;
    /// What is repeated, the constant or it as floats, and by what.
    Value repeated;
    Operation *broadcast;
    bool mayBeBytes = false;
  };
  struct Weights {
    stablehlo::ConstantOp integers;
    Matrix matrix;
    Numbers scale, zero;
  };
  static Numbers findNumbers(Value repeated, Operation *broadcast,
                             const stablehlo::ScaledIntegers &found);
  /// What is read instead of a constant: made once if it had several readers.
  struct InPanels {
    Matrix matrix;
    bool mayBeBytes;
    Value panels;
  };
  using Panels = llvm::MapVector<Operation *, SmallVector<InPanels>>;
  static void replaceNumbers(Numbers numbers, Panels &known,
                             int64_t panelBytes);
  /// Of each constant of integers, its readers.
  llvm::MapVector<Operation *, std::vector<Weights>> readers;
};

/// The constant behind numbers for each column of some rows.
FewBits::Numbers FewBits::findNumbers(Value repeated, Operation *broadcast,
                                      const stablehlo::ScaledIntegers &found) {
  auto convert = repeated.getDefiningOp<stablehlo::ConvertOp>();
  Value source = convert ? convert.getOperand() : repeated;
  auto constant = source.getDefiningOp<stablehlo::ConstantOp>();
  const stablehlo::MatrixSteps &steps = found.steps;
  auto type = cast<RankedTensorType>(repeated.getType());
  Type from = getElementTypeOrSelf(source);
  if (!constant || !isKnown(constant) || !type.getElementType().isF32() ||
      (convert && !from.isInteger(4) && !from.isInteger(8)))
    return {};
  int64_t lines = static_cast<int64_t>(
      llvm::divideCeil(static_cast<uint64_t>(found.layout.rows),
                       static_cast<uint64_t>(steps.rows)));
  auto dims = stablehlo::divideDims(
      type, {lines, found.layout.columns, steps.rowStep, steps.columnStep});
  if (!dims)
    return {};
  return {constant, {dims->rows, dims->columns, false}, repeated, broadcast};
}

void FewBits::add(stablehlo::DotGeneralOp dot) {
  auto right = findRightSide(dot);
  if (!right || isShortSum(dot) ||
      !getElementTypeOrSelf(dot.getType()).isF32() ||
      !getElementTypeOrSelf(dot.getLhs().getType()).isF32() ||
      !getElementTypeOrSelf(dot.getRhs().getType()).isF32())
    return;
  SmallVector<Operation *> inside = stablehlo::findWidening(*right->operand);
  auto found = stablehlo::findScaledIntegers(
      right->operand->get(), /*batch=*/{}, right->rows, right->columns,
      Float32Type::get(dot.getContext()),
      [&](Operation *op) { return llvm::is_contained(inside, op); });
  if (inside.empty() || !found)
    return;
  auto constant = found->integers.getDefiningOp<stablehlo::ConstantOp>();
  if (!constant)
    return;
  auto type = cast<RankedTensorType>(constant.getType());
  auto element = cast<IntegerType>(type.getElementType());
  auto dims = stablehlo::divideDims(type, found->layout);
  if (!dims || (element.getWidth() != 4 && element.getWidth() != 8))
    return;
  // Short vectors get floats from four neighbours of a row in one step, and
  // from bytes that lie behind each other in two.
  if (element.getWidth() == 8 && getMachine(dot).vectorBytes < 32 &&
      !dot->hasAttr("alula.byte_activations"))
    return;
  const stablehlo::MatrixSteps &steps = found->steps;
  if ((steps.rowStep && steps.rows % getPanelGroup(element) != 0) ||
      (steps.columnStep && steps.columns != 1))
    return;
  Weights weights;
  weights.integers = constant;
  weights.matrix = {dims->rows, dims->columns, !element.isUnsigned()};
  // A scale for each column of some rows lies beside these, and a zero point
  // with it.
  bool isEach = steps.rowStep && steps.columnStep;
  if (isEach)
    weights.scale = findNumbers(found->scale, found->broadcast, *found);
  if (found->zero && isEach && found->zeroSteps == steps)
    weights.zero = findNumbers(found->zero, found->zeroBroadcast, *found);
  weights.zero.mayBeBytes = true;
  if ((isEach && !weights.scale.constant) ||
      (found->zero && !weights.zero.constant) ||
      (!isEach && steps.columnStep > 1))
    return;
  readers[constant].push_back(weights);
}

/// Integers of at most eight bits, or what is in f32.
std::vector<float> getFloats(stablehlo::ConstantOp constant) {
  ArrayRef<char> elements = getElements(constant.getValue());
  auto element = dyn_cast<IntegerType>(constant.getType().getElementType());
  if (!element) {
    std::vector<float> floats(elements.size() / sizeof(float));
    memcpy(floats.data(), elements.data(), elements.size());
    return floats;
  }
  std::vector<float> floats;
  auto unused = static_cast<int>(8 - element.getWidth());
  for (char code : elements) {
    auto bits = static_cast<uint8_t>(static_cast<uint8_t>(code) << unused);
    floats.push_back(static_cast<float>(
        element.isUnsigned() ? bits >> unused
                             : static_cast<int8_t>(bits) >> unused));
  }
  return floats;
}

/// An integer type of eight bits that has them all; null if there is none.
IntegerType findByteType(ArrayRef<float> numbers, MLIRContext *context) {
  auto areBetween = [&](float low, float high) {
    return llvm::all_of(numbers, [&](float number) {
      return number >= low && number <= high &&
             number == static_cast<float>(static_cast<int>(number)) &&
             !(number == 0 && std::signbit(number));
    });
  };
  if (areBetween(0, 255))
    return IntegerType::get(context, 8, IntegerType::Unsigned);
  return areBetween(-128, 127) ? IntegerType::get(context, 8) : IntegerType();
}

/// Numbers for each column of some rows, in panels: floats, or bytes.
Value createNumbers(stablehlo::ConstantOp constant, const Matrix &matrix,
                    bool mayBeBytes, int64_t panelBytes) {
  OpBuilder builder(constant);
  std::vector<float> numbers = getFloats(constant);
  auto shape = constant.getType().getShape();
  auto width = static_cast<int64_t>(panelBytes / sizeof(float));
  auto place = [&](DenseElementsAttr value) {
    auto source =
        builder.create<stablehlo::ConstantOp>(constant.getLoc(), value);
    Value panels = createPanels(source, matrix, width, /*group=*/1);
    source.erase();
    return panels;
  };
  IntegerType byte =
      mayBeBytes ? findByteType(numbers, builder.getContext()) : IntegerType();
  if (!byte)
    return place(getAttribute(
        RankedTensorType::get(shape, builder.getF32Type()), numbers));
  std::vector<uint8_t> bytes;
  for (float number : numbers)
    bytes.push_back(static_cast<uint8_t>(static_cast<int>(number)));
  return place(getAttribute(RankedTensorType::get(shape, byte), bytes));
}

/// Others that read the constant keep theirs.
void FewBits::replaceNumbers(Numbers numbers, Panels &known,
                             int64_t panelBytes) {
  auto &all = known[numbers.constant];
  auto *found = llvm::find_if(all, [&](const InPanels &one) {
    return one.matrix == numbers.matrix && one.mayBeBytes == numbers.mayBeBytes;
  });
  if (found == all.end())
    found =
        all.insert(all.end(), {numbers.matrix, numbers.mayBeBytes,
                               createNumbers(numbers.constant, numbers.matrix,
                                             numbers.mayBeBytes, panelBytes)});
  Operation *reader = numbers.broadcast;
  while (reader->getOperand(0) != numbers.repeated)
    reader = reader->getOperand(0).getDefiningOp();
  Value floats = found->panels;
  // For each reader its own, which is computed where it is read.
  if (auto type = cast<RankedTensorType>(floats.getType());
      type.getElementType().isInteger(8)) {
    OpBuilder builder(reader);
    floats = builder.create<stablehlo::ConvertOp>(
        reader->getLoc(), type.clone(builder.getF32Type()), floats);
  }
  reader->setOperand(0, floats);
}

void FewBits::packAll(int64_t minElements, int64_t panelBytes) {
  Panels known;
  for (auto &[op, all] : readers) {
    Weights first = all.front();
    auto uses =
        static_cast<size_t>(std::distance(op->use_begin(), op->use_end()));
    if (all.size() != uses ||
        first.integers.getType().getNumElements() < minElements ||
        countElements(cast<RankedTensorType>(first.integers.getType()),
                      first.matrix.columns) < panelBytes / 16 ||
        !isKnown(first.integers) || !llvm::all_of(all, [&](const Weights &one) {
          return one.matrix == first.matrix;
        }))
      continue;
    for (Weights &weights : all)
      for (const Numbers &numbers : {weights.scale, weights.zero})
        if (numbers.constant)
          replaceNumbers(numbers, known, panelBytes);
    replaceByPanels(first.integers, first.matrix, panelBytes);
  }
  for (auto &[op, panels] : known) {
    for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
      if (isa<stablehlo::ConvertOp>(user) && user->use_empty())
        user->erase();
    if (op->use_empty())
      op->erase();
  }
}

struct PackWeights
    : public alula::dispatch::impl::PackWeightsBase<PackWeights> {
  using PackWeightsBase::PackWeightsBase;
  void runOnOperation() override {
    int64_t panelBytes = getMachine(getOperation()).panelBytes;
    if (!panelBytes)
      return;
    SmallVector<stablehlo::ConstantOp> constants;
    getOperation().walk([&](stablehlo::ConstantOp constant) {
      auto type = dyn_cast<RankedTensorType>(constant.getType());
      if (type && type.getNumElements() >= minElements &&
          (type.getElementType().isF32() || type.getElementType().isF64() ||
           type.getElementType().isBF16() || isByte(type.getElementType())))
        constants.push_back(constant);
    });
    for (stablehlo::ConstantOp constant : constants)
      packConstant(constant, panelBytes);
    FewBits fewBits;
    getOperation().walk([&](stablehlo::DotGeneralOp dot) { fewBits.add(dot); });
    fewBits.packAll(minElements, panelBytes);
  }
};
} // namespace

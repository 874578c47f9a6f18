// Puts constant weights into the panels that products read, once instead of at
// each call.
//   %w = constant : tensor<784x100xf32>;  dot_general %x, %w
//   →  %p = constant : tensor<4x784x32xf32>;  %w = dispatch.from_panels %p
// Only constants all of whose uses are products, as right operand and with the
// same dimension numbers. Rows of bytes lie in groups of four, of the other
// sign than what they are multiplied with: tensor<4x196x32x4xui8>.

#include "compiler/dispatch/passes.h"
#include "dialect/dispatch/panel_layout.h"
#include "dialect/dispatch/short_sum.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/MathExtras.h"

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

/// Whether products of these elements are what the library computes from them.
bool multiplies(Operation *product, Type element) {
  Type result = getElementTypeOrSelf(product->getResult(0).getType());
  if (!isByte(element))
    return result == element;
  // In other types products are sums of something else.
  Type left = getElementTypeOrSelf(product->getOperand(0).getType());
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
SmallVector<int64_t> getDistances(RankedTensorType type, ArrayRef<int64_t> dims) {
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
  std::vector<Element> panels;
  panels.reserve(rows.size() * columns.size());
  for (ArrayRef<int64_t> rest = columns; !rest.empty();
       rest = rest.drop_front(static_cast<size_t>(width)))
    for (ArrayRef<int64_t> below = rows; !below.empty();
         below = below.drop_front(static_cast<size_t>(group)))
      for (int64_t column : rest.take_front(static_cast<size_t>(width)))
        for (int64_t row : below.take_front(static_cast<size_t>(group)))
          panels.push_back(column < 0 || row < 0 ? Element()
                                                 : from[row + column]);
  return panels;
}

template <typename Element>
DenseElementsAttr getAttribute(RankedTensorType type,
                               const std::vector<Element> &panels) {
  return DenseElementsAttr::getFromRawBuffer(
      type, ArrayRef(reinterpret_cast<const char *>(panels.data()),
                     panels.size() * sizeof(Element)));
}

void packConstant(stablehlo::ConstantOp constant, int64_t panelBytes) {
  auto type = cast<RankedTensorType>(constant.getType());
  std::optional<Matrix> matrix = findMatrix(constant);
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  int64_t group = getPanelGroup(type.getElementType());
  // A narrow one would be mostly spare columns.
  int64_t minColumns = panelBytes / 16;
  if (!matrix || panelBytes < bytes * group ||
      countElements(type, matrix->columns) < minColumns)
    return;
  ArrayRef<char> elements = getElements(constant.getValue());
  if (elements.size() != static_cast<size_t>(type.getNumElements() * bytes))
    return;

  int64_t width = panelBytes / (bytes * group);
  auto divide = [](int64_t count, int64_t by) {
    return static_cast<int64_t>(llvm::divideCeil(static_cast<uint64_t>(count),
                                                 static_cast<uint64_t>(by)));
  };
  SmallVector<int64_t> shape{
      divide(countElements(type, matrix->columns), width),
      divide(countElements(type, matrix->rows), group), width};
  if (group > 1)
    shape.push_back(group);
  Type element = type.getElementType();
  if (matrix->isOffset)
    element =
        IntegerType::get(type.getContext(), 8,
                         element.isUnsignedInteger() ? IntegerType::Signless
                                                     : IntegerType::Unsigned);
  auto panelType = RankedTensorType::get(shape, element);
  DenseElementsAttr value;
  if (bytes == 1) {
    auto panels = pack<uint8_t>(elements, type, *matrix, width, group);
    if (matrix->isOffset)
      for (uint8_t &byte : panels)
        byte ^= 0x80;
    value = getAttribute(panelType, panels);
  } else if (bytes == 4) {
    value = getAttribute(panelType,
                         pack<float>(elements, type, *matrix, width, group));
  } else {
    value = getAttribute(panelType,
                         pack<double>(elements, type, *matrix, width, group));
  }
  OpBuilder builder(constant);
  Value panels = builder.create<stablehlo::ConstantOp>(constant.getLoc(), value);
  constant.replaceAllUsesWith(
      builder
          .create<FromPanelsOp>(constant.getLoc(), type, panels, matrix->rows,
                                matrix->columns)
          .getResult());
  constant.erase();
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
           isByte(type.getElementType())))
        constants.push_back(constant);
    });
    for (stablehlo::ConstantOp constant : constants)
      packConstant(constant, panelBytes);
  }
};
} // namespace

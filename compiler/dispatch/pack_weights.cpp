// Puts constant weights into the panels that products read, once instead of at
// each call.
//   %w = constant : tensor<784x100xf32>;  dot_general %x, %w
//   →  %p = constant : tensor<4x784x32xf32>;  %w = dispatch.from_panels %p
// Only constants all of whose uses are products, as right operand and with the
// same dimension numbers.

#include "compiler/dispatch/passes.h"
#include "dialect/dispatch/ops.h"
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

/// What every reader of a constant takes it for.
std::optional<Matrix> findMatrix(stablehlo::ConstantOp constant) {
  std::optional<Matrix> common;
  for (OpOperand &use : constant->getUses()) {
    std::optional<Matrix> matrix;
    Operation *user = use.getOwner();
    auto result = user->getNumResults()
                      ? dyn_cast<RankedTensorType>(user->getResult(0).getType())
                      : RankedTensorType();
    // In other types products are sums of something else.
    if (use.getOperandNumber() != 1 || !result ||
        result.getElementType() != constant.getType().getElementType())
      return std::nullopt;
    if (isShortSum(user))
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

template <typename Element>
std::vector<Element> pack(ArrayRef<char> elements, RankedTensorType type,
                          const Matrix &matrix, int64_t width) {
  const auto *from = reinterpret_cast<const Element *>(elements.data());
  SmallVector<int64_t> rows = getDistances(type, matrix.rows);
  SmallVector<int64_t> columns = getDistances(type, matrix.columns);
  columns.resize(llvm::alignTo(columns.size(), static_cast<uint64_t>(width)), -1);
  std::vector<Element> panels;
  panels.reserve(rows.size() * columns.size());
  for (ArrayRef<int64_t> rest = columns; !rest.empty();
       rest = rest.drop_front(static_cast<size_t>(width)))
    for (int64_t row : rows)
      for (int64_t column : rest.take_front(static_cast<size_t>(width)))
        panels.push_back(column < 0 ? Element() : from[row + column]);
  return panels;
}

void packConstant(stablehlo::ConstantOp constant, int64_t panelBytes) {
  auto type = cast<RankedTensorType>(constant.getType());
  std::optional<Matrix> matrix = findMatrix(constant);
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  // A narrow one would be mostly spare columns.
  int64_t minColumns = panelBytes / 16;
  if (!matrix || panelBytes < bytes ||
      countElements(type, matrix->columns) < minColumns)
    return;
  ArrayRef<char> elements = getElements(constant.getValue());
  if (elements.size() != static_cast<size_t>(type.getNumElements() * bytes))
    return;

  int64_t width = panelBytes / bytes;
  int64_t rows = countElements(type, matrix->rows);
  int64_t columns = countElements(type, matrix->columns);
  auto panelType = type.clone(
      {static_cast<int64_t>(llvm::divideCeil(static_cast<uint64_t>(columns),
                                             static_cast<uint64_t>(width))),
       rows, width});
  DenseElementsAttr value;
  if (bytes == 4)
    value = DenseElementsAttr::get(
        panelType, ArrayRef(pack<float>(elements, type, *matrix, width)));
  else
    value = DenseElementsAttr::get(
        panelType, ArrayRef(pack<double>(elements, type, *matrix, width)));
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
          (type.getElementType().isF32() || type.getElementType().isF64()))
        constants.push_back(constant);
    });
    for (stablehlo::ConstantOp constant : constants)
      packConstant(constant, panelBytes);
  }
};
} // namespace

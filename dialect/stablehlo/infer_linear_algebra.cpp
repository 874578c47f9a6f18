// Inference of fft, cholesky and triangular_solve.

#include "dialect/stablehlo/dimension_rules.h"
#include "dialect/stablehlo/ops.h"

using namespace mlir;
using namespace mlir::stablehlo;

namespace {
/// The size of the halved dimension of a real transform.
int64_t halved(int64_t length) { return length == 0 ? 0 : length / 2 + 1; }

LogicalResult verifyLastDims(const RuleSite &site, RankedTensorType type,
                             ArrayRef<int64_t> expected) {
  ArrayRef<int64_t> last = type.getShape().take_back(expected.size());
  for (auto [size, length] : llvm::zip_equal(last, expected))
    if (!agree(size, length))
      return site.fail("last dimensions of the operand must be ",
                       shapeText(expected), ": operand is ", type);
  return success();
}

FailureOr<Type> inferFftElement(const RuleSite &site, FftType kind,
                                Type element) {
  auto complex = dyn_cast<ComplexType>(element);
  if (kind == FftType::RFFT) {
    if (!isa<Float32Type, Float64Type>(element))
      return site.fail("RFFT must have an operand of f32 or f64: is ", element);
    return Type(ComplexType::get(element));
  }
  if (!complex)
    return site.fail(stringifyFftType(kind),
                     " must have a complex operand: is ", element);
  return kind == FftType::IRFFT ? complex.getElementType() : element;
}
} // namespace

LogicalResult FftOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> location,
                                      ValueRange operands,
                                      DictionaryAttr attributes,
                                      OpaqueProperties properties, RegionRange,
                                      SmallVectorImpl<Type> &inferred) {
  RuleSite site(location, getOperationName());
  Adaptor adaptor(operands, attributes, properties);
  RankedTensorType operand = tensorOperand(site, operands, 0);
  if (!operand)
    return failure();
  if (!adaptor.getFftTypeAttr() || !adaptor.getFftLengthAttr())
    return site.fail("fft_type and fft_length must be given: are not");
  FftType kind = adaptor.getFftType();
  ArrayRef<int64_t> lengths = adaptor.getFftLength();
  if (lengths.empty() || lengths.size() > 3)
    return site.fail("fft_length must have 1 to 3 entries: has ",
                     lengths.size());
  if (static_cast<int64_t>(lengths.size()) > operand.getRank())
    return site.fail("fft_length must have at most one entry for each "
                     "dimension of the operand: has ",
                     lengths.size(), ", operand is ", operand);
  for (int64_t length : lengths)
    if (length < 0)
      return site.fail("fft_length must not be negative: is ",
                       shapeText(lengths));
  FailureOr<Type> element =
      inferFftElement(site, kind, operand.getElementType());
  if (failed(element))
    return failure();

  ShapeBuilder shape(operand);
  int64_t last = operand.getRank() - 1;
  if (kind == FftType::RFFT) {
    if (failed(verifyLastDims(site, operand, lengths)))
      return failure();
    shape.set(last, halved(lengths.back()));
  } else if (kind == FftType::IRFFT) {
    SmallVector<int64_t> expected(lengths);
    expected.back() = halved(lengths.back());
    if (failed(verifyLastDims(site, operand, expected)))
      return failure();
    int64_t first = operand.getRank() - static_cast<int64_t>(lengths.size());
    for (auto [index, length] : llvm::enumerate(lengths))
      shape.set(first + static_cast<int64_t>(index), length);
  }
  inferred.push_back(shape.get(*element));
  return success();
}

LogicalResult CholeskyOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, ValueRange operands,
    DictionaryAttr, OpaqueProperties, RegionRange,
    SmallVectorImpl<Type> &inferred) {
  RuleSite site(location, getOperationName());
  RankedTensorType a = tensorOperand(site, operands, 0);
  if (!a)
    return failure();
  int64_t rank = a.getRank();
  if (rank < 2)
    return site.fail("rank of a must be at least 2: a is ", a);
  if (!agree(a.getDimSize(rank - 2), a.getDimSize(rank - 1)))
    return site.fail("last two dimensions of a must be equal: a is ", a);
  inferred.push_back(a);
  return success();
}

LogicalResult TriangularSolveOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange,
    SmallVectorImpl<Type> &inferred) {
  RuleSite site(location, getOperationName());
  Adaptor adaptor(operands, attributes, properties);
  RankedTensorType a = tensorOperand(site, operands, 0);
  RankedTensorType b = tensorOperand(site, operands, 1);
  if (!a || !b)
    return failure();
  if (!adaptor.getLeftSideAttr() || !adaptor.getTransposeAAttr())
    return site.fail("left_side and transpose_a must be given: are not");
  int64_t rank = a.getRank();
  if (rank < 2 || b.getRank() != rank)
    return site.fail("a and b must have one rank of at least 2: a is ", a,
                     ", b is ", b);
  if (!agree(a.getDimSize(rank - 2), a.getDimSize(rank - 1)))
    return site.fail("last two dimensions of a must be equal: a is ", a);
  int64_t shared = adaptor.getLeftSide() ? rank - 2 : rank - 1;
  if (!agree(a.getDimSize(rank - 1), b.getDimSize(shared)))
    return site.fail("size of a must be that of dim ", shared, " of b: a is ",
                     a, ", b is ", b);
  for (int64_t dim = 0; dim < rank - 2; ++dim)
    if (!agree(a.getDimSize(dim), b.getDimSize(dim)))
      return site.fail("batch dimensions must be equal: a is ", a, ", b is ",
                       b);
  if (adaptor.getTransposeA() == Transpose::TRANSPOSE_INVALID)
    return site.fail("transpose_a must not be TRANSPOSE_INVALID: it is");
  inferred.push_back(b);
  return success();
}

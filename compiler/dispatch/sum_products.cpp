// Makes sums of products of vectors, one or many side by side.
//   dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [1] x [1]
//   →  reduce (multiply %x, %y) applies add across dimensions = [1]
// Nothing of a side is used twice, so there is no tile to gain by; rows are
// read as vectors, with what makes them in the same loop.

#include "compiler/dispatch/passes.h"
#include "dialect/dispatch/ops.h"
#include "dialect/dispatch/short_sum.h"
#include "dialect/stablehlo/ops.h"

namespace alula::dispatch {
#define GEN_PASS_DEF_SUMPRODUCTS
#include "compiler/dispatch/passes.h.inc"
} // namespace alula::dispatch

using namespace mlir;

namespace {
/// Whether all dimensions are the batch's or summed over, and both are there:
/// a single long sum is divided among threads as a product.
bool multipliesVectors(stablehlo::DotGeneralOp dot) {
  auto numbers = dot.getDotDimensionNumbers();
  size_t batch = numbers.getLhsBatchingDimensions().size(),
         terms = numbers.getLhsContractingDimensions().size();
  return batch != 0 && terms != 0 &&
         llvm::all_of(dot->getOperandTypes(), [&](Type type) {
           auto side = cast<RankedTensorType>(type);
           return static_cast<size_t>(side.getRank()) == batch + terms &&
                  !side.getEncoding() &&
                  (isa<FloatType, ComplexType>(side.getElementType()) ||
                   (side.getElementType().isInteger() &&
                    !side.getElementType().isInteger(1)));
         });
}

/// What is added up: floats of at most 16 bits are as exact as products are.
Type getSumType(Type result) {
  return isa<FloatType>(result) && result.getIntOrFloatBitWidth() < 32
             ? Float32Type::get(result.getContext())
             : result;
}

class SumBuilder {
public:
  explicit SumBuilder(stablehlo::DotGeneralOp dot)
      : dot(dot), builder(dot), location(dot.getLoc()),
        type(cast<RankedTensorType>(dot.getType())),
        sumType(getSumType(type.getElementType())) {}

  Value build() {
    auto numbers = dot.getDotDimensionNumbers();
    ArrayRef<int64_t> batch = numbers.getLhsBatchingDimensions(),
                      terms = numbers.getLhsContractingDimensions();
    // As the left side lies; of the other one, where each of its dimensions is.
    SmallVector<int64_t> order(batch.size() + terms.size());
    for (auto [from, to] :
         llvm::zip_equal(numbers.getRhsBatchingDimensions(), batch))
      order[static_cast<size_t>(to)] = from;
    for (auto [from, to] :
         llvm::zip_equal(numbers.getRhsContractingDimensions(), terms))
      order[static_cast<size_t>(to)] = from;
    Value left = convert(dot.getLhs(), sumType);
    Value right = convert(transpose(dot.getRhs(), order), sumType);
    Value products = builder.create<stablehlo::MulOp>(location, left, right);
    // What is left of the batch is in the order of its dimensions.
    SmallVector<int64_t> sorted = llvm::to_vector(
        llvm::seq(int64_t(0), static_cast<int64_t>(batch.size())));
    llvm::sort(sorted, [&](int64_t i, int64_t k) {
      return batch[static_cast<size_t>(i)] < batch[static_cast<size_t>(k)];
    });
    SmallVector<int64_t> places(sorted.size());
    for (auto [place, number] : llvm::enumerate(sorted))
      places[static_cast<size_t>(number)] = static_cast<int64_t>(place);
    return convert(transpose(sum(products, terms), places),
                   type.getElementType());
  }

private:
  Value convert(Value value, Type element) {
    auto from = cast<RankedTensorType>(value.getType());
    return from.getElementType() == element
               ? value
               : builder.create<stablehlo::ConvertOp>(
                     location, from.clone(element), value);
  }

  Value transpose(Value value, ArrayRef<int64_t> order) {
    if (llvm::is_sorted(order))
      return value;
    auto from = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape;
    for (int64_t dim : order)
      shape.push_back(from.getDimSize(static_cast<unsigned>(dim)));
    return builder.create<stablehlo::TransposeOp>(
        location, RankedTensorType::get(shape, from.getElementType()), value,
        order);
  }

  DenseElementsAttr getZero(RankedTensorType scalar) {
    if (auto complex = dyn_cast<ComplexType>(sumType)) {
      APFloat zero = APFloat::getZero(
          cast<FloatType>(complex.getElementType()).getFloatSemantics());
      return DenseElementsAttr::get(scalar, std::complex<APFloat>(zero, zero));
    }
    return cast<DenseElementsAttr>(builder.getZeroAttr(scalar));
  }

  Value sum(Value products, ArrayRef<int64_t> terms) {
    SmallVector<int64_t> dims(terms), shape;
    llvm::sort(dims);
    auto from = cast<RankedTensorType>(products.getType());
    for (int64_t dim = 0; dim < from.getRank(); ++dim)
      if (!llvm::is_contained(dims, dim))
        shape.push_back(from.getDimSize(static_cast<unsigned>(dim)));
    auto scalar = RankedTensorType::get({}, sumType);
    Value zero =
        builder.create<stablehlo::ConstantOp>(location, getZero(scalar));
    auto reduce = builder.create<stablehlo::ReduceOp>(
        location, TypeRange(RankedTensorType::get(shape, sumType)),
        ValueRange(products), ValueRange(zero), dims);
    OpBuilder::InsertionGuard guard(builder);
    Block *block = builder.createBlock(&reduce.getBody());
    block->addArguments({scalar, scalar}, {location, location});
    Value one = builder.create<stablehlo::AddOp>(
        location, scalar, block->getArgument(0), block->getArgument(1));
    builder.create<stablehlo::ReturnOp>(location, one);
    return reduce.getResult(0);
  }

  stablehlo::DotGeneralOp dot;
  OpBuilder builder;
  Location location;
  RankedTensorType type;
  Type sumType;
};

struct SumProducts
    : public alula::dispatch::impl::SumProductsBase<SumProducts> {
  void runOnOperation() override {
    SmallVector<stablehlo::DotGeneralOp> products;
    getOperation().walk([&](stablehlo::DotGeneralOp dot) {
      if (multipliesVectors(dot) && !alula::dispatch::isShortSum(dot) &&
          !dot.getAlgorithmAttr())
        products.push_back(dot);
    });
    for (stablehlo::DotGeneralOp dot : products) {
      dot.replaceAllUsesWith(SumBuilder(dot).build());
      dot->erase();
    }
  }
};
} // namespace

// Makes sums of products of vectors, one or many side by side, and of many
// small matrices with vectors.
//   dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [1] x [1]
//   →  reduce (multiply %x, %y) applies add across dimensions = [1]
// There is little that is used twice, so no tile to gain by; rows are read as
// vectors, with what makes them in the same loop.

#include "compiler/dispatch/passes.h"
#include "dialect/dispatch/ops.h"
#include "dialect/dispatch/short_sum.h"
#include "dialect/stablehlo/build.h"
#include "dialect/stablehlo/ops.h"

namespace alula::dispatch {
#define GEN_PASS_DEF_SUMPRODUCTS
#include "compiler/dispatch/passes.h.inc"
} // namespace alula::dispatch

using namespace mlir;

namespace {
/// A larger matrix is worth a call.
constexpr int64_t mostElements = 1024;

bool isNumber(Type element) {
  return isa<FloatType, ComplexType>(element) ||
         (element.isInteger() && !element.isInteger(1));
}

bool hasFreeDims(Value side, ArrayRef<int64_t> batch, ArrayRef<int64_t> terms) {
  return cast<RankedTensorType>(side.getType()).getRank() !=
         static_cast<int64_t>(batch.size() + terms.size());
}

/// Whether at least one side is a vector for each place of the batch, and the
/// other one no more than a small matrix. A single long sum is divided among
/// threads as a product.
bool multipliesVectors(stablehlo::DotGeneralOp dot) {
  auto numbers = dot.getDotDimensionNumbers();
  ArrayRef<int64_t> batch = numbers.getLhsBatchingDimensions(),
                    terms = numbers.getLhsContractingDimensions();
  if (batch.empty() || terms.empty() ||
      !llvm::all_of(dot->getOperandTypes(), [](Type type) {
        auto side = cast<RankedTensorType>(type);
        return !side.getEncoding() && isNumber(side.getElementType());
      }))
    return false;
  bool isMatrix = hasFreeDims(dot.getLhs(), batch, terms),
       isOtherMatrix = hasFreeDims(dot.getRhs(), batch, terms);
  if (!isMatrix && !isOtherMatrix)
    return true;
  auto matrix = cast<RankedTensorType>(
      (isMatrix ? dot.getLhs() : dot.getRhs()).getType());
  if ((isMatrix && isOtherMatrix) || !matrix.hasStaticShape())
    return false;
  int64_t count = 1;
  for (int64_t dim : isMatrix ? batch : numbers.getRhsBatchingDimensions())
    count *= matrix.getDimSize(static_cast<unsigned>(dim));
  return count > 1 && matrix.getNumElements() / count <= mostElements;
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
    Side left{dot.getLhs(), numbers.getLhsBatchingDimensions(),
              numbers.getLhsContractingDimensions()};
    Side right{dot.getRhs(), numbers.getRhsBatchingDimensions(),
               numbers.getRhsContractingDimensions()};
    // The side that has all dimensions, in whose order all is done.
    bool isSwapped = hasFreeDims(right.value, right.batch, right.terms);
    if (isSwapped)
      std::swap(left, right);
    Value whole = convert(left.value, sumType);
    Value other = convert(arrange(right, left), sumType);
    Value products = builder.create<stablehlo::MulOp>(
        location, isSwapped ? other : whole, isSwapped ? whole : other);
    // What is left is in the order of the dimensions: the batch comes first.
    SmallVector<int64_t> kept, wanted(left.batch), order;
    auto rank = cast<RankedTensorType>(whole.getType()).getRank();
    for (int64_t dim = 0; dim < rank; ++dim) {
      if (llvm::is_contained(left.terms, dim))
        continue;
      kept.push_back(dim);
      if (!llvm::is_contained(left.batch, dim))
        wanted.push_back(dim);
    }
    for (int64_t dim : wanted)
      order.push_back(llvm::find(kept, dim) - kept.begin());
    return convert(transpose(sum(products, left.terms), order),
                   type.getElementType());
  }

private:
  struct Side {
    Value value;
    ArrayRef<int64_t> batch, terms;
  };

  /// A side that has no free dimensions, as the other one lies: its elements
  /// are repeated along the dimensions that it has not.
  Value arrange(const Side &side, const Side &whole) {
    auto from = cast<RankedTensorType>(side.value.getType());
    auto to = cast<RankedTensorType>(whole.value.getType());
    SmallVector<int64_t> places(static_cast<size_t>(from.getRank()));
    for (auto [at, dim] : llvm::zip_equal(side.batch, whole.batch))
      places[static_cast<size_t>(at)] = dim;
    for (auto [at, dim] : llvm::zip_equal(side.terms, whole.terms))
      places[static_cast<size_t>(at)] = dim;
    SmallVector<int64_t> order =
        llvm::to_vector(llvm::seq(int64_t(0), from.getRank()));
    llvm::sort(order, [&](int64_t a, int64_t b) {
      return places[static_cast<size_t>(a)] < places[static_cast<size_t>(b)];
    });
    Value turned = transpose(side.value, order);
    if (from.getRank() == to.getRank())
      return turned;
    llvm::sort(places);
    return builder.create<stablehlo::BroadcastInDimOp>(
        location, to.clone(from.getElementType()), turned, places);
  }

  Value convert(Value value, Type element) {
    auto from = cast<RankedTensorType>(value.getType());
    return from.getElementType() == element
               ? value
               : builder.create<stablehlo::ConvertOp>(
                     location, from.clone(element), value);
  }

  Value sum(Value products, ArrayRef<int64_t> terms) {
    return stablehlo::buildSum(builder, location, products, terms);
  }
  Value transpose(Value value, ArrayRef<int64_t> order) {
    return stablehlo::buildTranspose(builder, location, value, order);
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

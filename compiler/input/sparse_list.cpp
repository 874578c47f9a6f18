// Vectors and lists of elements as ops.

#include "compiler/input/sparse_list.h"

#include "dialect/stablehlo/build.h"

#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace alula::input;

using Direction = stablehlo::ComparisonDirection;

Encoding alula::input::getSparseEncoding(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_or_null<Encoding>(tensor.getEncoding()) : Encoding();
}

RankedTensorType alula::input::getDenseType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return RankedTensorType::get(tensor.getShape(), tensor.getElementType());
}

Extent SparseMath::getExtent(Value tensor, unsigned dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return Extent::of(type.getDimSize(dim));
  return {ShapedType::kDynamic, scalars.getDim(tensor, dim)};
}

SmallVector<Extent> SparseMath::getExtents(Value tensor) {
  SmallVector<Extent> extents;
  auto type = cast<RankedTensorType>(tensor.getType());
  for (unsigned dim = 0; dim < type.getRank(); ++dim)
    extents.push_back(getExtent(tensor, dim));
  return extents;
}

Value SparseMath::getNumber(Extent extent) {
  return extent.isKnown() ? scalars.make(extent.known) : extent.value;
}

Extent SparseMath::multiply(Extent a, Extent b) {
  if (a.isKnown() && b.isKnown())
    return Extent::of(a.known * b.known);
  if (a.known == 1)
    return b;
  if (b.known == 1)
    return a;
  return {ShapedType::kDynamic, scalars.multiply(getNumber(a), getNumber(b))};
}

Extent SparseMath::multiplyAll(ArrayRef<Extent> extents) {
  Extent all = Extent::of(1);
  for (Extent extent : extents)
    all = multiply(all, extent);
  return all;
}

Value SparseMath::makeShape(ArrayRef<Extent> extents) {
  SmallVector<Value> numbers;
  for (Extent extent : extents)
    numbers.push_back(getNumber(extent));
  return scalars.makeList(numbers);
}

RankedTensorType SparseMath::getType(ArrayRef<Extent> extents, Type element) {
  SmallVector<int64_t> shape;
  for (Extent extent : extents)
    shape.push_back(extent.known);
  return RankedTensorType::get(shape, element);
}

Value SparseMath::splat(Value scalar, ArrayRef<Extent> shape) {
  RankedTensorType type = getType(shape, getElementTypeOrSelf(scalar));
  if (type.hasStaticShape())
    return builder.create<stablehlo::BroadcastInDimOp>(
        location, type, scalar, builder.getDenseI64ArrayAttr({}));
  return builder.create<stablehlo::DynamicBroadcastInDimOp>(
      location, type, scalar, makeShape(shape),
      builder.getDenseI64ArrayAttr({}), DenseI64ArrayAttr(),
      DenseI64ArrayAttr());
}

Value SparseMath::splat(Extent number, Value like) {
  return splat(getNumber(number), getExtents(like));
}

Value SparseMath::makeZeros(ArrayRef<Extent> shape, Type element) {
  return splat(stablehlo::buildZero(builder, location, element), shape);
}

Value SparseMath::makeIota(ArrayRef<Extent> shape, int64_t dim) {
  RankedTensorType type = getType(shape, builder.getI64Type());
  if (type.hasStaticShape())
    return builder.create<stablehlo::IotaOp>(location, type, dim);
  return builder.create<stablehlo::DynamicIotaOp>(location, type,
                                                  makeShape(shape), dim);
}

Value SparseMath::reshape(Value tensor, ArrayRef<Extent> shape) {
  RankedTensorType type = getType(shape, getElementTypeOrSelf(tensor));
  if (type == tensor.getType() && shape.size() == 1)
    return tensor;
  if (type.hasStaticShape())
    return builder.create<stablehlo::ReshapeOp>(location, type, tensor);
  return builder.create<stablehlo::DynamicReshapeOp>(location, type, tensor,
                                                     makeShape(shape));
}

Value SparseMath::convert(Value tensor, Type element) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getElementType() == element)
    return tensor;
  return builder.create<stablehlo::ConvertOp>(
      location, RankedTensorType::get(type.getShape(), element), tensor);
}

Value SparseMath::concatenate(ValueRange parts, int64_t dim) {
  auto type = cast<RankedTensorType>(parts[0].getType());
  SmallVector<int64_t> shape(type.getShape());
  int64_t &size = shape[static_cast<size_t>(dim)];
  size = 0;
  for (Value part : parts) {
    int64_t more = cast<RankedTensorType>(part.getType())
                       .getShape()[static_cast<size_t>(dim)];
    size = ShapedType::isDynamic(size) || ShapedType::isDynamic(more)
               ? ShapedType::kDynamic
               : size + more;
  }
  return builder.create<stablehlo::ConcatenateOp>(
      location, RankedTensorType::get(shape, type.getElementType()), parts,
      static_cast<uint64_t>(dim));
}

Value SparseMath::getColumn(Value matrix, int64_t column) {
  auto type = cast<RankedTensorType>(matrix.getType());
  SmallVector<Extent> rows{getExtent(matrix)};
  Type element = type.getElementType();
  if (type.hasStaticShape())
    return reshape(builder.create<stablehlo::SliceOp>(
                       location,
                       RankedTensorType::get({type.getDimSize(0), 1}, element),
                       matrix, ArrayRef<int64_t>{0, column},
                       ArrayRef<int64_t>{type.getDimSize(0), column + 1},
                       ArrayRef<int64_t>{1, 1}),
                   rows);
  Value one = scalars.make(1);
  Value slice = builder.create<stablehlo::RealDynamicSliceOp>(
      location, RankedTensorType::get({ShapedType::kDynamic, 1}, element),
      matrix, scalars.makeList({scalars.make(0), scalars.make(column)}),
      scalars.makeList({getNumber(rows[0]), scalars.make(column + 1)}),
      scalars.makeList({one, one}));
  return reshape(slice, rows);
}

Value SparseMath::both(Value a, Value b) {
  return a && b ? apply<stablehlo::AndOp>(a, b) : a ? a : b;
}

Value SparseMath::select(Value mask, Value a, Value b) {
  return builder.create<stablehlo::SelectOp>(location, a.getType(), mask, a, b);
}

Value SparseMath::gather(Value list, Value places) {
  auto type = cast<RankedTensorType>(list.getType());
  // There must be something to read.
  if (type.isDynamicDim(0) || type.getDimSize(0) == 0)
    list =
        concatenate({list, makeZeros({Extent::of(1)}, type.getElementType())});
  return gatherSome(list, places);
}

Value SparseMath::gatherSome(Value list, Value places) {
  auto type = cast<RankedTensorType>(list.getType());
  return builder.create<stablehlo::GatherOp>(
      location,
      RankedTensorType::get(cast<RankedTensorType>(places.getType()).getShape(),
                            type.getElementType()),
      list, places,
      stablehlo::GatherDimensionNumbersAttr::get(
          builder.getContext(), /*offsetDims=*/{}, /*collapsedSliceDims=*/{0},
          {}, {}, /*startIndexMap=*/{0}, /*indexVectorDim=*/1),
      builder.getDenseI64ArrayAttr({1}), builder.getBoolAttr(false));
}

/// Two scalars of one type: a block that adds them.
static void buildAdd(Region &region, Type element, OpBuilder &builder,
                     Location location) {
  OpBuilder::InsertionGuard guard(builder);
  auto scalar = RankedTensorType::get({}, element);
  Block *block =
      builder.createBlock(&region, {}, {scalar, scalar}, {location, location});
  Value sum = builder.create<stablehlo::AddOp>(
      location, scalar, block->getArgument(0), block->getArgument(1));
  builder.create<stablehlo::ReturnOp>(location, sum);
}

Value SparseMath::scatterAdd(Value onto, Value places, Value updates) {
  auto scatter = builder.create<stablehlo::ScatterOp>(
      location, TypeRange{onto.getType()}, ValueRange{onto}, places,
      ValueRange{updates},
      stablehlo::ScatterDimensionNumbersAttr::get(
          builder.getContext(), /*updateWindowDims=*/{},
          /*insertedWindowDims=*/{0}, {}, {},
          /*scatterDimsToOperandDims=*/{0}, /*indexVectorDim=*/1),
      builder.getBoolAttr(false), builder.getBoolAttr(false));
  buildAdd(scatter.getUpdateComputation(), getElementTypeOrSelf(onto), builder,
           location);
  return scatter.getResult(0);
}

SmallVector<Value> SparseMath::sort(ValueRange vectors) {
  auto sort = builder.create<stablehlo::SortOp>(
      location, TypeRange(vectors), vectors, /*dimension=*/uint64_t(0),
      /*is_stable=*/true);
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&sort.getComparator());
  for (Value vector : vectors)
    for (int side = 0; side < 2; ++side)
      block->addArgument(
          RankedTensorType::get({}, getElementTypeOrSelf(vector)), location);
  Value isLess =
      compare(block->getArgument(0), Direction::LT, block->getArgument(1));
  builder.create<stablehlo::ReturnOp>(location, isLess);
  return SmallVector<Value>(sort.getResults());
}

// Steps of powers of two, the largest first.
Value SparseMath::countUpTo(Value list, Value queries) {
  Extent count = getExtent(list);
  Value none = splat(0, queries);
  if (count.isKnown() && count.known == 0)
    return none;
  // Nothing is as much as what comes after the last.
  auto one = RankedTensorType::get({1}, builder.getI64Type());
  Value most = builder.create<stablehlo::ConstantOp>(
      location, one, DenseElementsAttr::get(one, INT64_MAX));
  Value ended = concatenate({list, most});
  Value largest = scalars.make(
      count.isKnown() ? int64_t(llvm::bit_floor(uint64_t(count.known)))
                      : int64_t(1) << 31);
  auto loop = builder.create<stablehlo::WhileOp>(
      location, TypeRange{largest.getType(), none.getType()},
      ValueRange{largest, none});
  SmallVector<Type> types(loop.getResultTypes());
  SmallVector<Location> locations(2, location);
  OpBuilder::InsertionGuard guard(builder);
  Block *condition = builder.createBlock(&loop.getCond(), {}, types, locations);
  builder.create<stablehlo::ReturnOp>(
      location,
      compare(condition->getArgument(0), Direction::GT, scalars.make(0)));
  Block *body = builder.createBlock(&loop.getBody(), {}, types, locations);
  Value step = body->getArgument(0), found = body->getArgument(1);
  Value next = add(found, splat(step, getExtents(queries)));
  Value isMore = compare(gatherSome(ended, subtract(next, splat(1, next))),
                         Direction::LE, queries);
  SmallVector<Value> left{scalars.divide(step, scalars.make(2)),
                          select(isMore, next, found)};
  builder.create<stablehlo::ReturnOp>(location, left);
  return loop.getResult(1);
}

SparseList SparseMath::makeList(ArrayRef<Value> coordinates, Value values,
                                Value mask, ArrayRef<Extent> sizes) {
  SparseList list;
  for (auto [coordinate, size] : llvm::zip_equal(coordinates, sizes))
    list.coordinates.push_back(
        mask ? select(mask, coordinate, splat(size, coordinate)) : coordinate);
  list.values =
      mask ? select(mask, values,
                    makeZeros(getExtents(values), getElementTypeOrSelf(values)))
           : values;
  llvm::append_range(list.sizes, sizes);
  return list;
}

Value SparseMath::getMask(const SparseList &list) {
  return compare(list.coordinates[0], Direction::LT,
                 splat(list.sizes[0], list.coordinates[0]));
}

Value SparseMath::linearize(ArrayRef<Value> coordinates,
                            ArrayRef<Extent> sizes) {
  Value place = coordinates[0];
  for (auto [coordinate, size] :
       llvm::zip_equal(coordinates.drop_front(), sizes.drop_front()))
    place = add(multiply(place, splat(size, place)), coordinate);
  return place;
}

SmallVector<Value> SparseMath::delinearize(Value places,
                                           ArrayRef<Extent> sizes) {
  SmallVector<Value> coordinates(sizes.size());
  Value rest = places;
  for (size_t dim = sizes.size(); dim-- > 1;) {
    Value size = splat(sizes[dim], rest);
    coordinates[dim] = getRemainder(rest, size);
    rest = divide(rest, size);
  }
  coordinates[0] = rest;
  return coordinates;
}

SparseList SparseMath::makeSparse(Value dense) {
  SmallVector<Extent> sizes = getExtents(dense);
  Value values = flatten(dense);
  SmallVector<Value> coordinates =
      delinearize(makeIota(getExtents(values)), sizes);
  Value mask =
      compare(values, Direction::NE,
              makeZeros(getExtents(values), getElementTypeOrSelf(values)));
  return makeList(coordinates, values, mask, sizes);
}

Value SparseMath::makeDense(const SparseList &list, RankedTensorType type) {
  Extent all = multiplyAll(list.sizes);
  Value zeros = makeZeros({all}, getElementTypeOrSelf(list.values));
  Value sum =
      scatterAdd(zeros, linearize(list.coordinates, list.sizes), list.values);
  if (type.hasStaticShape())
    return builder.create<stablehlo::ReshapeOp>(location, type, sum);
  return builder.create<stablehlo::DynamicReshapeOp>(location, type, sum,
                                                     makeShape(list.sizes));
}

// A place is in a list once, so that at most two neighbours are of one place.
SparseList SparseMath::merge(const SparseList &a, const SparseList &b,
                             bool isProduct) {
  Extent all = multiplyAll(a.sizes);
  Value places = concatenate(
      {linearize(a.coordinates, a.sizes), linearize(b.coordinates, b.sizes)});
  // All that is none, alike.
  places = apply<stablehlo::MinOp>(places, splat(all, places));
  SmallVector<Value> sorted = sort({places, concatenate({a.values, b.values})});
  places = sorted[0];
  Value values = sorted[1], at = makeIota(getExtents(places)),
        one = splat(1, at), end = splat(getExtent(places), at);
  Value next = add(at, one), before = subtract(at, one);
  Value isThere = compare(places, Direction::LT, splat(all, places));
  Value isTwice = both(compare(next, Direction::LT, end),
                       compare(gather(places, next), Direction::EQ, places));
  Value isSecond = both(compare(at, Direction::GT, splat(0, at)),
                        compare(gather(places, before), Direction::EQ, places));
  Value other = gather(values, next);
  Value mask, computed;
  if (isProduct) {
    mask = both(isThere, isTwice);
    computed = multiply(values, other);
  } else {
    mask = both(isThere, builder.create<stablehlo::NotOp>(
                             location, isSecond.getType(), isSecond));
    Value more =
        select(isTwice, other,
               makeZeros(getExtents(values), getElementTypeOrSelf(values)));
    computed = add(values, more);
  }
  return makeList(delinearize(places, a.sizes), computed, mask, a.sizes);
}

SparseList SparseMath::reshape(const SparseList &list, ArrayRef<Extent> sizes) {
  return makeList(delinearize(linearize(list.coordinates, list.sizes), sizes),
                  list.values, getMask(list), sizes);
}

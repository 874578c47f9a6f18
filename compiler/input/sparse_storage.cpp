// How tensors with an encoding are stored: for each level from the first on,
// where the children of each place start (positions, of compressed levels) and
// their coordinates (of compressed and singleton levels), then the values.
// Arrays may be longer than what is used: the last position says how much is.

#include "compiler/input/sparse_list.h"

#include "mlir/IR/AffineExpr.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace alula::input;

using Direction = stablehlo::ComparisonDirection;
using sparse_tensor::LevelFormat;
using sparse_tensor::LevelType;

/// Dimensions of levels: MLIR reads no encoding but permutations and blocks
/// (floordiv and mod of a number).
static AffineMap getInverse(Encoding encoding) {
  return sparse_tensor::inferLvlToDim(encoding.getDimToLvl(),
                                      encoding.getContext());
}

LogicalResult alula::input::checkSparseType(Operation *op, Type type) {
  Encoding encoding = getSparseEncoding(type);
  if (!encoding)
    return success();
  auto tensor = cast<RankedTensorType>(type);
  ArrayRef<LevelType> levels = encoding.getLvlTypes();
  for (auto [number, level] : llvm::enumerate(levels))
    if (!level.isa<LevelFormat::Dense, LevelFormat::Compressed,
                   LevelFormat::Singleton>())
      return stablehlo::opError(op)
             << "levels of sparse tensors must be dense, compressed or "
                "singleton: level "
             << number << " of " << type << " is "
             << sparse_tensor::toFormatString(level.getLvlFmt());
  if (!encoding.getDimSlices().empty() || encoding.getExplicitVal() ||
      encoding.getImplicitVal())
    return stablehlo::opError(op)
           << "sparse tensors must be whole and without values of their own: "
              "has "
           << type;
  if (!tensor.getElementType().isIntOrFloat() &&
      !isa<ComplexType>(tensor.getElementType()))
    return stablehlo::opError(op)
           << "elements of sparse tensors must be numbers: has " << type;
  for (int64_t size : tensor.getShape())
    if (size == 0)
      return stablehlo::opError(op)
             << "sizes of sparse tensors must not be zero: has " << type;
  if (!encoding.isPermutation() && !tensor.hasStaticShape())
    return stablehlo::opError(op)
           << "sizes of sparse tensors in blocks must be known: has " << type;
  for (size_t level = 1; level < levels.size(); ++level)
    if (levels[level].isa<LevelFormat::Singleton>() &&
        sparse_tensor::isUniqueLT(levels[level - 1]))
      return stablehlo::opError(op)
             << "a singleton level must be below one that is nonunique: level "
             << level << " of " << type;
  return success();
}

SmallVector<SparseLevel> SparseMath::getLevels(Encoding encoding,
                                               ArrayRef<Extent> sizes) {
  SmallVector<SparseLevel> levels;
  for (auto [type, expression] : llvm::zip_equal(
           encoding.getLvlTypes(), encoding.getDimToLvl().getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expression);
    if (dim) {
      levels.push_back({type, expression, sizes[dim.getPosition()]});
      continue;
    }
    auto binary = cast<AffineBinaryOpExpr>(expression);
    int64_t block = cast<AffineConstantExpr>(binary.getRHS()).getValue(),
            size =
                sizes[cast<AffineDimExpr>(binary.getLHS()).getPosition()].known;
    if (binary.getKind() == AffineExprKind::FloorDiv)
      block =
          ShapedType::isDynamic(size) ? size : llvm::divideCeil(size, block);
    levels.push_back({type, expression, Extent::of(block)});
  }
  return levels;
}

Value SparseMath::evaluate(AffineExpr expression, ArrayRef<Value> variables) {
  if (auto dim = dyn_cast<AffineDimExpr>(expression))
    return variables[dim.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expression))
    return splat(constant.getValue(), variables[0]);
  auto binary = cast<AffineBinaryOpExpr>(expression);
  Value a = evaluate(binary.getLHS(), variables),
        b = evaluate(binary.getRHS(), variables);
  switch (expression.getKind()) {
  case AffineExprKind::Add:
    return add(a, b);
  case AffineExprKind::Mul:
    return multiply(a, b);
  case AffineExprKind::Mod:
    return getRemainder(a, b);
  default:
    // Coordinates are never negative.
    return divide(a, b);
  }
}

/// Numbers of few bits count from zero up.
static Type getWidthType(unsigned width, Builder &builder) {
  if (width == 8 || width == 16)
    return builder.getIntegerType(width, /*isSigned=*/false);
  return builder.getIntegerType(width ? width : 64);
}

void SparseMath::getStorage(RankedTensorType type, SmallVectorImpl<Type> &types,
                            SmallVectorImpl<std::string> &parts) {
  Encoding encoding = getSparseEncoding(type);
  SmallVector<Extent> sizes;
  for (int64_t size : type.getShape())
    sizes.push_back(Extent::of(size));
  Type position = getWidthType(encoding.getPosWidth(), builder),
       coordinate = getWidthType(encoding.getCrdWidth(), builder);
  auto add = [&](ArrayRef<int64_t> shape, Type element, const Twine &part) {
    types.push_back(RankedTensorType::get(shape, element));
    parts.push_back(part.str());
  };
  int64_t places = 1;
  size_t tuples = encoding.getAoSCOOStart();
  for (auto [number, level] : llvm::enumerate(getLevels(encoding, sizes))) {
    if (level.isDense()) {
      places = ShapedType::isDynamic(places) || !level.size.isKnown()
                   ? ShapedType::kDynamic
                   : places * level.size.known;
      continue;
    }
    if (level.isCompressed()) {
      add(ShapedType::isDynamic(places) ? places : places + 1, position,
          "positions of level " + Twine(number));
      places = ShapedType::kDynamic;
    }
    std::string part = ("coordinates of level " + Twine(number)).str();
    if (number < tuples)
      add(places, coordinate, part);
    else if (number == tuples)
      add({places, int64_t(encoding.getLvlRank() - tuples)}, coordinate,
          part + " and those below");
  }
  add(places, type.getElementType(), "values");
}

void SparseMath::assertSize(Value array, Extent wanted, StringRef name,
                            StringRef part) {
  Extent has = getExtent(array);
  if (has.isKnown() && wanted.isKnown())
    return;
  Value isRight = compare(getNumber(has), Direction::EQ, getNumber(wanted));
  OperationState state(location, stablehlo::CustomCallOp::getOperationName());
  state.addOperands({isRight, getNumber(wanted), getNumber(has)});
  state.addAttribute("call_target_name",
                     builder.getStringAttr("shape_assertion"));
  state.addAttribute("has_side_effect", builder.getBoolAttr(true));
  state.addAttribute("error_message",
                     builder.getStringAttr(name + ": " + part +
                                           " must have {0} elements, has {1}"));
  builder.create(state);
}

SparseList SparseMath::unpack(RankedTensorType type, ValueRange arrays,
                              StringRef name) {
  Encoding encoding = getSparseEncoding(type);
  Type i64 = builder.getI64Type();
  SmallVector<Extent> sizes;
  for (int64_t size : type.getShape())
    sizes.push_back(Extent::of(size));
  SmallVector<SparseLevel> levels = getLevels(encoding, sizes);
  Extent places = Extent::of(1);
  SmallVector<Value> coordinates;
  Value mask;
  size_t tuples = encoding.getAoSCOOStart();
  Value tuple;
  auto take = [&] {
    Value array = arrays.front();
    arrays = arrays.drop_front();
    return array;
  };
  for (auto [number, level] : llvm::enumerate(levels)) {
    std::string of = (" of level " + Twine(number)).str();
    if (level.isDense()) {
      SmallVector<Extent> grid{places, level.size};
      places = multiply(places, level.size);
      auto repeat = [&](Value vector) {
        RankedTensorType gridType = getType(grid, getElementTypeOrSelf(vector));
        auto dims = builder.getDenseI64ArrayAttr({0});
        Value repeated =
            gridType.hasStaticShape()
                ? builder
                      .create<stablehlo::BroadcastInDimOp>(location, gridType,
                                                           vector, dims)
                      .getResult()
                : builder.create<stablehlo::DynamicBroadcastInDimOp>(
                      location, gridType, vector, makeShape(grid), dims,
                      DenseI64ArrayAttr(), DenseI64ArrayAttr());
        return reshape(repeated, {places});
      };
      for (Value &vector : coordinates)
        vector = repeat(vector);
      if (mask)
        mask = repeat(mask);
      coordinates.push_back(coordinates.empty()
                                ? makeIota({places})
                                : reshape(makeIota(grid, 1), {places}));
      continue;
    }
    if (level.isCompressed()) {
      Value positions = take();
      Extent wanted = places.isKnown()
                          ? Extent::of(places.known + 1)
                          : Extent{ShapedType::kDynamic,
                                   scalars.add(places.value, scalars.make(1))};
      assertSize(positions, wanted, name, "positions" + of);
      positions = convert(positions, i64);
      Extent count = getExtent(arrays.front());
      Value at = makeIota({count});
      Value parent = subtract(countUpTo(positions, at), splat(1, at));
      Value isOfOne = both(compare(parent, Direction::GE, splat(0, at)),
                           compare(parent, Direction::LT, splat(places, at)));
      for (Value &vector : coordinates)
        vector = gather(vector, parent);
      mask = both(isOfOne, mask ? gather(mask, parent) : Value());
      places = count;
    } else if (number < tuples) {
      assertSize(arrays.front(), places, name, "coordinates" + of);
    }
    Value own;
    if (number >= tuples) {
      if (number == tuples)
        tuple = convert(take(), i64);
      own = getColumn(tuple, int64_t(number - tuples));
    } else {
      own = convert(take(), i64);
    }
    mask =
        both(mask, both(compare(own, Direction::GE, splat(0, own)),
                        compare(own, Direction::LT, splat(level.size, own))));
    coordinates.push_back(own);
  }
  assertSize(arrays.front(), places, name, "values");
  SmallVector<Value> dims;
  for (AffineExpr expression : getInverse(encoding).getResults())
    dims.push_back(evaluate(expression, coordinates));
  // What fills the last blocks is beyond the sizes.
  if (!encoding.isPermutation())
    for (auto [dim, size] : llvm::zip_equal(dims, sizes))
      mask = both(mask, compare(dim, Direction::LT, splat(size, dim)));
  return makeList(dims, arrays.front(), mask, sizes);
}

// The elements in the order of their levels, then level by level: for each
// element the place of its ancestor there.
SmallVector<Value> SparseMath::pack(const SparseList &list,
                                    RankedTensorType type) {
  Encoding encoding = getSparseEncoding(type);
  SmallVector<SparseLevel> levels = getLevels(encoding, list.sizes);
  Type position = getWidthType(encoding.getPosWidth(), builder),
       coordinate = getWidthType(encoding.getCrdWidth(), builder);
  SmallVector<Value> unordered, arrays;
  SmallVector<Extent> sizes;
  for (const SparseLevel &level : levels) {
    unordered.push_back(evaluate(level.expression, list.coordinates));
    sizes.push_back(level.size);
  }
  Value all = splat(multiplyAll(sizes), list.values);
  SmallVector<Value> sorted = sort(
      {select(getMask(list), linearize(unordered, sizes), all), list.values});
  Value key = sorted[0], values = sorted[1];
  Value isThere = compare(key, Direction::LT, all);
  SmallVector<Value> coordinates = delinearize(key, sizes);
  Value at = makeIota(getExtents(key)), zero = splat(0, at);
  Extent count = getExtent(key), places = Extent::of(1);
  size_t tuples = encoding.getAoSCOOStart();
  SmallVector<Value> tuple;
  // Of each element; null while it is the element's own number.
  Value place = zero;
  auto getPlace = [&] { return place ? place : at; };
  for (auto [number, level] : llvm::enumerate(levels)) {
    Value own = coordinates[number];
    if (level.isDense()) {
      place = add(multiply(getPlace(), splat(level.size, at)), own);
      places = multiply(places, level.size);
      continue;
    }
    Value parents, kept = own, isKept = isThere;
    Value beyond = splat(places, at);
    bool isLast = number + 1 == levels.size();
    if (level.isCompressed() && level.isUnique() && !isLast) {
      // The first element of each place.
      SmallVector<Extent> left(ArrayRef(sizes).drop_front(number + 1));
      Value prefix = divide(key, splat(multiplyAll(left), key));
      Value before = gather(prefix, subtract(at, splat(1, at)));
      Value isFirst =
          both(isThere,
               apply<stablehlo::OrOp>(compare(at, Direction::EQ, zero),
                                      compare(prefix, Direction::NE, before)));
      Value order = sort({select(isFirst, at, splat(count, at))})[0];
      isKept = compare(order, Direction::LT, splat(count, at));
      parents = select(isKept, gather(getPlace(), order), beyond);
      kept = gather(own, order);
      place = subtract(countUpTo(order, at), splat(1, at));
    } else if (level.isCompressed()) {
      parents = select(isThere, getPlace(), beyond);
      place = Value();
    }
    if (level.isCompressed()) {
      // How many are of the places before each.
      Extent more = places.isKnown()
                        ? Extent::of(places.known + 1)
                        : Extent{ShapedType::kDynamic,
                                 scalars.add(places.value, scalars.make(1))};
      Value ends = makeIota({more});
      arrays.push_back(convert(
          countUpTo(parents, subtract(ends, splat(1, ends))), position));
      places = count;
    }
    Value array = convert(select(isKept, kept, zero), coordinate);
    if (number < tuples) {
      arrays.push_back(array);
      continue;
    }
    tuple.push_back(reshape(array, {count, Extent::of(1)}));
    if (isLast)
      arrays.push_back(concatenate(tuple, 1));
  }
  if (place)
    values = scatterAdd(makeZeros({places}, getElementTypeOrSelf(values)),
                        select(isThere, place, splat(places, at)), values);
  arrays.push_back(values);
  return arrays;
}

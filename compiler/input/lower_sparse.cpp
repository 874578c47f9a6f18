// Says tensors with a sparse encoding in arrays and lists of elements.
//
//   func @main(%a: tensor<4x5xf32, #CSR>)  →
//   func @main(%0: tensor<5xi64> positions, %1: tensor<?xi64> coordinates,
//              %2: tensor<?xf32> values)
//
// Arguments and results become the arrays of their levels (sparse_storage.cpp),
// and keep the type's text as `alula.sparse_type`. In between a value is a list
// of places and what is there, or whole where an op makes it so. Products with
// a dense side are calls of the library (ADR 57). Ops that are not of the
// closed set of StableHLO's RFC are errors.

#include "compiler/input/sparse_list.h"

#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringSet.h"

namespace alula::input {
#define GEN_PASS_DEF_INPUTLOWERSPARSE
#include "compiler/input/passes.h.inc"
} // namespace alula::input

using namespace mlir;
using namespace alula::input;

#define DEBUG_TYPE "input-lower-sparse"

namespace {
/// Functions of one value that keep zero.
const char *const functions[] = {"stablehlo.abs",
                                 "stablehlo.cbrt",
                                 "stablehlo.ceil",
                                 "stablehlo.convert",
                                 "stablehlo.exponential_minus_one",
                                 "stablehlo.floor",
                                 "stablehlo.imag",
                                 "stablehlo.log_plus_one",
                                 "stablehlo.negate",
                                 "stablehlo.real",
                                 "stablehlo.round_nearest_afz",
                                 "stablehlo.round_nearest_even",
                                 "stablehlo.sign",
                                 "stablehlo.sine",
                                 "stablehlo.sqrt",
                                 "stablehlo.tan",
                                 "stablehlo.tanh",
                                 "chlo.asin",
                                 "chlo.asinh",
                                 "chlo.atan",
                                 "chlo.atanh",
                                 "chlo.bessel_i1e",
                                 "chlo.erf",
                                 "chlo.sinh",
                                 "chlo.tan",
                                 "sparse_tensor.convert"};
constexpr StringLiteral others =
    "add, subtract, multiply, dot, dot_general, reduce, reshape, "
    "broadcast_in_dim, concatenate, transpose, convert and functions of one "
    "value that keep zero";

bool isSparse(Type type) { return getSparseEncoding(type) != nullptr; }

bool hasSparse(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), isSparse) ||
         llvm::any_of(op->getResultTypes(), isSparse);
}

class SparseLowering {
public:
  explicit SparseLowering(func::FuncOp function)
      : function(function), builder(function.getContext()) {}

  LogicalResult run();

private:
  LogicalResult check();
  void lowerArguments();
  LogicalResult lower(Operation *op);
  void lowerReturn(Operation *op);

  LogicalResult lowerFunction(Operation *op);
  LogicalResult lowerSum(Operation *op, bool isDifference);
  LogicalResult lowerProduct(Operation *op);
  LogicalResult lowerDot(Operation *op, ArrayRef<int64_t> lhsBatch,
                         ArrayRef<int64_t> rhsBatch, ArrayRef<int64_t> lhsSums,
                         ArrayRef<int64_t> rhsSums);
  LogicalResult lowerReduce(stablehlo::ReduceOp op);
  LogicalResult lowerReshape(Operation *op);
  LogicalResult lowerTranspose(stablehlo::TransposeOp op);
  LogicalResult lowerConcatenate(stablehlo::ConcatenateOp op);
  /// The op on whole tensors.
  LogicalResult lowerDense(Operation *op);

  bool isListed(Value value) { return isSparse(value.getType()); }
  const SparseList &getList(Value value) { return lists.find(value)->second; }
  /// Whole, whatever it is.
  Value getDense(Value value, SparseMath &math);
  /// Gives a result what it is; whole or as a list.
  LogicalResult give(Value result, Value dense, SparseMath &math);
  LogicalResult give(Value result, const SparseList &list, SparseMath &math);
  /// A sparse side times a dense one; null where it is not computed so.
  Value callProduct(const SparseList &list, Value dense,
                    ArrayRef<int64_t> batch, ArrayRef<int64_t> sums,
                    ArrayRef<int64_t> denseBatch, ArrayRef<int64_t> denseSums,
                    SparseMath &math);

  func::FuncOp function;
  OpBuilder builder;
  DenseMap<Value, SparseList> lists;
  DenseMap<Value, Value> denses;
  SmallVector<Operation *> dead;
  SmallVector<DictionaryAttr> argumentAttributes, resultAttributes;
  SmallVector<Type> argumentTypes, resultTypes;
};

/// What the arrays of one argument or result say of themselves.
void describe(Type type, ArrayRef<std::string> parts, Builder &builder,
              SmallVectorImpl<DictionaryAttr> &attributes) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  for (const std::string &part : parts)
    attributes.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr("alula.sparse_part", builder.getStringAttr(part)),
         builder.getNamedAttr("alula.sparse_type",
                              builder.getStringAttr(text))}));
}

LogicalResult SparseLowering::check() {
  for (Type type : llvm::concat<const Type>(function.getArgumentTypes(),
                                            function.getResultTypes()))
    if (failed(checkSparseType(function, type)))
      return failure();
  for (auto [number, type] : llvm::enumerate(function.getArgumentTypes()))
    if (isSparse(type) && !cast<RankedTensorType>(type).hasStaticShape())
      return stablehlo::opError(function)
             << "sizes of sparse arguments must be known: argument " << number
             << " is " << type;
  if (function.isExternal())
    return stablehlo::opError(function)
           << "functions with sparse tensors must have a body: @"
           << function.getSymName();
  WalkResult result = function.walk([&](Operation *op) -> WalkResult {
    if (!hasSparse(op))
      return WalkResult::advance();
    if (op->getParentOp() != function)
      return stablehlo::opError(op)
             << "sparse tensors must not be inside of regions";
    for (Type type :
         llvm::concat<const Type>(SmallVector<Type>(op->getOperandTypes()),
                                  SmallVector<Type>(op->getResultTypes())))
      if (failed(checkSparseType(op, type)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

void SparseLowering::lowerArguments() {
  Block &block = function.getBody().front();
  for (unsigned index = 0, number = 0; index < block.getNumArguments();
       ++index, ++number) {
    BlockArgument argument = block.getArgument(index);
    if (!isSparse(argument.getType())) {
      argumentTypes.push_back(argument.getType());
      argumentAttributes.push_back(function.getArgAttrDict(number)
                                       ? function.getArgAttrDict(number)
                                       : builder.getDictionaryAttr({}));
      continue;
    }
    SparseMath math(builder, argument.getLoc());
    auto type = cast<RankedTensorType>(argument.getType());
    SmallVector<Type> types;
    SmallVector<std::string> parts;
    math.getStorage(type, types, parts);
    describe(type, parts, builder, argumentAttributes);
    llvm::append_range(argumentTypes, types);
    SmallVector<Value> arrays;
    for (Type array : types)
      arrays.push_back(block.insertArgument(++index, array, argument.getLoc()));
    std::string name;
    llvm::raw_string_ostream(name) << "argument " << number << ", " << type;
    SparseList list = math.unpack(type, arrays, name);
    Encoding encoding = getSparseEncoding(type);
    if (type.getRank() == 2 && encoding.isIdentity() &&
        encoding.isDenseLvl(0) && encoding.isCompressedLvl(1)) {
      list.rowStarts = arrays[0];
      list.columns = arrays[1];
      list.rowValues = arrays[2];
    }
    lists[argument] = list;
  }
}

Value SparseLowering::getDense(Value value, SparseMath &math) {
  if (!isListed(value))
    return value;
  Value &dense = denses[value];
  if (!dense)
    dense = math.makeDense(getList(value), getDenseType(value.getType()));
  return dense;
}

LogicalResult SparseLowering::give(Value result, Value dense,
                                   SparseMath &math) {
  if (isListed(result)) {
    lists[result] = math.makeSparse(dense);
    denses[result] = dense;
    return success();
  }
  if (dense.getType() != result.getType())
    dense = math.builder.create<stablehlo::ConvertOp>(math.location,
                                                      result.getType(), dense);
  result.replaceAllUsesWith(dense);
  return success();
}

LogicalResult SparseLowering::give(Value result, const SparseList &list,
                                   SparseMath &math) {
  if (isListed(result)) {
    lists[result] = list;
    return success();
  }
  return give(result, math.makeDense(list, getDenseType(result.getType())),
              math);
}

LogicalResult SparseLowering::lowerDense(Operation *op) {
  SparseMath math(builder, op->getLoc());
  IRMapping mapping;
  for (Value operand : op->getOperands())
    if (isListed(operand))
      mapping.map(operand, getDense(operand, math));
  Operation *copy = builder.clone(*op, mapping);
  for (Value result : copy->getResults())
    result.setType(getDenseType(result.getType()));
  for (auto [result, whole] :
       llvm::zip_equal(op->getResults(), copy->getResults()))
    if (failed(give(result, whole, math)))
      return failure();
  return success();
}

LogicalResult SparseLowering::lowerFunction(Operation *op) {
  SparseMath math(builder, op->getLoc());
  Value operand = op->getOperand(0), result = op->getResult(0);
  bool isConversion = op->getName().getStringRef() == "sparse_tensor.convert";
  if (!isListed(operand)) {
    if (isConversion)
      return give(result, operand, math);
    return lowerDense(op);
  }
  SparseList list = getList(operand);
  auto type = cast<RankedTensorType>(list.values.getType());
  Type element = getElementTypeOrSelf(result.getType());
  if (!isConversion &&
      (element != type.getElementType() || !isa<stablehlo::ConvertOp>(op))) {
    for (Value *values : {&list.values, &list.rowValues}) {
      if (!*values)
        continue;
      OperationState state(op->getLoc(), op->getName());
      state.addOperands(*values);
      state.addTypes(RankedTensorType::get(type.getShape(), element));
      state.addAttributes(op->getAttrs());
      *values = builder.create(state)->getResult(0);
    }
  }
  return give(result, list, math);
}

LogicalResult SparseLowering::lowerSum(Operation *op, bool isDifference) {
  SparseMath math(builder, op->getLoc());
  Value a = op->getOperand(0), b = op->getOperand(1), result = op->getResult(0);
  if (!isListed(a) || !isListed(b))
    return lowerDense(op);
  SparseList other = getList(b);
  if (isDifference)
    other.values = builder.create<stablehlo::NegOp>(
        op->getLoc(), other.values.getType(), other.values);
  if (isListed(result))
    return give(result, math.merge(getList(a), other, /*isProduct=*/false),
                math);
  Value sum = math.scatterAdd(math.flatten(getDense(a, math)),
                              math.linearize(other.coordinates, other.sizes),
                              other.values);
  return give(result, math.reshape(sum, math.getExtents(getDense(a, math))),
              math);
}

LogicalResult SparseLowering::lowerProduct(Operation *op) {
  SparseMath math(builder, op->getLoc());
  Value a = op->getOperand(0), b = op->getOperand(1), result = op->getResult(0);
  if (isListed(a) && isListed(b))
    return give(result, math.merge(getList(a), getList(b), /*isProduct=*/true),
                math);
  if (!isListed(a) && !isListed(b))
    return lowerDense(op);
  SparseList list = getList(isListed(a) ? a : b);
  Value there = math.gather(math.flatten(isListed(a) ? b : a),
                            math.linearize(list.coordinates, list.sizes));
  // What is none stays zero, whatever is read for it.
  Value product = math.multiply(list.values, there);
  list.values = math.select(
      math.getMask(list), product,
      math.makeZeros(math.getExtents(product), getElementTypeOrSelf(product)));
  list.rowStarts = list.columns = list.rowValues = Value();
  return give(result, list, math);
}

/// Dimensions of `rank` that are in neither list.
SmallVector<int64_t> getRest(size_t rank, ArrayRef<int64_t> a,
                             ArrayRef<int64_t> b) {
  SmallVector<int64_t> rest;
  for (int64_t dim = 0; dim < int64_t(rank); ++dim)
    if (!llvm::is_contained(a, dim) && !llvm::is_contained(b, dim))
      rest.push_back(dim);
  return rest;
}

Value transpose(Value tensor, ArrayRef<int64_t> order, SparseMath &math) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape;
  for (int64_t dim : order)
    shape.push_back(type.getDimSize(unsigned(dim)));
  return math.builder.create<stablehlo::TransposeOp>(
      math.location, RankedTensorType::get(shape, type.getElementType()),
      tensor, math.builder.getDenseI64ArrayAttr(order));
}

// A batch of matrices is one matrix of blocks: rows are batch and free
// dimensions, columns batch and summed ones.
Value SparseLowering::callProduct(const SparseList &list, Value dense,
                                  ArrayRef<int64_t> batch,
                                  ArrayRef<int64_t> sums,
                                  ArrayRef<int64_t> denseBatch,
                                  ArrayRef<int64_t> denseSums,
                                  SparseMath &math) {
  auto type = cast<RankedTensorType>(dense.getType());
  Type element = type.getElementType();
  if (!(element.isF32() || element.isF64()) ||
      getElementTypeOrSelf(list.values) != element || !type.hasStaticShape())
    return {};
  SmallVector<int64_t> free = getRest(list.sizes.size(), batch, sums);
  SmallVector<int64_t> denseFree =
      getRest(size_t(type.getRank()), denseBatch, denseSums);
  struct Side {
    SmallVector<Value> coordinates;
    SmallVector<Extent> sizes;
    int64_t count = 1;
  } rows, columns;
  auto take = [&](Side &side, ArrayRef<int64_t> dims) {
    for (int64_t dim : dims) {
      Extent size = list.sizes[size_t(dim)];
      side.coordinates.push_back(list.coordinates[size_t(dim)]);
      side.sizes.push_back(size);
      // Sizes that aren't known are beyond all bounds.
      side.count = !size.isKnown() || side.count > INT32_MAX
                       ? int64_t(INT32_MAX) + 1
                       : side.count * size.known;
    }
  };
  take(rows, batch);
  take(rows, free);
  take(columns, batch);
  take(columns, sums);
  if (rows.count > INT32_MAX || columns.count > INT32_MAX)
    return {};

  SmallVector<int64_t> order(denseBatch), shape;
  llvm::append_range(order, denseSums);
  llvm::append_range(order, denseFree);
  int64_t across = 1;
  for (Extent size : ArrayRef(rows.sizes))
    shape.push_back(size.known);
  for (int64_t dim : denseFree) {
    shape.push_back(type.getDimSize(unsigned(dim)));
    across *= shape.back();
  }
  if (!llvm::is_sorted(order))
    dense = transpose(dense, order, math);
  dense = math.reshape(dense, {Extent::of(columns.count), Extent::of(across)});

  Type i32 = math.builder.getI32Type();
  OperationState state(math.location,
                       stablehlo::CustomCallOp::getOperationName());
  state.addTypes(RankedTensorType::get({rows.count, across}, element));
  if (list.rowStarts && batch.empty() && sums == ArrayRef<int64_t>{1}) {
    state.addOperands({list.rowValues, math.convert(list.rowStarts, i32),
                       math.convert(list.columns, i32), dense});
    state.addAttribute("call_target_name",
                       math.builder.getStringAttr("alula.sparse_rows_product"));
  } else {
    Value like = list.coordinates[0], mask = math.getMask(list);
    auto makeIndex = [&](Side &side) {
      Value place = side.coordinates.empty()
                        ? math.splat(0, like)
                        : math.linearize(side.coordinates, side.sizes);
      // None of the matrix.
      place =
          math.select(mask, place, math.splat(Extent::of(side.count), like));
      return math.reshape(math.convert(place, i32),
                          {math.getExtent(like), Extent::of(1)});
    };
    Value row = makeIndex(rows), column = makeIndex(columns);
    state.addOperands({list.values, math.concatenate({row, column}, 1), dense});
    state.addAttribute("call_target_name",
                       math.builder.getStringAttr("alula.sparse_product"));
    state.addAttribute("mhlo.backend_config",
                       math.builder.getDictionaryAttr(math.builder.getNamedAttr(
                           "transposed", math.builder.getBoolAttr(false))));
  }
  Value product = math.builder.create(state)->getResult(0);
  return math.builder.create<stablehlo::ReshapeOp>(
      math.location, RankedTensorType::get(shape, element), product);
}

LogicalResult SparseLowering::lowerDot(Operation *op,
                                       ArrayRef<int64_t> lhsBatch,
                                       ArrayRef<int64_t> rhsBatch,
                                       ArrayRef<int64_t> lhsSums,
                                       ArrayRef<int64_t> rhsSums) {
  SparseMath math(builder, op->getLoc());
  Value lhs = op->getOperand(0), rhs = op->getOperand(1),
        result = op->getResult(0);
  if (getElementTypeOrSelf(result.getType()) !=
          getElementTypeOrSelf(lhs.getType()) ||
      (!isListed(lhs) && !isListed(rhs)))
    return lowerDense(op);
  if (isListed(lhs)) {
    if (Value product = callProduct(getList(lhs), getDense(rhs, math), lhsBatch,
                                    lhsSums, rhsBatch, rhsSums, math))
      return give(result, product, math);
    return lowerDense(op);
  }
  Value product = callProduct(getList(rhs), lhs, rhsBatch, rhsSums, lhsBatch,
                              lhsSums, math);
  if (!product)
    return lowerDense(op);
  // Batch, free dimensions of the right side, those of the left one.
  auto lhsRank = size_t(cast<RankedTensorType>(lhs.getType()).getRank()),
       rhsRank = size_t(cast<RankedTensorType>(rhs.getType()).getRank());
  auto batch = int64_t(lhsBatch.size()),
       left = int64_t(getRest(lhsRank, lhsBatch, lhsSums).size()),
       right = int64_t(getRest(rhsRank, rhsBatch, rhsSums).size());
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, batch));
  llvm::append_range(order,
                     llvm::seq<int64_t>(batch + right, batch + right + left));
  llvm::append_range(order, llvm::seq<int64_t>(batch, batch + right));
  if (!llvm::is_sorted(order))
    product = transpose(product, order, math);
  return give(result, product, math);
}

/// Whether a reducer adds its arguments.
bool isSum(Region &region) {
  Block &block = region.front();
  auto sum = dyn_cast<stablehlo::AddOp>(block.front());
  return sum && llvm::hasSingleElement(block.without_terminator()) &&
         block.getTerminator()->getOperand(0) == sum.getResult() &&
         sum.getLhs() != sum.getRhs() && isa<BlockArgument>(sum.getLhs()) &&
         isa<BlockArgument>(sum.getRhs());
}

LogicalResult SparseLowering::lowerReduce(stablehlo::ReduceOp op) {
  if (op->getNumResults() != 1 || !isSum(op.getBody()) ||
      getElementTypeOrSelf(op->getOperand(0).getType()) !=
          getElementTypeOrSelf(op->getResult(0).getType()))
    return lowerDense(op);
  SparseMath math(builder, op->getLoc());
  const SparseList &list = getList(op->getOperand(0));
  Value init = getDense(op->getOperand(1), math);
  SmallVector<Value> coordinates;
  SmallVector<Extent> sizes;
  for (int64_t dim : getRest(list.sizes.size(), op.getDimensions(), {})) {
    coordinates.push_back(list.coordinates[size_t(dim)]);
    sizes.push_back(list.sizes[size_t(dim)]);
  }
  Value sums = math.splat(init, {math.multiplyAll(sizes)});
  Value places = coordinates.empty() ? math.splat(0, list.values)
                                     : math.linearize(coordinates, sizes);
  sums = math.scatterAdd(sums, places, list.values);
  return give(op->getResult(0), math.reshape(sums, sizes), math);
}

LogicalResult SparseLowering::lowerReshape(Operation *op) {
  Value operand = op->getOperand(0), result = op->getResult(0);
  auto type = cast<RankedTensorType>(result.getType());
  if (!isListed(operand) || !isListed(result) || !type.hasStaticShape())
    return lowerDense(op);
  SparseMath math(builder, op->getLoc());
  SmallVector<Extent> sizes;
  for (int64_t size : type.getShape())
    sizes.push_back(Extent::of(size));
  return give(result, math.reshape(getList(operand), sizes), math);
}

LogicalResult SparseLowering::lowerTranspose(stablehlo::TransposeOp op) {
  if (!isListed(op.getOperand()))
    return lowerDense(op);
  SparseMath math(builder, op->getLoc());
  const SparseList &list = getList(op.getOperand());
  SparseList moved;
  moved.values = list.values;
  for (int64_t dim : op.getPermutation()) {
    moved.coordinates.push_back(list.coordinates[size_t(dim)]);
    moved.sizes.push_back(list.sizes[size_t(dim)]);
  }
  return give(op->getResult(0), moved, math);
}

LogicalResult SparseLowering::lowerConcatenate(stablehlo::ConcatenateOp op) {
  if (!llvm::all_of(op->getOperands(),
                    [&](Value value) { return isListed(value); }))
    return lowerDense(op);
  SparseMath math(builder, op->getLoc());
  auto along = static_cast<size_t>(op.getDimension());
  SparseList joined;
  joined.sizes = getList(op->getOperand(0)).sizes;
  SmallVector<Extent> starts;
  Extent end = Extent::of(0);
  for (Value operand : op->getOperands()) {
    Extent more = getList(operand).sizes[along];
    starts.push_back(end);
    end = end.isKnown() && more.isKnown()
              ? Extent::of(end.known + more.known)
              : Extent{ShapedType::kDynamic,
                       math.scalars.add(math.getNumber(end),
                                        math.getNumber(more))};
  }
  joined.sizes[along] = end;
  SmallVector<SmallVector<Value>> coordinates(joined.sizes.size());
  SmallVector<Value> values;
  for (auto [operand, start] : llvm::zip_equal(op->getOperands(), starts)) {
    const SparseList &list = getList(operand);
    Value mask = math.getMask(list);
    for (auto [dim, coordinate] : llvm::enumerate(list.coordinates)) {
      Value moved = dim == along
                        ? math.add(coordinate, math.splat(start, coordinate))
                        : coordinate;
      coordinates[dim].push_back(
          math.select(mask, moved, math.splat(joined.sizes[dim], coordinate)));
    }
    values.push_back(list.values);
  }
  for (const SmallVector<Value> &parts : coordinates)
    joined.coordinates.push_back(math.concatenate(parts));
  joined.values = math.concatenate(values);
  return give(op->getResult(0), joined, math);
}

LogicalResult SparseLowering::lower(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (llvm::is_contained(functions, name))
    return lowerFunction(op);
  if (isa<stablehlo::AddOp, stablehlo::SubtractOp>(op))
    return lowerSum(op, isa<stablehlo::SubtractOp>(op));
  if (isa<stablehlo::MulOp>(op))
    return lowerProduct(op);
  if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op)) {
    auto dims = dot.getDotDimensionNumbers();
    return lowerDot(
        op, dims.getLhsBatchingDimensions(), dims.getRhsBatchingDimensions(),
        dims.getLhsContractingDimensions(), dims.getRhsContractingDimensions());
  }
  if (name == "stablehlo.dot") {
    int64_t last =
        cast<RankedTensorType>(op->getOperand(0).getType()).getRank() - 1;
    return lowerDot(op, {}, {}, {last}, {0});
  }
  if (auto reduce = dyn_cast<stablehlo::ReduceOp>(op);
      reduce && isListed(op->getOperand(0)))
    return lowerReduce(reduce);
  if (isa<stablehlo::ReshapeOp>(op))
    return lowerReshape(op);
  if (auto transposition = dyn_cast<stablehlo::TransposeOp>(op))
    return lowerTranspose(transposition);
  if (auto concatenation = dyn_cast<stablehlo::ConcatenateOp>(op))
    return lowerConcatenate(concatenation);
  if (isa<stablehlo::BroadcastInDimOp, stablehlo::ReduceOp>(op))
    return lowerDense(op);
  auto isOne = [](Type type) { return isSparse(type); };
  auto operand = llvm::find_if(op->getOperandTypes(), isOne);
  bool isOperand = operand != op->operand_type_end();
  InFlightDiagnostic error = stablehlo::opError(op) << "sparse tensors go with "
                                                    << others << " only: ";
  if (isOperand)
    return error << "operand "
                 << std::distance(op->operand_type_begin(), operand) << " is "
                 << *operand;
  auto result = llvm::find_if(op->getResultTypes(), isOne);
  return error << "result " << std::distance(op->result_type_begin(), result)
               << " is " << *result;
}

void SparseLowering::lowerReturn(Operation *op) {
  SparseMath math(builder, op->getLoc());
  SmallVector<Value> values;
  for (auto [number, value] : llvm::enumerate(op->getOperands())) {
    if (!isListed(value)) {
      values.push_back(value);
      DictionaryAttr own = function.getResultAttrDict(unsigned(number));
      resultAttributes.push_back(own ? own : builder.getDictionaryAttr({}));
      continue;
    }
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<Type> types;
    SmallVector<std::string> parts;
    math.getStorage(type, types, parts);
    describe(type, parts, builder, resultAttributes);
    llvm::append_range(values, math.pack(getList(value), type));
  }
  op->setOperands(values);
  llvm::append_range(resultTypes, op->getOperandTypes());
}

LogicalResult SparseLowering::run() {
  if (failed(check()))
    return failure();
  Block &block = function.getBody().front();
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    if (hasSparse(&op) || op.hasTrait<mlir::OpTrait::IsTerminator>())
      ops.push_back(&op);
  builder.setInsertionPointToStart(&block);
  lowerArguments();
  for (Operation *op : ops) {
    builder.setInsertionPoint(op);
    if (op->hasTrait<mlir::OpTrait::IsTerminator>()) {
      lowerReturn(op);
      break;
    }
    if (failed(lower(op)))
      return failure();
    dead.push_back(op);
  }
  for (Operation *op : llvm::reverse(dead))
    op->erase();
  block.eraseArguments(
      [](BlockArgument argument) { return isSparse(argument.getType()); });
  function.removeArgAttrsAttr();
  function.removeResAttrsAttr();
  function.setType(builder.getFunctionType(argumentTypes, resultTypes));
  function.setAllArgAttrs(argumentAttributes);
  function.setAllResultAttrs(resultAttributes);
  return success();
}

struct LowerSparse
    : public alula::input::impl::InputLowerSparseBase<LowerSparse> {
  void runOnOperation() override {
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>()) {
      bool isFound = llvm::any_of(function.getArgumentTypes(), isSparse) ||
                     llvm::any_of(function.getResultTypes(), isSparse);
      function.walk([&](Operation *op) { isFound |= hasSparse(op); });
      if (isFound && failed(SparseLowering(function).run()))
        return signalPassFailure();
    }
  }
};
} // namespace

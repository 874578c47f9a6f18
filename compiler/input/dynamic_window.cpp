// Windows whose padding or size is only known when the program runs.

#include "compiler/input/dynamic_window.h"

#include "compiler/input/list_arithmetic.h"
#include "dialect/stablehlo/dimension_rules.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace alula::input;

namespace {
/// The lists that follow inputs and init values.
enum List { Sizes, Strides, Holes, Dilations, Padding, NumLists };

class WindowLowering {
public:
  WindowLowering(stablehlo::CustomCallOp call, IRRewriter &rewriter)
      : call(call), rewriter(rewriter), location(call.getLoc()),
        count(call.getNumResults()), math(rewriter, location) {}

  bool run() {
    body = findBody();
    if (!body || !checkLists())
      return false;
    rewriter.setInsertionPoint(call);
    for (unsigned i = 0; i < count; ++i)
      padded.push_back(pad(call.getInputs()[i], call.getInputs()[count + i]));
    if (readConstants()) {
      buildWindow();
      return true;
    }
    if (isAssociative())
      buildDoubling();
    else
      buildLoop();
    return true;
  }

private:
  func::FuncOp findBody() {
    if (count == 0 || call.getInputs().size() != 2 * count + NumLists ||
        call.getCalledComputations().size() != 1)
      return {};
    auto symbol = dyn_cast<FlatSymbolRefAttr>(call.getCalledComputations()[0]);
    auto found =
        symbol
            ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, symbol)
            : func::FuncOp();
    return found && found.getBody().hasOneBlock() ? found : func::FuncOp();
  }

  Value getList(List list) { return call.getInputs()[2 * count + list]; }

  bool checkLists() {
    auto first = dyn_cast<RankedTensorType>(call.getInputs()[0].getType());
    if (!first || first.getRank() == 0)
      return false;
    rank = first.getRank();
    for (unsigned i = 0; i < NumLists; ++i) {
      auto list =
          dyn_cast<RankedTensorType>(getList(static_cast<List>(i)).getType());
      SmallVector<int64_t> shape{rank};
      if (i == Padding)
        shape.push_back(2);
      if (!list || list.getShape() != ArrayRef(shape) ||
          !list.getElementType().isSignlessInteger())
        return false;
    }
    auto isFit = [&](Value value) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      return type && type.getRank() == rank;
    };
    return llvm::all_of(call.getInputs().take_front(count), isFit) &&
           llvm::all_of(call.getResults(), isFit);
  }

  bool readConstants() {
    for (List list : {Sizes, Strides, Dilations}) {
      auto known = stablehlo::readConstant(getList(list));
      if (!known)
        return false;
      constants[list].assign(known->begin(), known->end());
    }
    return true;
  }

  /// `count` results of the body, from `first` on.
  void copyBody(Region &region, unsigned first, unsigned count) {
    IRMapping mapping;
    body.getBody().cloneInto(&region, mapping);
    OpBuilder::InsertionGuard guard(rewriter);
    Operation *end = region.front().getTerminator();
    rewriter.setInsertionPoint(end);
    rewriter.replaceOpWithNewOp<stablehlo::ReturnOp>(
        end, end->getOperands().slice(first, count));
  }

  /// Holes and edges hold the init value.
  Value pad(Value input, Value init) {
    SmallVector<Value> low, high, interior;
    for (int64_t dim = 0; dim < rank; ++dim) {
      low.push_back(math.getElement(getList(Padding), {dim, 0}));
      high.push_back(math.getElement(getList(Padding), {dim, 1}));
      interior.push_back(
          math.subtract(math.getElement(getList(Holes), {dim}), math.make(1)));
    }
    SmallVector<int64_t> shape(static_cast<size_t>(rank), ShapedType::kDynamic);
    return rewriter.create<stablehlo::DynamicPadOp>(
        location,
        RankedTensorType::get(shape, getElementTypeOrSelf(input.getType())),
        input, init, math.makeList(low), math.makeList(high),
        math.makeList(interior));
  }

  void buildWindow() {
    auto window = rewriter.create<stablehlo::ReduceWindowOp>(
        location, call->getResultTypes(), padded,
        call.getInputs().slice(count, count),
        rewriter.getDenseI64ArrayAttr(constants[Sizes]),
        rewriter.getDenseI64ArrayAttr(constants[Strides]), DenseI64ArrayAttr(),
        rewriter.getDenseI64ArrayAttr(constants[Dilations]),
        DenseIntElementsAttr());
    copyBody(window.getBody(), 0, count);
    rewriter.replaceOp(call, window);
  }

  // ---- Windows of unknown sizes ----

  /// Each round takes in one place of all windows: a slice of the input.
  void buildLoop() {
    SmallVector<Value> sizes, strides, dilations, places;
    Value rounds = math.make(1), zero = math.make(0), one = math.make(1);
    for (int64_t dim = 0; dim < rank; ++dim) {
      sizes.push_back(math.getElement(getList(Sizes), {dim}));
      strides.push_back(math.getElement(getList(Strides), {dim}));
      dilations.push_back(math.getElement(getList(Dilations), {dim}));
      Value room =
          math.add(math.subtract(math.getDim(padded[0], dim), getExtent(dim)),
                   strides.back());
      places.push_back(
          math.divide(math.getMaximum(room, zero), strides.back()));
      // Without a window there is nothing to slice.
      rounds = math.multiply(
          rounds,
          math.multiply(sizes.back(), math.getMinimum(places.back(), one)));
    }
    SmallVector<Value> initial{zero};
    for (unsigned i = 0; i < count; ++i)
      initial.push_back(repeat(call.getInputs()[count + i],
                               getType(call.getResult(i)),
                               math.makeList(places)));
    Value strideList = math.makeList(strides);
    auto loop = beginLoop(initial, stablehlo::ComparisonDirection::LT, rounds);
    Block *round = rewriter.getInsertionBlock();
    Value rest = round->getArgument(0);
    SmallVector<Value> starts(static_cast<size_t>(rank)), limits;
    for (size_t dim = starts.size(); dim-- > 0;) {
      starts[dim] =
          math.multiply(math.getRemainder(rest, sizes[dim]), dilations[dim]);
      rest = math.divide(rest, sizes[dim]);
    }
    for (auto [start, stride, place] : llvm::zip_equal(starts, strides, places))
      limits.push_back(math.add(
          math.add(start, math.multiply(math.subtract(place, one), stride)),
          one));
    Value startList = math.makeList(starts), limitList = math.makeList(limits);
    SmallVector<Value> operands(round->getArguments().drop_front());
    for (unsigned i = 0; i < count; ++i)
      operands.push_back(rewriter.create<stablehlo::RealDynamicSliceOp>(
          location, call.getResult(i).getType(), padded[i], startList,
          limitList, strideList));
    // A map has one result: each has the part of the body that it needs.
    auto dims = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    SmallVector<Value> yielded;
    for (unsigned i = 0; i < count; ++i) {
      auto map = rewriter.create<stablehlo::MapOp>(
          location, call.getResult(i).getType(), operands,
          rewriter.getDenseI64ArrayAttr(dims));
      copyBody(map.getComputation(), i, 1);
      rewriter.setInsertionPointAfter(map);
      yielded.push_back(map.getResult());
    }
    yielded.insert(yielded.begin(), math.add(round->getArgument(0), one));
    endLoop(loop, yielded);
    rewriter.replaceOp(call, loop.getResults().drop_front());
  }

  /// A loop that goes on while its first value compares so with `bound`, as far
  /// as the arguments of its body, where the rewriter is then.
  stablehlo::WhileOp beginLoop(ArrayRef<Value> initial,
                               stablehlo::ComparisonDirection direction,
                               Value bound) {
    auto loop = rewriter.create<stablehlo::WhileOp>(
        location, ValueRange(initial).getTypes(), initial);
    SmallVector<Type> types(loop.getResultTypes());
    SmallVector<Location> locations(types.size(), location);
    Block *condition =
        rewriter.createBlock(&loop.getCond(), {}, types, locations);
    Value isLeft = rewriter.create<stablehlo::CompareOp>(
        location, condition->getArgument(0), bound, direction);
    rewriter.create<stablehlo::ReturnOp>(location, isLeft);
    rewriter.createBlock(&loop.getBody(), {}, types, locations);
    return loop;
  }

  void endLoop(stablehlo::WhileOp loop, ValueRange yielded) {
    rewriter.create<stablehlo::ReturnOp>(location, yielded);
    rewriter.setInsertionPointAfter(loop);
  }

  /// From a window's first place to behind its last one.
  Value getExtent(int64_t dim) {
    Value one = math.make(1);
    return math.add(
        math.multiply(
            math.subtract(math.getElement(getList(Sizes), {dim}), one),
            math.getElement(getList(Dilations), {dim})),
        one);
  }

  static RankedTensorType getType(Value tensor) {
    return cast<RankedTensorType>(tensor.getType());
  }

  SmallVector<Value> getShape(Value tensor) {
    SmallVector<Value> sizes;
    for (int64_t dim = 0; dim < rank; ++dim)
      sizes.push_back(math.getDim(tensor, dim));
    return sizes;
  }

  Value repeat(Value scalar, RankedTensorType type, Value shape) {
    return rewriter.create<stablehlo::DynamicBroadcastInDimOp>(
        location, type.clone(getElementTypeOrSelf(scalar.getType())), scalar,
        shape, rewriter.getDenseI64ArrayAttr({}), DenseI64ArrayAttr(),
        DenseI64ArrayAttr());
  }

  /// Whether each result is its two elements, combined by one op whose order is
  /// free.
  bool isAssociative() {
    for (auto [i, result] :
         llvm::enumerate(body.front().getTerminator()->getOperands())) {
      Operation *op = result.getDefiningOp();
      if (!isa_and_nonnull<stablehlo::AddOp, stablehlo::MulOp, stablehlo::MaxOp,
                           stablehlo::MinOp, stablehlo::AndOp, stablehlo::OrOp,
                           stablehlo::XorOp>(op) ||
          op->getOperand(0) != body.getArgument(unsigned(i)) ||
          op->getOperand(1) != body.getArgument(count + unsigned(i)))
        return false;
    }
    return true;
  }

  /// The body of each pair of elements.
  SmallVector<Value> combine(ValueRange left, ValueRange right) {
    SmallVector<Value> results;
    for (auto [i, result] :
         llvm::enumerate(body.front().getTerminator()->getOperands())) {
      OperationState state(location, result.getDefiningOp()->getName(),
                           {left[i], right[i]}, left[i].getType());
      results.push_back(rewriter.create(state)->getResult(0));
    }
    return results;
  }

  /// Element i is element i + `distance` in a dimension; behind the end is
  /// anything.
  SmallVector<Value> shift(ValueRange tensors, int64_t dim, Value distance) {
    Value zero = math.make(0);
    SmallVector<Value> low(static_cast<size_t>(rank), zero), high(low),
        interior(low), shifted;
    low[static_cast<size_t>(dim)] = math.subtract(zero, distance);
    high[static_cast<size_t>(dim)] = distance;
    Value lowList = math.makeList(low), highList = math.makeList(high),
          interiorList = math.makeList(interior);
    for (auto [i, tensor] : llvm::enumerate(tensors))
      shifted.push_back(rewriter.create<stablehlo::DynamicPadOp>(
          location, tensor.getType(), tensor, call.getInputs()[count + i],
          lowList, highList, interiorList));
    return shifted;
  }

  /// Windows in one dimension, one for each element: rounds double what `wide`
  /// holds, windows of powers of two, and put those that the size is made of
  /// behind each other in `found`. That begins with the init value, which each
  /// window has once, or with the first element.
  SmallVector<Value> reduceDim(ArrayRef<Value> inputs, int64_t dim,
                               bool hasInit) {
    Value zero = math.make(0), two = math.make(2);
    Value shape = math.makeList(getShape(inputs[0]));
    Value size = math.getElement(getList(Sizes), {dim});
    Value dilation = math.getElement(getList(Dilations), {dim});
    SmallVector<Value> initial{hasInit ? size
                                       : math.subtract(size, math.make(1)),
                               hasInit ? zero : dilation, dilation};
    llvm::append_range(initial, inputs);
    for (unsigned i = 0; i < count; ++i)
      initial.push_back(hasInit ? repeat(call.getInputs()[count + i],
                                         getType(inputs[i]), shape)
                                : inputs[i]);
    auto loop = beginLoop(initial, stablehlo::ComparisonDirection::GT, zero);
    auto arguments = rewriter.getInsertionBlock()->getArguments();
    Value rest = arguments[0], offset = arguments[1], step = arguments[2];
    ValueRange wide = ValueRange(arguments).slice(3, count);
    ValueRange found = ValueRange(arguments).drop_front(3 + count);
    Value bit = math.getRemainder(rest, two);
    Value isTaken = rewriter.create<stablehlo::CompareOp>(
        location, bit, zero, stablehlo::ComparisonDirection::NE);
    SmallVector<Value> yielded{math.divide(rest, two),
                               math.add(offset, math.multiply(bit, step)),
                               math.multiply(step, two)};
    llvm::append_range(yielded, combine(wide, shift(wide, dim, step)));
    SmallVector<Value> longer = combine(found, shift(wide, dim, offset));
    for (auto [before, after] : llvm::zip_equal(found, longer))
      yielded.push_back(rewriter.create<stablehlo::SelectOp>(
          location, before.getType(), isTaken, after, before));
    endLoop(loop, yielded);
    return SmallVector<Value>(loop.getResults().drop_front(3 + count));
  }

  /// In one dimension after the other, then every so many of the windows.
  void buildDoubling() {
    SmallVector<Value> windows(padded);
    SmallVector<int64_t> dims;
    for (int64_t dim = rank; dim-- > 0;)
      if (!isOne(Sizes, dim))
        dims.push_back(dim);
    if (dims.empty())
      dims.push_back(0);
    for (int64_t dim : dims)
      windows = reduceDim(windows, dim, /*hasInit=*/dim == dims.back());
    SmallVector<Value> starts, limits, strides;
    Value zero = math.make(0), one = math.make(1);
    for (int64_t dim = 0; dim < rank; ++dim) {
      Value stride = math.getElement(getList(Strides), {dim});
      Value last = math.subtract(math.getDim(padded[0], dim), getExtent(dim));
      starts.push_back(zero);
      // Behind the first place of the last window, if there is one.
      limits.push_back(math.getMaximum(math.add(last, one), zero));
      strides.push_back(stride);
    }
    Value startList = math.makeList(starts), limitList = math.makeList(limits),
          strideList = math.makeList(strides);
    SmallVector<Value> results;
    for (auto [result, tensor] : llvm::zip_equal(call.getResults(), windows))
      results.push_back(rewriter.create<stablehlo::RealDynamicSliceOp>(
          location, result.getType(), tensor, startList, limitList,
          strideList));
    rewriter.replaceOp(call, results);
  }

  bool isOne(List list, int64_t dim) {
    Value value = getList(list);
    if (auto known = stablehlo::readConstant(value))
      return (*known)[static_cast<size_t>(dim)] == 1;
    auto parts = value.getDefiningOp<stablehlo::ConcatenateOp>();
    if (!parts || static_cast<int64_t>(parts.getInputs().size()) != rank)
      return false;
    auto known =
        stablehlo::readConstant(parts.getInputs()[static_cast<size_t>(dim)]);
    return known && known->size() == 1 && known->front() == 1;
  }

  stablehlo::CustomCallOp call;
  IRRewriter &rewriter;
  Location location;
  unsigned count;
  ListArithmetic math;
  func::FuncOp body;
  int64_t rank = 0;
  SmallVector<Value> padded;
  SmallVector<int64_t> constants[NumLists];
};
} // namespace

bool alula::input::lowerDynamicReduceWindow(stablehlo::CustomCallOp call,
                                            IRRewriter &rewriter) {
  return WindowLowering(call, rewriter).run();
}

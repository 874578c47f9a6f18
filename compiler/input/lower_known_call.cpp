// Says custom calls that have a meaning everywhere in ops.
//
//   custom_call @ApproxTopK(%x.., %init..)  →  sort, slice
//   custom_call @stablehlo.dynamic_approx_top_k(%x.., %init.., %k)
//                                           →  sort, real_dynamic_slice
//   custom_call @mhlo.topk, @mhlo.erf       →  chlo.top_k, chlo.erf
//   custom_call @alula.ragged_dot           →  chlo.ragged_dot
//
// A call that is not as it should be is left: who runs it says what is wrong.

#include "compiler/input/list_arithmetic.h"

#include "dialect/chlo/ops.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

namespace alula::input {
#define GEN_PASS_DEF_INPUTLOWERKNOWNCALL
#include "compiler/input/passes.h.inc"
} // namespace alula::input

using namespace mlir;

namespace {
DictionaryAttr getConfig(stablehlo::CustomCallOp call) {
  if (auto config =
          dyn_cast_or_null<DictionaryAttr>(call.getBackendConfigAttr()))
    return config;
  // Where JAX puts it for programs that must stay portable.
  return call->getAttrOfType<DictionaryAttr>("mhlo.backend_config");
}

RankedTensorType getStaticType(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? type : RankedTensorType();
}

/// The function that says which of two comes first, if it fits the inputs.
func::FuncOp findComparator(stablehlo::CustomCallOp call, ValueRange inputs,
                            SymbolTable &symbols) {
  ArrayAttr computations = call.getCalledComputations();
  if (!computations || computations.size() != 1)
    return {};
  auto symbol = dyn_cast<FlatSymbolRefAttr>(computations[0]);
  auto function = symbol ? symbols.lookup<func::FuncOp>(symbol.getAttr())
                         : func::FuncOp();
  if (!function || !function.getBody().hasOneBlock())
    return {};
  SmallVector<Type> arguments;
  for (Value input : inputs)
    arguments.append(2, RankedTensorType::get(
                            {}, getElementTypeOrSelf(input.getType())));
  auto flag = RankedTensorType::get({}, IntegerType::get(call.getContext(), 1));
  if (function.getFunctionType() !=
      FunctionType::get(call.getContext(), arguments, flag))
    return {};
  return function;
}

/// A call of approximate top k: arrays, what pads each of them, k if it isn't
/// an attribute, the shapes of the results if they aren't all known.
struct ApproxTopK {
  size_t dim = 0;
  ValueRange inputs;
  Value k, shape;

  /// False if the call is not as it should be.
  bool read(stablehlo::CustomCallOp call) {
    size_t count = call.getNumResults();
    bool isDynamic = call.getCallTargetName() != "ApproxTopK";
    size_t operands = 2 * count + isDynamic;
    DictionaryAttr config = getConfig(call);
    auto number =
        config ? config.getAs<IntegerAttr>("reduction_dim") : IntegerAttr();
    size_t given = call.getInputs().size();
    if (!number || !count || (given != operands && given != operands + count))
      return false;
    inputs = call.getInputs().take_front(count);
    if (isDynamic)
      k = call.getInputs()[2 * count];
    if (given > operands)
      shape = call.getInputs()[operands];
    auto first = dyn_cast<RankedTensorType>(inputs[0].getType());
    if (!first || number.getInt() < 0 || number.getInt() >= first.getRank())
      return false;
    dim = static_cast<size_t>(number.getInt());
    return hasInteger(k, {}) && hasInteger(shape, first.getRank()) &&
           llvm::all_of(llvm::zip_equal(inputs, call.getResults()),
                        [&](auto pair) {
                          auto [input, result] = pair;
                          return fits(input.getType(), first, result.getType());
                        });
  }

  static bool isOpen(int64_t size) { return ShapedType::isDynamic(size); }

  /// A scalar, or a list of `length` numbers; or nothing.
  static bool hasInteger(Value value, std::optional<int64_t> length) {
    if (!value)
      return true;
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getElementType().isSignlessInteger() &&
           (length ? type.getRank() == 1 && type.getDimSize(0) == *length
                   : type.getRank() == 0);
  }

  bool fits(Type input, RankedTensorType first, Type result) const {
    auto from = dyn_cast<RankedTensorType>(input);
    auto to = dyn_cast<RankedTensorType>(result);
    if (!from || !to || from.getShape() != first.getShape() ||
        to.getRank() != from.getRank() ||
        to.getElementType() != from.getElementType())
      return false;
    for (auto [i, a, b] : llvm::enumerate(from.getShape(), to.getShape()))
      if (!isOpen(a) && !isOpen(b) && (i == dim ? b > a : b != a))
        return false;
    // Somebody has to say how many there are.
    return !isOpen(to.getShape()[dim]) || k || shape;
  }

  /// The first of what is sorted.
  Value slice(Value sorted, RankedTensorType type, IRRewriter &rewriter) const {
    Location location = sorted.getLoc();
    size_t rank = type.getShape().size();
    auto from = cast<RankedTensorType>(sorted.getType());
    if (from.hasStaticShape() && type.hasStaticShape())
      return rewriter.create<stablehlo::SliceOp>(
          location, type, sorted, SmallVector<int64_t>(rank, 0),
          type.getShape(), SmallVector<int64_t>(rank, 1));
    alula::input::ListArithmetic math(rewriter, location);
    SmallVector<Value> limits, starts(rank, math.make(0)),
        strides(rank, math.make(1));
    for (size_t d = 0; d < rank; ++d) {
      if (d != dim)
        limits.push_back(math.getDim(sorted, static_cast<int64_t>(d)));
      else if (!isOpen(type.getShape()[d]))
        limits.push_back(math.make(type.getShape()[d]));
      else if (shape)
        limits.push_back(math.getElement(shape, {static_cast<int64_t>(d)}));
      else
        limits.push_back(math.getElement(k, {}));
    }
    Value start = math.makeList(starts), limit = math.makeList(limits),
          stride = math.makeList(strides);
    return rewriter.create<stablehlo::RealDynamicSliceOp>(
        location, type, sorted, start, limit, stride);
  }
};

/// Exact, and in order: the best answer there is.
bool lowerApproxTopK(stablehlo::CustomCallOp call, SymbolTable &symbols,
                     IRRewriter &rewriter) {
  ApproxTopK topK;
  if (!topK.read(call))
    return false;
  func::FuncOp comparator = findComparator(call, topK.inputs, symbols);
  if (!comparator)
    return false;

  auto sort = rewriter.create<stablehlo::SortOp>(
      call.getLoc(), topK.inputs.getTypes(), topK.inputs,
      static_cast<uint64_t>(topK.dim), /*is_stable=*/true);
  IRMapping mapping;
  comparator.getBody().cloneInto(&sort.getComparator(), mapping);
  Operation *end = sort.getComparator().front().getTerminator();
  rewriter.setInsertionPoint(end);
  rewriter.replaceOpWithNewOp<stablehlo::ReturnOp>(end, end->getOperands());
  rewriter.setInsertionPointAfter(sort);
  SmallVector<Value> parts;
  for (auto [sorted, result] :
       llvm::zip_equal(sort.getResults(), call.getResults()))
    parts.push_back(
        topK.slice(sorted, cast<RankedTensorType>(result.getType()), rewriter));
  rewriter.replaceOp(call, parts);
  return true;
}

bool lowerTopK(stablehlo::CustomCallOp call, IRRewriter &rewriter) {
  auto attributes = call->getAttrOfType<DictionaryAttr>("mhlo.attributes");
  auto k = attributes ? attributes.getAs<IntegerAttr>("k") : IntegerAttr();
  auto largest =
      attributes ? attributes.getAs<BoolAttr>("largest") : BoolAttr();
  if (!k || (largest && !largest.getValue()) || call.getInputs().size() != 1 ||
      call.getNumResults() != 2)
    return false;
  auto from = getStaticType(call.getInputs()[0]);
  auto values = getStaticType(call.getResult(0));
  auto indices = getStaticType(call.getResult(1));
  if (!from || !values || !indices || !from.getRank() ||
      k.getInt() > from.getShape().back())
    return false;
  SmallVector<int64_t> shape(from.getShape());
  shape.back() = k.getInt();
  if (values != from.clone(shape) ||
      indices != from.clone(shape, rewriter.getI32Type()))
    return false;
  rewriter.replaceOpWithNewOp<chlo::TopKOp>(
      call, TypeRange{values, indices}, call.getInputs()[0],
      static_cast<uint64_t>(k.getInt()));
  return true;
}

bool lowerErf(stablehlo::CustomCallOp call, IRRewriter &rewriter) {
  if (call.getInputs().size() != 1 || call.getNumResults() != 1 ||
      call.getInputs()[0].getType() != call.getResult(0).getType())
    return false;
  rewriter.replaceOpWithNewOp<chlo::ErfOp>(
      call, call.getResult(0).getType(), call.getInputs()[0]);
  return true;
}

/// JAX's tools would have spelled out the op itself on its way here.
void lowerRaggedDot(stablehlo::CustomCallOp call, IRRewriter &rewriter) {
  DictionaryAttr config = getConfig(call);
  if (!config || call.getInputs().size() != 3 || call.getNumResults() != 1)
    return;
  bool isComplete = true;
  auto read = [&](StringRef name) -> SmallVector<int64_t> {
    Attribute dims = config.get(name);
    if (auto array = dyn_cast_or_null<DenseI64ArrayAttr>(dims))
      return SmallVector<int64_t>(array.asArrayRef());
    // As the portable form has it.
    auto list = dyn_cast_or_null<DenseIntElementsAttr>(dims);
    if (list && list.getElementType().isInteger(64))
      return llvm::to_vector(list.getValues<int64_t>());
    isComplete = false;
    return {};
  };
  auto numbers = chlo::RaggedDotDimensionNumbersAttr::get(
      call.getContext(), read("lhs_batching_dimensions"),
      read("rhs_batching_dimensions"), read("lhs_contracting_dimensions"),
      read("rhs_contracting_dimensions"), read("lhs_ragged_dimensions"),
      read("rhs_group_dimensions"));
  if (!isComplete)
    return;
  ArrayAttr precision;
  if (auto exact = config.getAs<BoolAttr>("exact"); exact && exact.getValue()) {
    auto highest = chlo::PrecisionAttr::get(call.getContext(),
                                            chlo::Precision::HIGHEST);
    precision = rewriter.getArrayAttr({highest, highest});
  }
  rewriter.setInsertionPoint(call);
  // Its verifier says what is wrong with the dimensions.
  rewriter.replaceOpWithNewOp<chlo::RaggedDotOp>(
      call, call.getResult(0).getType(), call.getInputs()[0],
      call.getInputs()[1], call.getInputs()[2], numbers, precision);
}

struct LowerKnownCall
    : public alula::input::impl::InputLowerKnownCallBase<LowerKnownCall> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    IRRewriter rewriter(&getContext());
    getOperation().walk([&](stablehlo::CustomCallOp call) {
      rewriter.setInsertionPoint(call);
      if (call.getCallTargetName() == "ApproxTopK" ||
          call.getCallTargetName() == "stablehlo.dynamic_approx_top_k")
        lowerApproxTopK(call, symbols, rewriter);
      else if (call.getCallTargetName() == "mhlo.topk")
        lowerTopK(call, rewriter);
      else if (call.getCallTargetName() == "mhlo.erf")
        lowerErf(call, rewriter);
      else if (call.getCallTargetName() == "alula.ragged_dot")
        lowerRaggedDot(call, rewriter);
    });
  }
};
} // namespace

// Random bits, and the numbers that rng makes of them.

#include "compiler/kernel/element/scalar.h"
#include "compiler/target/cpu/kernel/families.h"
#include "compiler/target/cpu/kernel/library_call.h"

#include "compiler/kernel/library/random.h"
#include "dialect/dispatch/element_type.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace alula::cpu;
using namespace alula::kernel;

namespace {
/// Writes `dims` of words and the next state, where there is memory for it.
void drawBits(Lowering &lowering, bool isThreefry, Value state,
              int64_t stateWords, Value nextState, Value bits, unsigned width,
              ArrayRef<int64_t> dims) {
  int64_t count = 1;
  for (int64_t size : dims)
    count *= size;
  ImplicitLocOpBuilder &b = lowering.b;
  auto integer = [&](int64_t value) {
    return makeInteger(lowering, b.getI64Type(), value);
  };
  std::string suffix = "_u" + std::to_string(width);
  if (!isThreefry) {
    lowering.callLibrary(
        "alula_philox_bits" + suffix,
        {state, integer(stateWords), nextState, bits, integer(count)});
    return;
  }
  int64_t paired = alula_threefry_pair_dimension(
      dims.data(), static_cast<int64_t>(dims.size()));
  int64_t outer = 1, inner = 1;
  for (int64_t dim = 0; dim < static_cast<int64_t>(dims.size()); ++dim)
    if (dim != paired)
      (dim < paired ? outer : inner) *= dims[static_cast<size_t>(dim)];
  int64_t size = dims.empty() ? 1 : dims[static_cast<size_t>(paired)];
  lowering.callLibrary(
      "alula_threefry_bits" + suffix,
      {state, nextState, bits, integer(outer), integer(size), integer(inner)});
}
} // namespace

void alula::cpu::emitRngBitGenerator(Operation *op, Lowering &lowering) {
  auto generator = cast<stablehlo::RngBitGeneratorOp>(op);
  Value initial = generator.getInitialState();
  auto stateType = cast<RankedTensorType>(initial.getType());
  auto type = cast<RankedTensorType>(generator.getOutput().getType());
  bool isThreefry =
      generator.getRngAlgorithm() == stablehlo::RngAlgorithm::THREE_FRY;
  Type memory = getMemoryType(type.getElementType());
  int64_t bytes =
      stateType.getNumElements() *
      getMemoryType(stateType.getElementType()).getIntOrFloatBitWidth() / 8;
  if (bytes != 16 && (bytes != 24 || isThreefry))
    return lowering.decline(op, "for a state of " + Twine(bytes) + " bytes");
  unsigned width = memory.getIntOrFloatBitWidth();
  Value state = lowering.getPointer(lowering.getBuffer(initial));
  Value next =
      lowering.getPointer(lowering.createResult(generator.getOutputState()));
  Value bits = lowering.createResult(generator.getOutput());
  drawBits(lowering, isThreefry, state, bytes / 8, next,
           lowering.getPointer(bits), width, type.getShape());
  // Of a type narrower than a byte only the low bits count.
  Type element = type.getElementType();
  auto numBits =
      static_cast<unsigned>(alula_dtype_get_bits(*dispatch::getDtype(element)));
  if (numBits >= 8)
    return;
  ImplicitLocOpBuilder &b = lowering.b;
  Type narrow = b.getIntegerType(numBits);
  bool isSigned = getElementKind(element) == ElementKind::Signed;
  lowering.forEach(
      lowering.getShape(generator.getOutput()), [&](ValueRange indices) {
        Value word = b.create<arith::TruncIOp>(
            narrow, b.create<memref::LoadOp>(bits, indices));
        Value wide = isSigned
                         ? b.create<arith::ExtSIOp>(memory, word).getResult()
                         : b.create<arith::ExtUIOp>(memory, word).getResult();
        b.create<memref::StoreOp>(wide, bits, indices);
      });
}

namespace {
/// How threefry pairs an output of these sizes: the first even dimension, else
/// the first of the largest.
struct Pairing {
  Value outer, size, inner;
};

Pairing findPairing(Lowering &lowering, ArrayRef<Value> sizes) {
  ImplicitLocOpBuilder &b = lowering.b;
  using Predicate = arith::CmpIPredicate;
  Value zero = lowering.index(0), one = lowering.index(1);
  Value paired = zero, size = sizes.empty() ? one : sizes.front();
  Value hasEven = lowering.compare(Predicate::ne, zero, zero);
  for (auto [d, dim] : llvm::enumerate(sizes)) {
    Value isEven = lowering.compare(Predicate::eq,
                                    lowering.rem(dim, lowering.index(2)), zero);
    Value isBetter = b.create<arith::OrIOp>(
        isEven, lowering.compare(Predicate::ugt, dim, size));
    Value isFirst = b.create<arith::XOrIOp>(hasEven, lowering.makeTrue());
    Value isTaken = b.create<arith::AndIOp>(isFirst, isBetter);
    paired = lowering.select(isTaken, lowering.index(static_cast<int64_t>(d)),
                             paired);
    size = lowering.select(isTaken, dim, size);
    hasEven = b.create<arith::OrIOp>(hasEven, isEven);
  }
  Value outer = one, inner = one;
  for (auto [d, dim] : llvm::enumerate(sizes)) {
    Value here = lowering.index(static_cast<int64_t>(d));
    Value isOuter = lowering.compare(Predicate::ult, here, paired);
    Value isInner = lowering.compare(Predicate::ugt, here, paired);
    outer = lowering.mul(outer, lowering.select(isOuter, dim, one));
    inner = lowering.mul(inner, lowering.select(isInner, dim, one));
  }
  return {outer, size, inner};
}
} // namespace

// custom_call @stablehlo.dynamic_rng_bit_generator(state, sizes)
void alula::cpu::emitDynamicRngBits(Operation *op, Lowering &lowering) {
  auto algorithm =
      op->getAttrOfType<stablehlo::RngAlgorithmAttr>("rng_algorithm");
  auto state = op->getNumOperands() == 2 && op->getNumResults() == 2
                   ? dyn_cast<RankedTensorType>(op->getOperand(0).getType())
                   : RankedTensorType();
  auto list = state ? dyn_cast<RankedTensorType>(op->getOperand(1).getType())
                    : RankedTensorType();
  auto type = state ? cast<RankedTensorType>(op->getResult(1).getType())
                    : RankedTensorType();
  if (!algorithm || !state || !list ||
      list.getShape() != ArrayRef<int64_t>{type.getRank()} ||
      op->getResult(0).getType() != state ||
      !isa<IntegerType>(state.getElementType()) || !state.hasStaticShape())
    return lowering.decline(op, "for such operands");
  bool isThreefry = algorithm.getValue() == stablehlo::RngAlgorithm::THREE_FRY;
  int64_t bytes =
      state.getNumElements() *
      getMemoryType(state.getElementType()).getIntOrFloatBitWidth() / 8;
  if (bytes != 16 && (bytes != 24 || isThreefry))
    return lowering.decline(op, "for a state of " + Twine(bytes) + " bytes");
  OpResult output = op->getResult(1);
  Type element = getElementType(output);
  if (!isa<IntegerType>(element) || element.getIntOrFloatBitWidth() < 8)
    return lowering.decline(op, "for values of type " +
                                    debugString(output.getType()));
  ImplicitLocOpBuilder &b = lowering.b;
  Type i64 = b.getI64Type();
  auto toInteger = [&](Value number) -> Value {
    return b.create<arith::IndexCastOp>(i64, number);
  };
  Value from = lowering.getPointer(lowering.getBuffer(op->getOperand(0)));
  Value next = lowering.getPointer(lowering.createResult(op->getResult(0)));
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    sizes.push_back(
        lowering.getIndexElement(op->getOperand(1), lowering.index(dim)));
  lowering.setShape(output, sizes);
  Value bits = lowering.getPointer(lowering.createResult(output));
  std::string suffix = "_u" + std::to_string(element.getIntOrFloatBitWidth());
  if (!isThreefry)
    return lowering.callLibrary("alula_philox_bits" + suffix,
                                {from, makeInteger(lowering, i64, bytes / 8),
                                 next, bits,
                                 toInteger(lowering.product(sizes))});
  Pairing pairing = findPairing(lowering, sizes);
  lowering.callLibrary("alula_threefry_bits" + suffix,
                       {from, next, bits, toInteger(pairing.outer),
                        toInteger(pairing.size), toInteger(pairing.inner)});
}

// The numbers are our own generator's, as the reference has them.
void alula::cpu::emitRng(Operation *op, Lowering &lowering) {
  auto rng = cast<stablehlo::RngOp>(op);
  auto type = cast<RankedTensorType>(rng.getType());
  if (!type.hasStaticShape())
    return lowering.decline(op, "for a size that is not known");
  ImplicitLocOpBuilder &b = lowering.b;
  Type element = type.getElementType(), i64 = b.getI64Type(),
       f64 = b.getF64Type();
  int64_t count = type.getNumElements();
  auto stream = op->getAttrOfType<IntegerAttr>("dispatch.random_stream");
  Value state = lowering.createTemporary(lowering.index(2), i64);
  uint64_t number = stream ? stream.getValue().getZExtValue() : 0;
  int64_t key = static_cast<int64_t>(uint64_t(0x616c756c61) ^ number << 40);
  auto setWord = [&](int64_t place, int64_t word) {
    b.create<memref::StoreOp>(makeInteger(lowering, i64, word), state,
                              ValueRange(lowering.index(place)));
  };
  setWord(0, key);
  setWord(1, 0);
  Value words = lowering.createTemporary(lowering.index(2 * count), i64);
  drawBits(lowering, /*isThreefry=*/true, lowering.getPointer(state), 2,
           lowering.getPointer(state), lowering.getPointer(words), 64,
           2 * count);
  Value low = lowering.getScalar(rng.getA()),
        high = lowering.getScalar(rng.getB());
  bool isUniform =
      rng.getRngDistribution() == stablehlo::RngDistribution::UNIFORM;
  bool isFloat = getElementKind(element) == ElementKind::Float;
  Value buffer = lowering.createResult(rng.getResult());
  SmallVector<Value> sizes = lowering.getShape(rng.getResult());
  auto toUnit = [&](Value word) -> Value {
    Value top = b.create<arith::ShRUIOp>(word, makeInteger(lowering, i64, 11));
    return b.create<arith::MulFOp>(b.create<arith::UIToFPOp>(f64, top),
                                   makeNumber(lowering, f64, 0x1p-53));
  };
  auto widen = [&](Value value) {
    return convertScalar(lowering, op, value, element, f64);
  };
  auto integer = [&](Value first) -> Value {
    if (element.isInteger(1)) {
      Value isSame =
          b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, low, high);
      Value top = b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, first,
                                          makeInteger(lowering, i64, 0));
      return b.create<arith::SelectOp>(isSame, low, top);
    }
    Value wideLow = convertScalar(lowering, op, low, element, i64);
    Value span = b.create<arith::SubIOp>(
        convertScalar(lowering, op, high, element, i64), wideLow);
    Value isEmpty = b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, span,
                                            makeInteger(lowering, i64, 0));
    Value divisor =
        b.create<arith::SelectOp>(isEmpty, makeInteger(lowering, i64, 1), span);
    Value drawn = b.create<arith::AddIOp>(
        wideLow, b.create<arith::RemUIOp>(first, divisor));
    Value inType = convertScalar(lowering, op, drawn, i64, element);
    return b.create<arith::SelectOp>(isEmpty, low, inType);
  };
  lowering.forEach(sizes, [&](ValueRange indices) {
    Value at =
        lowering.mul(lowering.linearize(indices, sizes), lowering.index(2));
    Value first = b.create<memref::LoadOp>(words, at);
    Value second =
        b.create<memref::LoadOp>(words, lowering.add(at, lowering.index(1)));
    Value drawn;
    if (!isFloat) {
      drawn = integer(first);
    } else if (isUniform) {
      Value span = b.create<arith::SubFOp>(widen(high), widen(low));
      Value number = b.create<arith::AddFOp>(
          widen(low), b.create<arith::MulFOp>(toUnit(first), span));
      drawn = roundFloat(lowering, number, element);
      // Rounding must not reach the open end.
      Value isOut =
          b.create<arith::CmpFOp>(arith::CmpFPredicate::OGE, drawn, high);
      drawn = b.create<arith::SelectOp>(isOut, low, drawn);
    } else {
      // Box and Muller; 1 - u keeps the logarithm finite.
      Value rest =
          b.create<arith::SubFOp>(makeNumber(lowering, f64, 1), toUnit(first));
      Value log = lowering.callLibrary("alula_log_f64", f64, rest);
      Value radius = b.create<math::SqrtOp>(
          b.create<arith::MulFOp>(makeNumber(lowering, f64, -2), log));
      Value angle = b.create<arith::MulFOp>(
          makeNumber(lowering, f64, 6.283185307179586), toUnit(second));
      Value cosine = lowering.callLibrary("alula_cos_f64", f64, angle);
      Value spread = b.create<arith::MulFOp>(widen(high), radius);
      drawn =
          roundFloat(lowering,
                     b.create<arith::AddFOp>(
                         widen(low), b.create<arith::MulFOp>(spread, cosine)),
                     element);
    }
    lowering.store(drawn, element, buffer, indices);
  });
}

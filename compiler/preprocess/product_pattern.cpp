// dot: act(lhs x rhs + bias), act being nothing, relu or gelu.

#include "compiler/preprocess/product_pattern.h"

#include "dialect/stablehlo/ops.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;
using namespace alula;
using namespace alula::preprocess;

namespace {
using Members = llvm::SetVector<Operation *>;
using Activation = Product::Activation;

RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

// ---- Matrices ----

/// How far apart neighbours are along each dimension.
SmallVector<int64_t> findStrides(Value &value, Members &members) {
  auto shape = typeOf(value).getShape();
  // For each dimension of what is asked for, that of the memory.
  auto places = llvm::to_vector(
      llvm::seq<int64_t>(0, static_cast<int64_t>(shape.size())));
  while (auto transpose = value.getDefiningOp<stablehlo::TransposeOp>()) {
    if (!transpose->hasOneUse())
      break;
    for (int64_t &place : places)
      place = transpose.getPermutation()[static_cast<size_t>(place)];
    members.insert(transpose);
    value = transpose.getOperand();
  }
  shape = typeOf(value).getShape();
  SmallVector<int64_t> steps(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;)
    steps[dim - 1] = steps[dim] * shape[dim];
  return llvm::map_to_vector(
      places, [&](int64_t place) { return steps[static_cast<size_t>(place)]; });
}

struct Group {
  int64_t size = 1, stride = 0;
};

/// Dimensions that are one, in this order; nothing if they are not.
std::optional<Group> join(ArrayRef<int64_t> dims, ArrayRef<int64_t> shape,
                          ArrayRef<int64_t> strides) {
  Group group;
  for (int64_t dim : llvm::reverse(dims)) {
    auto at = static_cast<size_t>(dim);
    if (shape[at] == 1)
      continue;
    if (group.size > 1 && strides[at] != group.size * group.stride)
      return std::nullopt;
    if (group.size == 1)
      group.stride = strides[at];
    group.size *= shape[at];
  }
  return group;
}

SmallVector<int64_t> findFree(int64_t rank, ArrayRef<int64_t> batch,
                              ArrayRef<int64_t> contracting) {
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(batch, dim) &&
        !llvm::is_contained(contracting, dim))
      dims.push_back(dim);
  return dims;
}

/// A library would have numbers widened in memory that are widened where they
/// are multiplied.
bool isWidened(Value value, unsigned depth = 6) {
  Operation *op = value.getDefiningOp();
  if (!op || !depth)
    return false;
  if (auto convert = dyn_cast<stablehlo::ConvertOp>(op))
    return typeOf(convert.getOperand()).getElementTypeBitWidth() <
           typeOf(convert.getResult()).getElementTypeBitWidth();
  if (!isa<stablehlo::MulOp, stablehlo::SubtractOp, stablehlo::AddOp,
           stablehlo::ReshapeOp, stablehlo::TransposeOp>(op))
    return false;
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    return isWidened(operand, depth - 1);
  });
}

bool isConstant(Value value) { return matchPattern(value, m_Constant()); }

/// Whether a library multiplies these into that.
bool areKnown(Type lhs, Type rhs, Type result) {
  auto isFloat8 = llvm::IsaPred<Float8E4M3FNType, Float8E5M2Type>;
  if (isFloat8(lhs) && isFloat8(rhs))
    return !(isa<Float8E5M2Type>(lhs) && isa<Float8E5M2Type>(rhs)) &&
           (result.isF16() || result.isBF16() || result.isF32());
  if (lhs != rhs)
    return false;
  if (lhs.isF16() || lhs.isBF16())
    return result == lhs || result.isF32();
  if (lhs.isF32() || lhs.isF64())
    return result == lhs;
  return lhs.isSignlessInteger(8) && result.isSignlessInteger(32);
}

// ---- What follows ----

/// A number that all elements are.
std::optional<double> getNumber(Value value) {
  DenseElementsAttr dense;
  if (!matchPattern(value, m_Constant(&dense)) || !dense.isSplat() ||
      !isa<FloatType>(dense.getElementType()))
    return std::nullopt;
  APFloat number = dense.getSplatValue<APFloat>();
  bool isInexact;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                 &isInexact);
  return number.convertToDouble();
}

/// An op on single elements, of values of which one is known already.
std::optional<double> evaluate(Operation *op, ArrayRef<double> values) {
  auto apply = [&](auto function) { return function(values[0], values[1]); };
  return llvm::TypeSwitch<Operation *, std::optional<double>>(op)
      .Case([&](stablehlo::AddOp) { return apply(std::plus<double>()); })
      .Case([&](stablehlo::SubtractOp) { return apply(std::minus<double>()); })
      .Case([&](stablehlo::MulOp) { return apply(std::multiplies<double>()); })
      .Case([&](stablehlo::DivOp) { return apply(std::divides<double>()); })
      .Case([&](stablehlo::MaxOp) {
        return apply([](double a, double b) { return std::max(a, b); });
      })
      .Case([&](stablehlo::MinOp) {
        return apply([](double a, double b) { return std::min(a, b); });
      })
      .Case([&](stablehlo::PowOp) {
        return apply([](double a, double b) { return std::pow(a, b); });
      })
      .Case([&](stablehlo::NegOp) { return -values[0]; })
      .Case([&](stablehlo::TanhOp) { return std::tanh(values[0]); })
      .Case([&](stablehlo::ExpOp) { return std::exp(values[0]); })
      .Case(
          [&](stablehlo::LogisticOp) { return 1 / (1 + std::exp(-values[0])); })
      .Case([&](stablehlo::ConvertOp) { return values[0]; })
      .Default([](Operation *) { return std::nullopt; });
}

class ChainMatcher {
public:
  ChainMatcher(Product &product, Members &members)
      : product(product), members(members) {}

  void run() {
    convert();
    addBias();
    convert();
    activate();
    convert();
  }

private:
  Type getElement() const { return typeOf(product.result).getElementType(); }
  Operation *getOnlyUser() const {
    if (!product.result.hasOneUse())
      return nullptr;
    Operation *user = *product.result.user_begin();
    return user->getBlock() == product.result.getParentBlock() ? user : nullptr;
  }

  /// Sums are rounded when they are stored.
  void convert() {
    auto convert = dyn_cast_or_null<stablehlo::ConvertOp>(getOnlyUser());
    if (!convert)
      return;
    Type to = typeOf(convert.getResult()).getElementType();
    bool isRounded = getElement().isF32() && (to.isF16() || to.isBF16());
    if (!isRounded || !mayBe(to))
      return;
    members.insert(convert);
    product.result = convert.getResult();
  }

  /// Whether results may be of this type.
  bool mayBe(Type type) const {
    return areKnown(product.getType(product.lhs.value),
                    product.getType(product.rhs.value), type) &&
           (!product.bias || product.getType(product.bias) == type);
  }

  bool mayHaveEpilogue() const {
    return getElement().isF16() || getElement().isBF16() ||
           getElement().isF32();
  }

  void addBias() {
    auto add = dyn_cast_or_null<stablehlo::AddOp>(getOnlyUser());
    if (!add || !mayHaveEpilogue())
      return;
    // Products of 8-bit floats have a bias of 16 bits.
    if (getElement().isF32() &&
        typeOf(product.lhs.value).getElementTypeBitWidth() == 8)
      return;
    Value other = add.getLhs() == product.result ? add.getRhs() : add.getLhs();
    auto broadcast = other.getDefiningOp<stablehlo::BroadcastInDimOp>();
    if (!broadcast || !broadcast->hasOneUse() ||
        broadcast->getBlock() != add->getBlock())
      return;
    Value bias = broadcast.getOperand();
    auto type = typeOf(bias);
    int64_t last = typeOf(product.result).getRank() - 1;
    if (type.getRank() != 1 || type.getDimSize(0) != product.columns ||
        broadcast.getBroadcastDimensions() != ArrayRef<int64_t>{last} ||
        isConstant(bias))
      return;
    product.bias = bias;
    members.insert(broadcast);
    members.insert(add);
    product.result = add.getResult();
  }

  /// Ops on single elements that need nothing but `x` and numbers, up to one
  /// whose result is all that others see; the function is known by its values.
  void activate() {
    if (!mayHaveEpilogue())
      return;
    constexpr unsigned mostOps = 24;
    Value x = product.result;
    Members known;
    for (Operation *op = x.getDefiningOp()->getNextNode();
         op && known.size() < mostOps; op = op->getNextNode()) {
      if (!takesOnly(op, x, known))
        continue;
      known.insert(op);
      if (!isClosed(op, x, known) ||
          !mayBe(typeOf(op->getResult(0)).getElementType()))
        continue;
      Activation activation = recognize(x, known);
      if (activation == Activation::None)
        continue;
      product.activation = activation;
      members.insert(known.begin(), known.end());
      product.result = op->getResult(0);
      return;
    }
  }

  static bool takesOnly(Operation *op, Value x, const Members &known) {
    if (op->getNumResults() != 1 || op->getNumOperands() > 2 ||
        !isa<RankedTensorType>(op->getResult(0).getType()) ||
        typeOf(op->getResult(0)).getShape() != typeOf(x).getShape() ||
        !isa<FloatType>(typeOf(op->getResult(0)).getElementType()))
      return false;
    bool usesIt = false;
    for (Value operand : op->getOperands()) {
      bool isIt = operand == x || known.contains(operand.getDefiningOp());
      usesIt |= isIt;
      if (!isIt && !getNumber(operand))
        return false;
    }
    return usesIt && evaluate(op, {1, 1});
  }

  /// Whether nobody else sees what is before `last`.
  static bool isClosed(Operation *last, Value x, const Members &known) {
    auto isInside = [&](Operation *user) { return known.contains(user); };
    return llvm::all_of(x.getUsers(), isInside) &&
           llvm::all_of(known, [&](Operation *op) {
             return op == last || llvm::all_of(op->getUsers(), isInside);
           });
  }

  static double compute(Value x, double at, const Members &ops) {
    DenseMap<Value, double> values = {{x, at}};
    double result = 0;
    for (Operation *op : ops) {
      SmallVector<double> operands;
      for (Value operand : op->getOperands()) {
        auto found = values.find(operand);
        operands.push_back(found != values.end() ? found->second
                                                 : *getNumber(operand));
      }
      result = *evaluate(op, operands);
      values[op->getResult(0)] = result;
    }
    return result;
  }

  static Activation recognize(Value x, const Members &ops) {
    auto relu = [](double at) { return std::max(at, 0.0); };
    // The approximation by tanh, as the library has it.
    auto gelu = [](double at) {
      return 0.5 * at *
             (1 +
              std::tanh(std::sqrt(2 / M_PI) * (at + 0.044715 * at * at * at)));
    };
    // Of numbers in the formula that are rounded.
    bool isNarrow = llvm::any_of(ops, [](Operation *op) {
      return typeOf(op->getResult(0)).getElementTypeBitWidth() < 32;
    });
    double tolerance = isNarrow ? 2.5e-3 : 2e-6;
    bool isRelu = true, isGelu = true;
    for (double at = -9; at <= 9; at += 0.28125) {
      double value = compute(x, at, ops), room = tolerance * (1 + std::abs(at));
      isRelu &= std::abs(value - relu(at)) <= room;
      isGelu &= std::abs(value - gelu(at)) <= room;
    }
    return isRelu   ? Activation::Relu
           : isGelu ? Activation::Gelu
                    : Activation::None;
  }

  Product &product;
  Members &members;
};

/// Rows and columns as the library has them: one of both steps by one.
struct Stored {
  bool isTransposed;
  int64_t leading;
};
std::optional<Stored> store(int64_t rows, int64_t columns, int64_t row,
                            int64_t column) {
  // By columns: rows lie side by side.
  auto isGood = [](int64_t inner, int64_t outer, int64_t step, int64_t lead) {
    return (inner == 1 || step == 1) && (outer == 1 || lead >= inner);
  };
  if (isGood(rows, columns, row, column))
    return Stored{false, columns == 1 ? rows : column};
  if (isGood(columns, rows, column, row))
    return Stored{true, rows == 1 ? columns : row};
  return std::nullopt;
}

} // namespace

Type Product::getType(Value value) const {
  return typeOf(value).getElementType();
}

std::optional<Product>
alula::preprocess::matchProduct(stablehlo::DotGeneralOp dot) {
  Value lhs = dot.getLhs(), rhs = dot.getRhs();
  for (Value value : {lhs, rhs, Value(dot.getResult())})
    if (!typeOf(value).hasStaticShape() || !typeOf(value).getNumElements())
      return std::nullopt;
  if (dot->hasAttr("algorithm") ||
      !areKnown(typeOf(lhs).getElementType(), typeOf(rhs).getElementType(),
                typeOf(dot.getResult()).getElementType()))
    return std::nullopt;
  auto dims = dot.getDotDimensionNumbers();
  Product product = {};
  Members members;
  auto lay = [&](Value value, ArrayRef<int64_t> batch,
                 ArrayRef<int64_t> contracting, Group &batches, Group &free,
                 Group &depth) {
    auto shape = typeOf(value).getShape();
    SmallVector<int64_t> freeDims =
        findFree(typeOf(value).getRank(), batch, contracting);
    SmallVector<int64_t> strides = findStrides(value, members);
    auto joinedBatch = join(batch, shape, strides),
         joinedFree = join(freeDims, shape, strides),
         joinedDepth = join(contracting, shape, strides);
    if (!joinedBatch || !joinedFree || !joinedDepth || isConstant(value) ||
        isWidened(value))
      return Value();
    batches = *joinedBatch;
    free = *joinedFree;
    depth = *joinedDepth;
    return value;
  };
  Group lhsBatch, rhsBatch, rows, columns, lhsDepth, rhsDepth;
  lhs = lay(lhs, dims.getLhsBatchingDimensions(),
            dims.getLhsContractingDimensions(), lhsBatch, rows, lhsDepth);
  rhs = lay(rhs, dims.getRhsBatchingDimensions(),
            dims.getRhsContractingDimensions(), rhsBatch, columns, rhsDepth);
  if (!lhs || !rhs)
    return std::nullopt;
  product.rows = rows.size;
  product.columns = columns.size;
  product.depth = lhsDepth.size;
  product.batches = lhsBatch.size;
  product.lhs = {lhs, rows.stride, lhsDepth.stride, lhsBatch.stride};
  product.rhs = {rhs, rhsDepth.stride, columns.stride, rhsBatch.stride};
  for (int64_t size :
       {product.rows, product.columns, product.depth, product.batches})
    if (size > INT32_MAX)
      return std::nullopt;
  if (!store(product.rows, product.depth, product.lhs.row,
             product.lhs.column) ||
      !store(product.depth, product.columns, product.rhs.row,
             product.rhs.column))
    return std::nullopt;
  product.result = dot.getResult();
  members.insert(dot);
  ChainMatcher(product, members).run();
  for (Operation *member : members)
    if (member->getBlock() != dot->getBlock())
      return std::nullopt;
  product.ops.assign(members.begin(), members.end());
  llvm::sort(product.ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return product;
}

std::string alula::preprocess::describeForCublaslt(const Product &product) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto print = [&](Type type) -> llvm::StringRef {
    if (isa<Float8E4M3FNType>(type))
      return "f8E4M3FN";
    if (isa<Float8E5M2Type>(type))
      return "f8E5M2";
    return type.isF64()        ? "f64"
           : type.isF32()      ? "f32"
           : type.isF16()      ? "f16"
           : type.isBF16()     ? "bf16"
           : type.isInteger(8) ? "i8"
                               : "i32";
  };
  // By columns the result is the transpose of ours, and so are its factors, in
  // the other order.
  auto factor = [&](char name, const Product::Matrix &matrix, int64_t rows,
                    int64_t columns) {
    Stored stored = *store(columns, rows, matrix.column, matrix.row);
    os << ' ' << name << '=' << print(product.getType(matrix.value)) << ','
       << (stored.isTransposed ? 't' : 'n') << ',' << stored.leading << ','
       << matrix.batch;
  };
  os << "cublaslt m=" << product.columns << " n=" << product.rows
     << " k=" << product.depth << " batch=" << product.batches;
  factor('a', product.rhs, product.depth, product.columns);
  factor('b', product.lhs, product.rows, product.depth);
  os << " d=" << print(product.getType(product.result)) << ','
     << product.columns << ',' << product.rows * product.columns;
  if (product.activation != Activation::None)
    os << " act=" << (product.activation == Activation::Relu ? "relu" : "gelu");
  if (product.bias)
    os << " bias=" << print(product.getType(product.bias));
  return text;
}

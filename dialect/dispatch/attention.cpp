#include "dialect/dispatch/attention.h"

#include "dialect/dispatch/element_type.h"
#include "dialect/stablehlo/access.h"
#include "dialect/stablehlo/element_rules.h"
#include "dialect/stablehlo/product_dims.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace alula::dispatch;
using stablehlo::Access;
using stablehlo::Cost;

namespace {
/// Smaller heads are not worth tiles.
constexpr int64_t leastHeadSize = 16;
/// Longer rows, if there are few, are better shared by all that can compute.
constexpr int64_t mostKeysOfFew = 4096;
/// Rows that one piece of the machine has at once, at most.
constexpr int64_t mostRowsOfTile = 128;
/// Fewer are products with rows, unless threads share a tile.
constexpr int64_t fewestRows = 16;
/// Ops that each score is computed by.
constexpr size_t mostElementOps = 48;

RankedTensorType getType(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}

// ---- Layouts ----

void append(AxisDigits &digits, AxisDigit digit) {
  if (digit.size == 1)
    return;
  // Two digits that are one.
  if (!digits.empty() && digits.back().axis == digit.axis &&
      digits.back().stride == digit.stride * digit.size) {
    digits.back().size *= digit.size;
    digits.back().stride = digit.stride;
    return;
  }
  digits.push_back(digit);
}

AxisDigits flatten(const AxisLayout &layout) {
  AxisDigits all;
  for (const AxisDigits &dim : layout)
    all.append(dim);
  return all;
}

AxisDigits join(ArrayRef<AxisDigit> digits) {
  AxisDigits joined;
  for (const AxisDigit &digit : digits)
    append(joined, digit);
  return joined;
}

/// Of a tensor with the same elements in the same order.
std::optional<AxisLayout> reshape(const AxisLayout &layout,
                                  ArrayRef<int64_t> shape) {
  AxisDigits digits = flatten(layout);
  std::reverse(digits.begin(), digits.end());
  AxisLayout reshaped;
  for (int64_t size : shape) {
    AxisDigits dim;
    while (size > 1) {
      if (digits.empty())
        return std::nullopt;
      AxisDigit digit = digits.pop_back_val();
      if (digit.size > size) {
        if (digit.size % size)
          return std::nullopt;
        int64_t rest = digit.size / size;
        digits.push_back({digit.axis, rest, digit.stride});
        digit = {digit.axis, size, digit.stride * rest};
      } else if (size % digit.size) {
        return std::nullopt;
      }
      size /= digit.size;
      append(dim, digit);
    }
    reshaped.push_back(std::move(dim));
  }
  return digits.empty() ? std::optional(reshaped) : std::nullopt;
}

/// Where elements of a tensor in memory are.
AttentionOperand locate(Value base, const AxisLayout &layout) {
  AttentionOperand matrix;
  matrix.base = base;
  int64_t stride = 1;
  ArrayRef<int64_t> shape = getType(base).getShape();
  for (size_t dim = shape.size(); dim-- > 0;) {
    int64_t next = stride;
    for (const AxisDigit &digit : llvm::reverse(layout[dim])) {
      matrix.strides.emplace_back(digit, next);
      next *= digit.size;
    }
    stride *= shape[dim];
  }
  return matrix;
}

bool isLayoutOp(Operation *op) {
  return isa_and_nonnull<stablehlo::ReshapeOp, stablehlo::TransposeOp>(op);
}

/// Of the result of a reshape or transpose.
std::optional<AxisLayout> follow(Operation *op, const AxisLayout &layout) {
  if (isa<stablehlo::ReshapeOp>(op))
    return reshape(layout, getType(op->getResult(0)).getShape());
  AxisLayout permuted;
  for (int64_t dim : cast<stablehlo::TransposeOp>(op).getPermutation())
    permuted.push_back(layout[static_cast<size_t>(dim)]);
  return permuted;
}

/// What reads its only operand by moving its elements.
bool movesMatrix(Operation *op) {
  return isLayoutOp(op) ||
         isa<stablehlo::BroadcastInDimOp, stablehlo::SliceOp>(op);
}

// ---- Parts of a softmax ----

bool isSplat(Value value, llvm::function_ref<bool(const APFloat &)> test) {
  DenseFPElementsAttr dense;
  return matchPattern(value, m_Constant(&dense)) && dense.isSplat() &&
         test(dense.getSplatValue<APFloat>());
}

bool isLowest(Value value) {
  return isSplat(value, [](const APFloat &number) {
    return number.isNegative() && (number.isInfinity() || number.isLargest());
  });
}

/// The value whose elements these are, in other places or in another type.
Value strip(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isLayoutOp(op) && !isa<stablehlo::ConvertOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// The same of a number for each row that is repeated for its elements.
Value stripRepeated(Value value) {
  while (auto broadcast =
             strip(value).getDefiningOp<stablehlo::BroadcastInDimOp>())
    value = broadcast.getOperand();
  return strip(value);
}

template <typename Inner> stablehlo::ReduceOp getReduction(Value value) {
  auto reduce = value.getDefiningOp<stablehlo::ReduceOp>();
  if (!reduce || reduce.getInputs().size() != 1)
    return nullptr;
  Block &block = reduce.getBody().front();
  auto inner = dyn_cast<Inner>(block.front());
  return llvm::hasNItems(block, 2) && inner &&
                 inner->getOperand(0) == block.getArgument(0) &&
                 inner->getOperand(1) == block.getArgument(1) &&
                 block.back().getOperand(0) == inner->getResult(0)
             ? reduce
             : nullptr;
}

bool isFloat(Value value, unsigned mostBits) {
  auto type = dyn_cast<FloatType>(getType(value).getElementType());
  return type && type.getWidth() >= 16 && type.getWidth() <= mostBits;
}

/// Sums in f32 of products that lose no more than the program allows.
bool isExact(stablehlo::DotGeneralOp dot, Type element) {
  auto algorithm = dot.getAlgorithmAttr();
  auto isEnough = [&](Type precision) {
    return precision == element ||
           (element.isF32() && isa<FloatTF32Type>(precision));
  };
  return !algorithm || (isEnough(algorithm.getLhsPrecisionType()) &&
                        isEnough(algorithm.getRhsPrecisionType()) &&
                        algorithm.getAccumulationType().isF32() &&
                        algorithm.getLhsComponentCount() == 1 &&
                        algorithm.getRhsComponentCount() == 1 &&
                        algorithm.getNumPrimitiveOperations() == 1);
}

struct Sides {
  Value lhs, rhs;
  ArrayRef<int64_t> lhsBatch, rhsBatch, lhsDepth, rhsDepth;
  /// Of lhs; of rhs.
  SmallVector<int64_t> lhsFree, rhsFree;

  explicit Sides(stablehlo::DotGeneralOp dot)
      : lhs(dot.getLhs()), rhs(dot.getRhs()) {
    auto numbers = dot.getDotDimensionNumbers();
    lhsBatch = numbers.getLhsBatchingDimensions();
    rhsBatch = numbers.getRhsBatchingDimensions();
    lhsDepth = numbers.getLhsContractingDimensions();
    rhsDepth = numbers.getRhsContractingDimensions();
    for (stablehlo::ProductDim dim : stablehlo::getProductDims(dot)) {
      if (dim.rhs < 0)
        lhsFree.push_back(dim.lhs);
      if (dim.lhs < 0)
        rhsFree.push_back(dim.rhs);
    }
  }
};

class Matcher {
public:
  Matcher(stablehlo::DotGeneralOp product, const MachineFacts &machine)
      : machine(machine), block(product->getBlock()) {
    found.product = product;
  }

  std::optional<Attention> match() {
    if (!machine.attentionHead)
      return std::nullopt;
    stablehlo::DotGeneralOp product = found.product;
    for (Value weights : {product.getLhs(), product.getRhs()}) {
      found = Attention();
      found.product = product;
      if (findSoftmax(weights) && findScores() && propagate(weights) &&
          findOperands(weights) && findResult() && chooseRows() &&
          addProducers() && isClosed() && isWorthwhile()) {
        sortMembers();
        return std::move(found);
      }
    }
    return std::nullopt;
  }

private:
  AxisDigits makeDim(int64_t axis) {
    AxisDigits dim;
    append(dim, {axis, found.sizes[static_cast<size_t>(axis)], 1});
    return dim;
  }

  // ---- From the weights back ----

  bool findSoftmax(Value weights) {
    auto divide = strip(weights).getDefiningOp<stablehlo::DivOp>();
    if (!divide)
      return false;
    auto exponential = strip(divide.getLhs()).getDefiningOp<stablehlo::ExpOp>();
    sum = getReduction<stablehlo::AddOp>(stripRepeated(divide.getRhs()));
    if (!exponential || !sum ||
        strip(sum.getInputs()[0]) != exponential.getResult() ||
        !isSplat(sum.getInitValues()[0],
                 [](const APFloat &number) { return number.isZero(); }))
      return false;
    auto subtract =
        strip(exponential.getOperand()).getDefiningOp<stablehlo::SubtractOp>();
    if (!subtract)
      return false;
    Value bound = stripRepeated(subtract.getRhs());
    // What JAX does about rows without elements.
    if (auto larger = bound.getDefiningOp<stablehlo::MaxOp>()) {
      bool isLeft = isLowest(larger.getLhs());
      if (!isLeft && !isLowest(larger.getRhs()))
        return false;
      bound = stripRepeated(isLeft ? larger.getRhs() : larger.getLhs());
    }
    maximum = getReduction<stablehlo::MaxOp>(bound);
    found.score = subtract.getLhs();
    return maximum && isLowest(maximum.getInitValues()[0]) &&
           strip(maximum.getInputs()[0]) == strip(found.score) &&
           isFloat(found.score, 32) && isFloat(weights, 32);
  }

  /// The product that the scores are computed from, element by element.
  bool findScores() {
    int64_t count = getType(found.score).hasStaticShape()
                        ? getType(found.score).getNumElements()
                        : 0;
    llvm::SetVector<Operation *> seen;
    auto add = [&](Value value) {
      Operation *op = value.getDefiningOp();
      auto type = dyn_cast<RankedTensorType>(value.getType());
      if (op && op->getBlock() == block && type && type.hasStaticShape() &&
          type.getNumElements() == count)
        seen.insert(op);
    };
    add(found.score);
    stablehlo::DotGeneralOp scores;
    for (size_t i = 0; i < seen.size() && i < mostElementOps; ++i) {
      if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(seen[i])) {
        // Another one may be a bias: that is what is nearer to the front.
        if (!scores || scores->isBeforeInBlock(dot))
          scores = dot;
      } else if (isLayoutOp(seen[i]) || stablehlo::isElementwise(seen[i])) {
        for (Value operand : seen[i]->getOperands())
          add(operand);
      }
    }
    found.scores = scores;
    return scores && count > 0 && isFloat(scores.getResult(), 32);
  }

  // ---- From the scores on ----

  /// Gives all that is computed from the scores a layout, up to the product.
  bool propagate(Value weights) {
    Sides sides(found.scores);
    found.sizes = llvm::to_vector(getType(found.scores.getResult()).getShape());
    full.clear();
    rows.clear();
    found.members.clear();
    AxisLayout layout;
    for (int64_t axis = 0; axis < static_cast<int64_t>(found.sizes.size());
         ++axis)
      layout.push_back(makeDim(axis));
    full[found.scores.getResult()] = layout;
    found.members.insert(found.scores);
    // Which side has the keys: the one whose free dimensions are reduced.
    int64_t batch = static_cast<int64_t>(sides.lhsBatch.size());
    int64_t left = static_cast<int64_t>(sides.lhsFree.size());
    auto rank = static_cast<int64_t>(found.sizes.size());
    AxisDigits reduced;
    bool isKnown = false;
    for (Operation *op = found.scores->getNextNode();
         op && op != found.product.getOperation(); op = op->getNextNode()) {
      if (llvm::none_of(op->getOperands(), [&](Value operand) {
            return full.contains(operand) || rows.contains(operand);
          }))
        continue;
      found.members.insert(op);
      if (op != sum.getOperation() && op != maximum.getOperation()) {
        if (!followOp(op))
          return false;
        continue;
      }
      auto reduce = cast<stablehlo::ReduceOp>(op);
      auto input = full.find(reduce.getInputs()[0]);
      if (input == full.end())
        return false;
      AxisLayout kept;
      AxisDigits gone;
      for (auto [dim, digits] : llvm::enumerate(input->second)) {
        if (llvm::is_contained(reduce.getDimensions(),
                               static_cast<int64_t>(dim)))
          gone.append(digits);
        else
          kept.push_back(digits);
      }
      llvm::sort(gone, [](AxisDigit a, AxisDigit b) {
        return std::pair(a.axis, -a.stride) < std::pair(b.axis, -b.stride);
      });
      gone = join(gone);
      if (isKnown && gone != reduced)
        return false;
      reduced = gone;
      isKnown = true;
      rows[reduce.getResult(0)] = kept;
    }
    auto isReduced = [&](int64_t begin, int64_t end) {
      AxisDigits all;
      for (int64_t axis = begin; axis < end; ++axis)
        append(all, {axis, found.sizes[static_cast<size_t>(axis)], 1});
      return all == reduced;
    };
    keysAreLeft = isReduced(batch, batch + left);
    if (!isKnown || (!keysAreLeft && !isReduced(batch + left, rank)) ||
        !full.contains(weights) || !full.contains(found.score))
      return false;
    auto range = [](int64_t begin, int64_t end) {
      SmallVector<int64_t> axes;
      for (int64_t axis = begin; axis < end; ++axis)
        axes.push_back(axis);
      return axes;
    };
    found.keys =
        keysAreLeft ? range(batch, batch + left) : range(batch + left, rank);
    rowsOfQueries =
        keysAreLeft ? range(batch + left, rank) : range(batch, batch + left);
    found.scoreLayout = full[found.score];
    findMask();
    return isComputedByElement(found.score, found.scores.getResult());
  }

  /// Scores or a constant, by what no score decides.
  void findMask() {
    SmallVector<stablehlo::ConvertOp> conversions;
    Operation *op = found.score.getDefiningOp();
    for (; isLayoutOp(op) || isa<stablehlo::ConvertOp>(op);
         op = op->getOperand(0).getDefiningOp())
      if (auto convert = dyn_cast<stablehlo::ConvertOp>(op))
        conversions.push_back(convert);
    auto select = dyn_cast<stablehlo::SelectOp>(op);
    if (!select)
      return;
    Value predicate = select.getPred();
    bool keepsWhereTrue = full.contains(select.getOnTrue());
    Value other = keepsWhereTrue ? select.getOnFalse() : select.getOnTrue();
    Value constant = other;
    while (auto repeat = constant.getDefiningOp<stablehlo::BroadcastInDimOp>())
      constant = repeat.getOperand();
    DenseFPElementsAttr dense;
    if (full.contains(predicate) || rows.contains(predicate) ||
        full.contains(other) || rows.contains(other) ||
        getType(predicate).getShape() !=
            getType(select.getResult()).getShape() ||
        !matchPattern(constant, m_Constant(&dense)) || !dense.isSplat())
      return;
    auto number = dense.getSplatValue<APFloat>();
    bool isInexact;
    auto round = [&](Type type) {
      number.convert(cast<FloatType>(type).getFloatSemantics(),
                     APFloat::rmNearestTiesToEven, &isInexact);
    };
    for (auto convert : llvm::reverse(conversions)) {
      auto type =
          dyn_cast<FloatType>(getType(convert.getResult()).getElementType());
      if (!type)
        return;
      round(type);
    }
    round(Float32Type::get(select.getContext()));
    found.mask = ScoreMask{predicate, keepsWhereTrue, number.convertToFloat(),
                           full[select.getResult()]};
  }

  /// Elementwise ops, other places; numbers of rows beside whole ones.
  bool followOp(Operation *op) {
    if (op->getNumResults() != 1 || op->getNumRegions())
      return false;
    Value result = op->getResult(0);
    if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op)) {
      auto row = rows.find(broadcast.getOperand());
      if (row == rows.end())
        return false;
      AxisLayout repeated(getType(result).getShape().size());
      for (auto [i, dim] : llvm::enumerate(broadcast.getBroadcastDimensions()))
        repeated[static_cast<size_t>(dim)] = row->second[i];
      rows[result] = repeated;
      return true;
    }
    if (isLayoutOp(op)) {
      bool isFull = full.contains(op->getOperand(0));
      auto moved = follow(op, isFull ? full[op->getOperand(0)]
                                     : rows[op->getOperand(0)]);
      // Of a row that is repeated the dimensions can't be told apart.
      if (!moved || (!isFull && isa<stablehlo::ReshapeOp>(op) &&
                     countDigits(rows[op->getOperand(0)]) !=
                         getType(result).getNumElements()))
        return false;
      (isFull ? full : rows)[result] = *moved;
      return true;
    }
    if (!stablehlo::isElementwise(op))
      return false;
    const AxisLayout *whole = nullptr, *row = nullptr;
    for (Value operand : op->getOperands()) {
      if (auto it = full.find(operand); it != full.end()) {
        if (whole && *whole != it->second)
          return false;
        whole = &it->second;
      } else if (auto at = rows.find(operand); at != rows.end()) {
        if (row && *row != at->second)
          return false;
        row = &at->second;
      }
    }
    if (whole && row && !isRepeatedBy(*row, *whole))
      return false;
    AxisLayout layout = whole ? *whole : *row;
    (whole ? full : rows)[result] = std::move(layout);
    return true;
  }

  static int64_t countDigits(const AxisLayout &layout) {
    int64_t count = 1;
    for (const AxisDigit &digit : flatten(layout))
      count *= digit.size;
    return count;
  }

  /// Whether it has a row's number for each element of the row: it lacks the
  /// dimensions that the sums go over, and no other one.
  bool isRepeatedBy(const AxisLayout &row, const AxisLayout &whole) {
    AxisDigits missing;
    for (auto [some, all] : llvm::zip_equal(row, whole)) {
      if (some.empty())
        missing.append(all);
      else if (some != all)
        return false;
    }
    // All rows have as many, so these are the same.
    return llvm::all_of(missing, [&](AxisDigit digit) {
      return llvm::none_of(rows.begin()->second, [&](const AxisDigits &dim) {
        return llvm::any_of(
            dim, [&](AxisDigit other) { return other.axis == digit.axis; });
      });
    });
  }

  /// Whether elements of `value` need nothing of `source` but the one in their
  /// place. What is on the way is kept.
  bool isComputedByElement(Value value, Value source) {
    llvm::SetVector<Operation *> ops;
    ops.insert(value.getDefiningOp());
    for (size_t i = 0; i < ops.size(); ++i) {
      if (ops[i] == source.getDefiningOp())
        continue;
      for (Value operand : ops[i]->getOperands()) {
        if (rows.contains(operand))
          return false;
        if (full.contains(operand))
          ops.insert(operand.getDefiningOp());
      }
    }
    ops.remove(source.getDefiningOp());
    found.elementwise = std::move(ops);
    return found.elementwise.size() <= mostElementOps;
  }

  // ---- Matrices ----

  /// One op on the way from an operand of a product to memory.
  struct Step {
    Operation *op;
    /// Of what the op reads.
    AxisLayout layout;
  };
  struct Route {
    AttentionOperand *matrix;
    Value operand;
    AxisLayout layout;
    SmallVector<Step> steps;
  };

  /// A digit that is the same number everywhere.
  AxisDigit makeFixed(int64_t size, int64_t number) {
    fixed[static_cast<int64_t>(found.sizes.size())] = number;
    found.sizes.push_back(size);
    return {static_cast<int64_t>(found.sizes.size()) - 1, size, 1};
  }

  /// Of the operand, from that of the result. A broadcast has fewer dimensions;
  /// a slice is a number in front of the others' digits.
  std::optional<AxisLayout> goBack(Operation *op, const AxisLayout &layout) {
    auto from = getType(op->getOperand(0)).getShape();
    if (isa<stablehlo::ReshapeOp>(op))
      return reshape(layout, from);
    AxisLayout before(from.size());
    if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op)) {
      for (auto [i, dim] : llvm::enumerate(transpose.getPermutation()))
        before[static_cast<size_t>(dim)] = layout[i];
    } else if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op)) {
      for (auto [i, dim] : llvm::enumerate(broadcast.getBroadcastDimensions()))
        if (from[i] > 1)
          before[i] = layout[static_cast<size_t>(dim)];
    } else {
      auto slice = cast<stablehlo::SliceOp>(op);
      ArrayRef<int64_t> shape = getType(slice.getResult()).getShape();
      for (size_t i = 0; i < from.size(); ++i) {
        int64_t begin = slice.getStartIndices()[i];
        if (slice.getStrides()[i] != 1 || from[i] % shape[i] ||
            begin % shape[i])
          return std::nullopt;
        append(before[i], makeFixed(from[i] / shape[i], begin / shape[i]));
        before[i].append(layout[i]);
      }
    }
    return before;
  }

  void walkBack(Route &route) {
    Value operand = route.operand;
    AxisLayout layout = route.layout;
    while (Operation *op = operand.getDefiningOp()) {
      if (op->getBlock() != block || !movesMatrix(op) ||
          !getType(operand).hasStaticShape())
        break;
      auto before = goBack(op, layout);
      if (!before)
        break;
      layout = std::move(*before);
      operand = op->getOperand(0);
      route.steps.push_back({op, layout});
    }
  }

  /// The memory that operands are read from, as far back as nobody else reads
  /// what is between.
  void findMemory(MutableArrayRef<Route> routes) {
    for (bool isDone = false; !isDone;) {
      isDone = true;
      DenseSet<Operation *> all(found.members.begin(), found.members.end());
      for (Route &route : routes)
        for (Step &step : route.steps)
          all.insert(step.op);
      for (Route &route : routes)
        for (size_t i = 0; i < route.steps.size(); ++i)
          if (llvm::any_of(route.steps[i].op->getUsers(), [&](Operation *user) {
                return !all.contains(user);
              })) {
            route.steps.truncate(i);
            isDone = false;
          }
    }
    for (Route &route : routes) {
      AttentionOperand &matrix = *route.matrix;
      matrix.base = route.operand;
      AxisLayout layout = route.layout;
      for (Step &step : route.steps) {
        matrix.base = step.op->getOperand(0);
        layout = step.layout;
        found.members.insert(step.op);
      }
      AttentionOperand all = locate(matrix.base, layout);
      for (const auto &[digit, stride] : all.strides)
        if (auto number = fixed.find(digit.axis); number == fixed.end())
          matrix.strides.emplace_back(digit, stride);
        else
          matrix.offset += number->second / digit.stride % digit.size * stride;
    }
  }

  bool findOperands(Value weights) {
    Sides sides(found.scores);
    Type element = getType(sides.lhs).getElementType();
    bool weightsAreLeft = weights == found.product.getLhs();
    Sides last(found.product);
    Value values = weightsAreLeft ? last.rhs : last.lhs;
    for (Value matrix : {sides.rhs, values, weights})
      if (getType(matrix).getElementType() != element ||
          !getType(matrix).hasStaticShape())
        return false;
    // A core multiplies no f16: these are widened first.
    if (!(element.isBF16() || (element.isF16() && isByThreads) ||
          element.isF32()) ||
        values == weights || !isExact(found.scores, element) ||
        !isExact(found.product, element) ||
        !isFloat(found.product.getResult(), 32) || full.contains(values) ||
        rows.contains(values))
      return false;
    // Axes of the depth.
    for (int64_t dim : sides.lhsDepth) {
      found.depth.push_back(static_cast<int64_t>(found.sizes.size()));
      found.sizes.push_back(getType(sides.lhs).getDimSize(unsigned(dim)));
    }
    auto getLayout = [&](bool isLeft) {
      Value matrix = isLeft ? sides.lhs : sides.rhs;
      AxisLayout layout(getType(matrix).getShape().size());
      int64_t axis = 0;
      for (int64_t dim : isLeft ? sides.lhsBatch : sides.rhsBatch)
        layout[static_cast<size_t>(dim)] = makeDim(axis++);
      if (!isLeft)
        axis += static_cast<int64_t>(sides.lhsFree.size());
      for (int64_t dim : isLeft ? sides.lhsFree : sides.rhsFree)
        layout[static_cast<size_t>(dim)] = makeDim(axis++);
      for (auto [dim, depth] : llvm::zip_equal(
               isLeft ? sides.lhsDepth : sides.rhsDepth, found.depth))
        layout[static_cast<size_t>(dim)] = makeDim(depth);
      return layout;
    };
    AxisLayout ofQueries = getLayout(!keysAreLeft),
               ofKeys = getLayout(keysAreLeft);
    // What is summed are the keys, all of them, in both.
    const AxisLayout &ofWeights = full[weights];
    AxisLayout ofValues(getType(values).getShape().size());
    auto weightDepth = weightsAreLeft ? last.lhsDepth : last.rhsDepth;
    auto valueDepth = weightsAreLeft ? last.rhsDepth : last.lhsDepth;
    AxisDigits summed, keys;
    for (auto [dim, other] : llvm::zip_equal(weightDepth, valueDepth)) {
      ofValues[static_cast<size_t>(other)] =
          ofWeights[static_cast<size_t>(dim)];
      summed.append(ofWeights[static_cast<size_t>(dim)]);
    }
    for (int64_t axis : found.keys)
      append(keys, {axis, found.sizes[static_cast<size_t>(axis)], 1});
    llvm::sort(summed, [](AxisDigit a, AxisDigit b) {
      return std::pair(a.axis, -a.stride) < std::pair(b.axis, -b.stride);
    });
    if (join(summed) != keys)
      return false;
    for (auto [dim, other] :
         llvm::zip_equal(weightsAreLeft ? last.lhsBatch : last.rhsBatch,
                         weightsAreLeft ? last.rhsBatch : last.lhsBatch))
      ofValues[static_cast<size_t>(other)] =
          ofWeights[static_cast<size_t>(dim)];
    for (int64_t dim : weightsAreLeft ? last.rhsFree : last.lhsFree) {
      found.columns.push_back(static_cast<int64_t>(found.sizes.size()));
      found.sizes.push_back(getType(values).getDimSize(unsigned(dim)));
      ofValues[static_cast<size_t>(dim)] = makeDim(found.columns.back());
    }
    layoutOfProduct.clear();
    for (stablehlo::ProductDim dim : stablehlo::getProductDims(found.product)) {
      bool isOfWeights = (weightsAreLeft ? dim.lhs : dim.rhs) >= 0;
      layoutOfProduct.push_back(isOfWeights
                                    ? ofWeights[static_cast<size_t>(
                                          weightsAreLeft ? dim.lhs : dim.rhs)]
                                    : ofValues[static_cast<size_t>(
                                          weightsAreLeft ? dim.rhs : dim.lhs)]);
    }
    found.members.insert(found.product);
    fixed.clear();
    Route routes[] = {
        {&found.queries, keysAreLeft ? sides.rhs : sides.lhs, ofQueries, {}},
        {&found.keyMatrix, keysAreLeft ? sides.lhs : sides.rhs, ofKeys, {}},
        {&found.values, values, ofValues, {}}};
    for (Route &route : routes)
      walkBack(route);
    findMemory(routes);
    return true;
  }

  // ---- What follows ----

  /// Other places and cheap arithmetic, up to one value that others read.
  bool findResult() {
    full.clear();
    rows.clear();
    Value first = found.product.getResult();
    full[first] = layoutOfProduct;
    SmallVector<Operation *> ops{found.product};
    size_t whole = 1;
    auto countUses = [](Operation *op) {
      return llvm::range_size(op->getResult(0).getUses());
    };
    size_t open = 0, openOfLast = countUses(found.product);
    for (Operation *op = found.product->getNextNode();
         op && open + openOfLast > 0; op = op->getNextNode()) {
      auto uses = static_cast<size_t>(
          llvm::count_if(op->getOperands(), [&](Value operand) {
            return full.contains(operand);
          }));
      if (!uses)
        continue;
      bool isCheap =
          isLayoutOp(op) || (stablehlo::isElementwise(op) &&
                             stablehlo::getElementCost(op) <= Cost::Few);
      if (!isCheap ||
          isa<ComplexType>(getElementTypeOrSelf(op->getResult(0).getType())) ||
          !followOp(op))
        break;
      ops.push_back(op);
      open += openOfLast - uses;
      openOfLast = countUses(op);
      if (open == 0)
        whole = ops.size();
    }
    ops.resize(whole);
    found.result = ops.back()->getResult(0);
    found.resultLayout = full[found.result];
    for (Operation *op : ArrayRef(ops).drop_front())
      found.elementwise.insert(op);
    found.members.insert(ops.begin(), ops.end());
    return true;
  }

  // ---- Who computes what ----

  bool chooseRows() {
    if (!found.isOneLine(found.keyMatrix, found.keys) ||
        !found.isOneLine(found.values, found.keys) ||
        !found.isOneLine(found.queries, found.depth) ||
        !found.isOneLine(found.keyMatrix, found.depth) ||
        !found.isOneLine(found.values, found.columns))
      return false;
    // Neighbours have the same values: dimensions side by side that are one,
    // or the largest.
    for (size_t begin = 0; begin < rowsOfQueries.size(); ++begin)
      for (size_t end = begin + 1; end <= rowsOfQueries.size(); ++end) {
        auto some = ArrayRef(rowsOfQueries).slice(begin, end - begin);
        if (found.isOneLine(found.queries, some) &&
            llvm::all_of(some,
                         [&](int64_t axis) {
                           return found.getStride(found.values, axis) == 0;
                         }) &&
            found.count(some) > found.count(found.rows))
          found.rows = llvm::to_vector(some);
      }
    int64_t scoreRank = getType(found.scores.getResult()).getRank();
    for (int64_t axis = 0; axis < scoreRank; ++axis)
      if (!llvm::is_contained(found.keys, axis) &&
          !llvm::is_contained(found.rows, axis))
        found.batch.push_back(axis);
    return true;
  }

  bool isCheapProducer(Operation *op) {
    return op->getBlock() == block && op->getNumRegions() == 0 &&
           op->getNumResults() == 1 &&
           !op->hasTrait<mlir::OpTrait::ConstantLike>() &&
           stablehlo::getElementCost(op) <= Cost::Few &&
           isa<RankedTensorType>(op->getResult(0).getType()) &&
           getType(op->getResult(0)).hasStaticShape() &&
           !isa<ComplexType>(
               getElementTypeOrSelf(op->getResult(0).getType())) &&
           stablehlo::readsOnly(op, Access::Elementwise | Access::Repeated |
                                        Access::Permuted | Access::Reshaped) &&
           !stablehlo::reachesOutside(op) &&
           llvm::all_of(op->getUsers(), [&](Operation *user) {
             return found.members.contains(user);
           });
  }

  /// What nobody else reads is computed where a score is: masks.
  bool addProducers() {
    for (size_t i = 0; i < found.elementwise.size(); ++i)
      for (Value operand : found.elementwise[i]->getOperands()) {
        Operation *op = operand.getDefiningOp();
        if (!op || found.members.contains(op) || !isCheapProducer(op))
          continue;
        found.members.insert(op);
        found.elementwise.insert(op);
        // Its operands' other readers are members now, perhaps.
        i = size_t(-1);
        break;
      }
    return found.elementwise.size() <= 2 * mostElementOps;
  }

  bool isClosed() {
    Operation *last = found.result.getDefiningOp();
    return llvm::all_of(found.members, [&](Operation *op) {
      return op == last || llvm::all_of(op->getUsers(), [&](Operation *user) {
               return found.members.contains(user);
             });
    });
  }

  bool isWorthwhile() {
    int64_t head = found.getHeadSize();
    int64_t smaller =
        std::min(found.count(found.depth), found.count(found.columns));
    int64_t rows = found.count(found.rows);
    int64_t tiles =
        found.count(found.batch) *
        llvm::divideCeil(rows, isByThreads ? mostRowsOfTile : fewestRows);
    return (isByThreads || rows >= fewestRows) &&
           head <= machine.attentionHead && smaller >= leastHeadSize &&
           tiles > 0 &&
           (found.count(found.keys) <= mostKeysOfFew ||
            tiles >= machine.cores / 2);
  }

  void sortMembers() {
    for (auto *ops : {&found.members, &found.elementwise}) {
      SmallVector<Operation *> sorted = ops->takeVector();
      llvm::sort(sorted, [](Operation *a, Operation *b) {
        return a->isBeforeInBlock(b);
      });
      ops->insert(sorted.begin(), sorted.end());
    }
  }

  const MachineFacts &machine;
  /// Whether the threads of a workgroup share a tile; else it is a core's.
  bool isByThreads = machine.blockThreads > 1;
  Block *block;
  Attention found;
  stablehlo::ReduceOp sum, maximum;
  bool keysAreLeft = false;
  SmallVector<int64_t> rowsOfQueries;
  /// Values with an element for each score; with one for each row, which may
  /// be repeated.
  llvm::MapVector<Value, AxisLayout> full, rows;
  AxisLayout layoutOfProduct;
  /// Axes that have one number, where slices begin.
  DenseMap<int64_t, int64_t> fixed;
};
} // namespace

std::optional<int64_t> Attention::getStride(const AttentionOperand &matrix,
                                            int64_t axis) const {
  int64_t known = 1, each = -1;
  for (const auto &[digit, stride] : matrix.strides) {
    if (digit.axis != axis)
      continue;
    // All digits lie as those of one number do.
    if (stride % digit.stride || (each >= 0 && stride / digit.stride != each))
      return std::nullopt;
    each = stride / digit.stride;
    known *= digit.size;
  }
  if (each < 0)
    return 0;
  if (known != sizes[static_cast<size_t>(axis)])
    return std::nullopt;
  return each;
}

int64_t Attention::getStride(const AttentionOperand &matrix,
                             ArrayRef<int64_t> axes) const {
  for (int64_t axis : llvm::reverse(axes))
    if (sizes[static_cast<size_t>(axis)] > 1)
      return getStride(matrix, axis).value_or(0);
  return 1;
}

bool Attention::isOneLine(const AttentionOperand &matrix,
                          ArrayRef<int64_t> axes) const {
  std::optional<int64_t> next;
  for (int64_t axis : llvm::reverse(axes)) {
    int64_t size = sizes[static_cast<size_t>(axis)];
    auto stride = getStride(matrix, axis);
    if (size == 1)
      continue;
    if (!stride || (next && *stride != *next))
      return false;
    next = *stride * size;
  }
  return true;
}

std::optional<AttentionOperand> Attention::getMovedResult() const {
  Operation *op = result.getDefiningOp();
  while (isLayoutOp(op))
    op = op->getOperand(0).getDefiningOp();
  AttentionOperand matrix = locate(result, resultLayout);
  if (op != stablehlo::DotGeneralOp(product) || !isOneLine(matrix, rows) ||
      !isOneLine(matrix, columns))
    return std::nullopt;
  return matrix;
}

int64_t Attention::count(ArrayRef<int64_t> axes) const {
  int64_t count = 1;
  for (int64_t axis : axes)
    count *= sizes[static_cast<size_t>(axis)];
  return count;
}

int64_t Attention::getHeadSize() const {
  return std::max(count(depth), count(columns));
}

std::optional<Attention>
alula::dispatch::matchAttention(stablehlo::DotGeneralOp product,
                                const MachineFacts &machine) {
  return Matcher(product, machine).match();
}

// Elementwise ops on whole tensors, and map.
#include "reference/op_table.h"
#include "reference/scalar_body.h"

#include "dialect/stablehlo/ops.h"

#include <cstring>

using namespace mlir;

namespace alula::reference {
namespace {

Direction getDirection(stablehlo::ComparisonDirection direction) {
  switch (direction) {
  case stablehlo::ComparisonDirection::EQ:
    return Direction::EQ;
  case stablehlo::ComparisonDirection::NE:
    return Direction::NE;
  case stablehlo::ComparisonDirection::GE:
    return Direction::GE;
  case stablehlo::ComparisonDirection::GT:
    return Direction::GT;
  case stablehlo::ComparisonDirection::LE:
    return Direction::LE;
  case stablehlo::ComparisonDirection::LT:
    return Direction::LT;
  }
  return Direction::EQ;
}

/// The kind whose arithmetic the op does.
Kind getComputingKind(llvm::StringRef name, llvm::ArrayRef<Kind> kinds) {
  bool second = kinds.size() == 3 && (name == "select" || name == "clamp");
  return kinds[second ? 1 : 0];
}

/// Shape of the result: that of the operands that are not single values.
LogicalResult getResultDims(OpCall &call, Dims &dims) {
  bool known = false;
  for (const Value &operand : call.operands) {
    llvm::ArrayRef<int64_t> own = operand.getTensor().getDims();
    if (own.empty())
      continue;
    if (!known) {
      dims.assign(own.begin(), own.end());
      known = true;
    } else if (llvm::ArrayRef<int64_t>(dims) != own) {
      return call.error() << "operands must have one shape, they have "
                          << printDims(dims) << " and " << printDims(own);
    }
  }
  return success();
}

void loadLanes(const Tensor &tensor, int64_t at, size_t n, Cell *cells) {
  if (tensor.getSize() != 1 || tensor.getRank() != 0) {
    load(tensor.getKind(), tensor.at(at), cells, n);
    return;
  }
  if (at == 0)
    std::fill_n(cells, laneCount, tensor.getCell(0));
}

LogicalResult runLanes(OpCall &call, const LaneStep &step) {
  Dims dims;
  if (failed(getResultDims(call, dims)))
    return failure();
  FailureOr<Tensor> result = call.newTensor(call.getElementType(0), dims);
  if (failed(result) || failed(call.charge(result->getSize())))
    return failure();
  std::vector<Cell> cells(4 * laneCount);
  const Cell *operands[3] = {cells.data(), cells.data() + laneCount,
                             cells.data() + 2 * laneCount};
  Cell *out = cells.data() + 3 * laneCount;
  for (int64_t at = 0; at < result->getSize(); at += laneCount) {
    size_t n = size_t(std::min<int64_t>(laneCount, result->getSize() - at));
    for (size_t k = 0; k < call.operands.size(); ++k)
      loadLanes(call.tensor(k), at, n, cells.data() + k * laneCount);
    step.function(operands, out, n, step.info);
    store(result->getKind(), out, result->mutableAt(at), n);
  }
  return call.give(*result);
}

LogicalResult evalElementwise(OpCall &call) {
  llvm::SmallVector<Kind, 3> kinds;
  for (const Value &operand : call.operands) {
    if (!operand.isTensor())
      return call.error() << "operands must be tensors";
    kinds.push_back(operand.getTensor().getKind());
  }
  std::optional<Kind> resultKind = getKind(call.getElementType(0));
  std::optional<LaneStep> step =
      resultKind ? findLaneStep(call.op, kinds, *resultKind) : std::nullopt;
  if (!step)
    return call.error() << "has no meaning on elements of type "
                        << call.tensor(kinds.size() == 3 ? 1 : 0)
                               .getElementType();
  return runLanes(call, *step);
}

/// Copies bytes, so that a NaN keeps its payload.
LogicalResult evalSelect(OpCall &call) {
  const Tensor &predicate = call.tensor(0);
  Tensor yes = call.tensor(1), no = call.tensor(2);
  Dims dims;
  if (failed(getResultDims(call, dims)))
    return failure();
  Type type = call.getElementType(0);
  // Stored values mean the same only under the same parameters.
  bool requantizes = isQuantized(type) && (yes.getElementType() != type ||
                                           no.getElementType() != type);
  if (requantizes)
    for (Tensor *side : {&yes, &no}) {
      FailureOr<Tensor> real = dequantize(call, *side);
      FailureOr<Tensor> stored =
          failed(real) ? real : quantize(call, *real, type);
      if (failed(stored))
        return failure();
      *side = *stored;
    }
  FailureOr<Tensor> result = call.newTensor(yes.getElementType(), dims);
  if (failed(result) || failed(call.charge(result->getSize())))
    return failure();
  size_t width = result->getElementBytes();
  int64_t step = predicate.getRank() == 0 ? 0 : 1;
  for (int64_t k = 0; k < result->getSize(); ++k) {
    const Tensor &source = *predicate.at(k * step) ? yes : no;
    std::memcpy(result->mutableAt(k), source.at(k), width);
  }
  return call.give(*result);
}

LogicalResult evalMap(OpCall &call) {
  FailureOr<ScalarBody> body =
      ScalarBody::prepare(call, call.op->getRegion(0));
  if (failed(body))
    return failure();
  if (body->getNumArguments() != call.operands.size() ||
      body->getNumResults() != 1)
    return call.error() << "the region must take " << call.operands.size()
                        << " values and give 1, it takes "
                        << body->getNumArguments() << " and gives "
                        << body->getNumResults();
  const Tensor &first = call.tensor(0);
  FailureOr<Tensor> result =
      call.newTensor(call.getElementType(0), first.getDims());
  if (failed(result) || failed(call.charge(result->getSize())))
    return failure();
  std::vector<Cell> cells((call.operands.size() + 1) * laneCount);
  llvm::SmallVector<const Cell *> arguments;
  for (size_t k = 0; k < call.operands.size(); ++k)
    arguments.push_back(cells.data() + k * laneCount);
  Cell *out = cells.data() + call.operands.size() * laneCount;
  for (int64_t at = 0; at < result->getSize(); at += laneCount) {
    size_t n = size_t(std::min<int64_t>(laneCount, result->getSize() - at));
    for (size_t k = 0; k < call.operands.size(); ++k)
      load(call.tensor(k).getKind(), call.tensor(k).at(at),
           cells.data() + k * laneCount, n);
    if (failed(body->run(n, arguments, {out})))
      return failure();
    store(result->getKind(), out, result->mutableAt(at), n);
  }
  return call.give(*result);
}

} // namespace

std::optional<LaneStep> findLaneStep(Operation *op, llvm::ArrayRef<Kind> kinds,
                                     Kind resultKind) {
  llvm::StringRef name = op->getName().stripDialect();
  LaneStep step{nullptr, {getComputingKind(name, kinds), resultKind, 0, 0}};
  Kind kind = step.info.from;
  if (auto compare = dyn_cast<stablehlo::CompareOp>(op)) {
    bool total = compare.getCompareType() ==
                 stablehlo::ComparisonType::TOTALORDER;
    step.function = findCompare(
        getDirection(compare.getComparisonDirection()), kind, total);
  } else if (auto reduce = dyn_cast<stablehlo::ReducePrecisionOp>(op)) {
    if (!isFloat(kind))
      return std::nullopt;
    step.function = getReducePrecision();
    step.info.first = reduce.getExponentBits();
    step.info.second = reduce.getMantissaBits();
  } else if (name == "convert") {
    step.function = findConvert(kind, resultKind);
  } else if (name == "bitcast_convert") {
    if (getBitWidth(kind) != getBitWidth(resultKind))
      return std::nullopt;
    step.function = getBitcast();
  } else {
    step.function = findLaneFunction(name, kind);
  }
  if (!step.function)
    return std::nullopt;
  return step;
}

void addElementwiseOps(OpTable &table) {
  for (llvm::StringRef name :
       {"abs", "add", "and", "atan2", "cbrt", "ceil", "clamp", "compare",
        "complex", "convert", "cosine", "count_leading_zeros", "divide",
        "exponential", "exponential_minus_one", "floor", "imag", "is_finite",
        "log", "log_plus_one", "logistic", "maximum", "minimum", "multiply",
        "negate", "not", "or", "popcnt", "power", "real", "reduce_precision",
        "remainder", "round_nearest_afz", "round_nearest_even", "rsqrt",
        "shift_left", "shift_right_arithmetic", "shift_right_logical", "sign",
        "sine", "sqrt", "subtract", "tan", "tanh", "xor"})
    table.add(("stablehlo." + name).str(), evalElementwise,
              Quantized::Dequantized);
  // Programs keep these two by name (dialect/chlo/functions.h).
  for (llvm::StringRef name : {"chlo.erf", "chlo.erfc"})
    table.add(name, evalElementwise);
  table.add("stablehlo.select", evalSelect);
  table.add("stablehlo.map", evalMap);
}

} // namespace alula::reference

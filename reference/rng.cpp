// rng_bit_generator, bit exact with XLA, and rng.
#include "reference/op_table.h"
#include "reference/random_bits.h"

#include "dialect/stablehlo/ops.h"

#include <cmath>
#include <cstring>
#include <numbers>

using namespace mlir;

namespace alula::reference {
namespace {

LogicalResult evalRngBitGenerator(OpCall &call) {
  auto op = cast<stablehlo::RngBitGeneratorOp>(call.op);
  const Tensor &initial = call.tensor(0);
  bool threefry =
      op.getRngAlgorithm() == stablehlo::RngAlgorithm::THREE_FRY;
  // The state counts in 64-bit words, however it is typed.
  size_t bytes = initial.getByteSize();
  bool fits = bytes == 16 || (bytes == 24 && !threefry);
  if (!fits)
    return call.error() << "initial_state must have two 64-bit words"
                        << (threefry ? "" : " or three") << ", it has "
                        << bytes << " bytes";
  std::vector<uint64_t> state(bytes / 8);
  std::memcpy(state.data(), initial.getData(), bytes);
  llvm::ArrayRef<int64_t> dims = call.getShapedType(1).getShape();
  FailureOr<Tensor> output = call.newTensor(call.getElementType(1), dims);
  FailureOr<Tensor> next =
      call.newTensor(call.getElementType(0), initial.getDims());
  if (failed(output) || failed(next) ||
      failed(call.charge(output->getSize(), 8)))
    return failure();
  size_t width = output->getElementBytes();
  bool wide = width == 8;
  std::vector<uint64_t> bits =
      threefry ? threefryBits(state, dims, wide)
               : philoxBits(state, output->getSize(), wide);
  // Narrow elements take the low bits of their word.
  uint64_t mask = getBitWidth(output->getKind()) < 8
                      ? (uint64_t(1) << getBitWidth(output->getKind())) - 1
                      : ~uint64_t(0);
  for (size_t k = 0; k < bits.size(); ++k) {
    uint64_t word = bits[k] & mask;
    if (mask != ~uint64_t(0) && !isFloat(output->getKind())) {
      Cell cell{};
      cell.u = word;
      output->setCell(int64_t(k), cell);
    } else {
      std::memcpy(output->mutableAt(int64_t(k)), &word, width);
    }
  }
  std::memcpy(next->getMutableData(), state.data(), bytes);
  call.results.emplace_back(std::move(*next));
  return call.give(*output);
}

/// A double in [0, 1) from the top 53 bits of a word.
double toUnit(uint64_t word) { return double(word >> 11) * 0x1p-53; }

Cell drawUniform(Kind kind, const Cell &low, const Cell &high,
                 uint64_t word) {
  Cell cell{};
  switch (getDomain(kind)) {
  case Domain::Bool:
    cell.u = low.u == high.u ? low.u : word >> 63;
    break;
  case Domain::Signed:
  case Domain::Unsigned: {
    uint64_t span = high.u - low.u;
    cell.u = span == 0 ? low.u : low.u + word % span;
    break;
  }
  case Domain::Float:
  case Domain::Complex:
    cell.re = low.re + toUnit(word) * (high.re - low.re);
    roundTo(kind, &cell, 1);
    // Rounding must not reach the open end.
    if (cell.re >= high.re)
      cell.re = low.re;
    break;
  }
  return cell;
}

LogicalResult evalRng(OpCall &call) {
  auto op = cast<stablehlo::RngOp>(call.op);
  std::vector<int64_t> dims = call.tensor(2).getIntegers();
  FailureOr<Tensor> result = call.newTensor(call.getElementType(0), dims);
  if (failed(result) || failed(call.charge(result->getSize(), 8)))
    return failure();
  Cell a = call.tensor(0).getCell(0), b = call.tensor(1).getCell(0);
  Kind kind = result->getKind();
  bool uniform =
      op.getRngDistribution() == stablehlo::RngDistribution::UNIFORM;
  if (!uniform && !isFloat(kind))
    return call.error() << "a normal distribution needs floats, the result "
                           "has "
                        << result->getElementType();
  // The same program gives the same numbers; each op draws its own.
  uint64_t stream = uint64_t(call.evaluator.program.randomStreams++);
  std::vector<uint64_t> state = {0x616c756c61 ^ stream << 40, 0};
  std::vector<uint64_t> words = threefryBits(state, {2 * result->getSize()},
                                             /*wide=*/true);
  for (int64_t k = 0; k < result->getSize(); ++k) {
    uint64_t first = words[size_t(2 * k)], second = words[size_t(2 * k + 1)];
    Cell cell{};
    if (uniform) {
      cell = drawUniform(kind, a, b, first);
    } else {
      // Box and Muller; 1 - u keeps the logarithm finite.
      double radius = std::sqrt(-2 * std::log(1 - toUnit(first)));
      double angle = 2 * std::numbers::pi * toUnit(second);
      cell.re = a.re + b.re * radius * std::cos(angle);
    }
    result->setCell(k, cell);
  }
  return call.give(*result);
}

} // namespace

void addRngOps(OpTable &table) {
  table.add("stablehlo.rng_bit_generator", evalRngBitGenerator);
  table.add("stablehlo.rng", evalRng, Quantized::Stored, /*pure=*/false);
}

} // namespace alula::reference

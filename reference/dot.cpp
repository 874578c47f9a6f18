// dot_general and its older form.
#include "reference/op_table.h"
#include "reference/products.h"

#include "dialect/stablehlo/ops.h"

using namespace mlir;

namespace alula::reference {
namespace {

struct DotDims {
  llvm::SmallVector<int64_t> lhsBatch, rhsBatch, lhsContract, rhsContract;
};

/// Element offsets of a tensor under every index of some of its dimensions.
std::vector<int64_t> getOffsets(const Tensor &tensor,
                                llvm::ArrayRef<int64_t> which) {
  Dims box, strides, all = getStrides(tensor.getDims());
  for (int64_t d : which) {
    box.push_back(tensor.getDim(size_t(d)));
    strides.push_back(all[size_t(d)]);
  }
  std::vector<int64_t> offsets;
  for (BoxWalk walk(box); !walk.isDone(); walk.next())
    offsets.push_back(dotIndex(walk.getIndex(), strides));
  return offsets;
}

LogicalResult getFreeDims(OpCall &call, const Tensor &tensor,
                          llvm::ArrayRef<int64_t> batch,
                          llvm::ArrayRef<int64_t> contract,
                          llvm::SmallVectorImpl<int64_t> &free) {
  llvm::SmallVector<bool> used(tensor.getDims().size(), false);
  for (llvm::ArrayRef<int64_t> list : {batch, contract})
    for (int64_t d : list) {
      if (d < 0 || d >= tensor.getRank() || used[size_t(d)])
        return call.error() << "dimension numbers must name each of "
                            << tensor.getRank()
                            << " dimensions at most once, one is " << d;
      used[size_t(d)] = true;
    }
  for (size_t d = 0; d < used.size(); ++d)
    if (!used[d])
      free.push_back(int64_t(d));
  return success();
}

/// What an algorithm says the operand is rounded to before it is multiplied.
void roundOperand(std::vector<Cell> &cells, Type precision,
                  int64_t components) {
  if (!precision || components != 1 || cells.empty())
    return;
  if (isa<FloatTF32Type>(precision)) {
    const Cell *operand = cells.data();
    getReducePrecision()(&operand, cells.data(), cells.size(),
                         {Kind::F32, Kind::F32, 8, 10});
    return;
  }
  if (std::optional<Kind> kind = getKind(precision); kind && isFloat(*kind))
    roundTo(*kind, cells.data(), cells.size());
}

LogicalResult dot(OpCall &call, const DotDims &dims,
                  stablehlo::DotAlgorithmAttr algorithm) {
  const Tensor &lhs = call.tensor(0), &rhs = call.tensor(1);
  llvm::SmallVector<int64_t> lhsFree, rhsFree;
  if (failed(getFreeDims(call, lhs, dims.lhsBatch, dims.lhsContract,
                         lhsFree)) ||
      failed(getFreeDims(call, rhs, dims.rhsBatch, dims.rhsContract,
                         rhsFree)))
    return failure();
  if (dims.lhsBatch.size() != dims.rhsBatch.size() ||
      dims.lhsContract.size() != dims.rhsContract.size())
    return call.error() << "both sides must name as many dimensions";
  auto agree = [&](llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b) {
    for (auto [x, y] : llvm::zip(a, b))
      if (lhs.getDim(size_t(x)) != rhs.getDim(size_t(y)))
        return false;
    return true;
  };
  if (!agree(dims.lhsBatch, dims.rhsBatch) ||
      !agree(dims.lhsContract, dims.rhsContract))
    return call.error() << "batching and contracting dimensions must have "
                           "the same sizes in "
                        << printDims(lhs.getDims()) << " and "
                        << printDims(rhs.getDims());
  Dims out;
  for (int64_t d : dims.lhsBatch)
    out.push_back(lhs.getDim(size_t(d)));
  for (int64_t d : lhsFree)
    out.push_back(lhs.getDim(size_t(d)));
  for (int64_t d : rhsFree)
    out.push_back(rhs.getDim(size_t(d)));
  FailureOr<Tensor> result = call.newTensor(call.getElementType(0), out);
  if (failed(result))
    return failure();
  std::vector<int64_t> lhsContract = getOffsets(lhs, dims.lhsContract),
                       rhsContract = getOffsets(rhs, dims.rhsContract);
  if (failed(call.charge(result->getSize(),
                         int64_t(lhsContract.size()) + 1)))
    return failure();
  std::vector<int64_t> lhsBatch = getOffsets(lhs, dims.lhsBatch),
                       rhsBatch = getOffsets(rhs, dims.rhsBatch),
                       rows = getOffsets(lhs, lhsFree),
                       columns = getOffsets(rhs, rhsFree);
  std::vector<Cell> lhsCells = readAs(lhs, result->getKind()),
                    rhsCells = readAs(rhs, result->getKind());
  bool real = isFloat(result->getKind()) || isComplex(result->getKind());
  if (algorithm && real) {
    roundOperand(lhsCells, algorithm.getLhsPrecisionType(),
                 algorithm.getLhsComponentCount());
    roundOperand(rhsCells, algorithm.getRhsPrecisionType(),
                 algorithm.getRhsComponentCount());
  }
  withProducts(result->getKind(), call.getWide(), [&](auto products) {
    using Products = decltype(products);
    auto a = getElements<Products>(lhsCells);
    auto b = getElements<Products>(rhsCells);
    int64_t at = 0;
    size_t depth = lhsContract.size();
    // The column of one result, gathered once for all rows.
    std::vector<typename Products::Element> column(depth);
    std::vector<Cell> cells(rows.size() * columns.size());
    for (size_t batch = 0; batch < lhsBatch.size(); ++batch) {
      for (size_t c = 0; c < columns.size(); ++c) {
        for (size_t k = 0; k < depth; ++k)
          column[k] = b[size_t(rhsBatch[batch] + columns[c] + rhsContract[k])];
        for (size_t r = 0; r < rows.size(); ++r) {
          typename Products::Sum sum{};
          const auto *row = a.data() + lhsBatch[batch] + rows[r];
          for (size_t k = 0; k < depth; ++k)
            Products::add(sum, row[lhsContract[k]], column[k]);
          Products::finish(sum, cells[r * columns.size() + c]);
        }
      }
      store(result->getKind(), cells.data(), result->mutableAt(at),
            cells.size());
      at += int64_t(cells.size());
    }
  });
  return call.give(*result);
}

LogicalResult evalDotGeneral(OpCall &call) {
  auto op = cast<stablehlo::DotGeneralOp>(call.op);
  stablehlo::DotDimensionNumbersAttr numbers = op.getDotDimensionNumbers();
  DotDims dims;
  dims.lhsBatch = llvm::to_vector(numbers.getLhsBatchingDimensions());
  dims.rhsBatch = llvm::to_vector(numbers.getRhsBatchingDimensions());
  dims.lhsContract = llvm::to_vector(numbers.getLhsContractingDimensions());
  dims.rhsContract = llvm::to_vector(numbers.getRhsContractingDimensions());
  return dot(call, dims, op.getAlgorithm().value_or(nullptr));
}

LogicalResult evalDot(OpCall &call) {
  if (call.tensor(0).getRank() < 1 || call.tensor(1).getRank() < 1)
    return call.error() << "operands must have a rank of 1 or 2";
  DotDims dims;
  dims.lhsContract = {call.tensor(0).getRank() - 1};
  dims.rhsContract = {0};
  return dot(call, dims, {});
}

} // namespace

void addDotOps(OpTable &table) {
  table.add("stablehlo.dot_general", evalDotGeneral, Quantized::Dequantized);
  table.add("stablehlo.dot", evalDot, Quantized::Dequantized);
}

} // namespace alula::reference

// Products with matrices whose elements are listed: values and their rows and
// columns, in any order. Those at one place add up; a negative row or column
// counts from the end; one that still is none of the matrix has zeros there and
// no row of a result.
#include "reference/custom_call.h"
#include "reference/matrix.h"

using namespace mlir;

namespace alula::reference {
namespace {

/// Row and column of the values of a matrix.
struct Place {
  int64_t row, column;
};

bool getFlag(OpCall &call, llvm::StringRef name) {
  auto config = call.op->getAttrOfType<DictionaryAttr>("mhlo.backend_config");
  auto flag = config ? config.getAs<BoolAttr>(name) : BoolAttr();
  return flag && flag.getValue();
}

Place findPlace(int64_t row, int64_t column, int64_t rows, int64_t columns) {
  return {row < 0 ? row + rows : row, column < 0 ? column + columns : column};
}

/// What a tensor has before its last `rank` dimensions; none if it has fewer.
std::optional<llvm::ArrayRef<int64_t>> getBatch(const Tensor &tensor,
                                                int64_t rank) {
  if (tensor.getRank() < rank)
    return std::nullopt;
  return llvm::ArrayRef<int64_t>(tensor.getDims()).drop_back(size_t(rank));
}

int64_t last(const Tensor &tensor, int64_t fromEnd) {
  return tensor.getDim(size_t(tensor.getRank() - fromEnd));
}

bool isComputed(const Tensor &tensor) {
  return isFloat(tensor.getKind()) || isComplex(tensor.getKind());
}
bool isIndices(const Tensor &tensor) {
  return tensor.getElementType().isSignlessInteger(32);
}

template <typename T>
void addRow(Matrix<T> &c, const Tensor &values, int64_t at, Place place,
            const Matrix<T> &b) {
  if (place.row < 0 || place.row >= c.rows)
    return;
  bool isThere = place.column >= 0 && place.column < b.rows;
  T value = fromCell<T>(values.getCell(at));
  for (int64_t j = 0; j < c.columns; ++j)
    c(place.row, j) += value * (isThere ? b(place.column, j) : T(0));
}

/// Calls forEach(matrix, columns, rows, add), which calls add(value, place) for
/// the values of a matrix.
template <typename T, typename ForEach>
void multiply(Tensor &result, const Tensor &values, const Tensor &right,
              ForEach forEach) {
  for (int64_t matrix = 0; matrix < getBatches(result); ++matrix) {
    Matrix<T> c(last(result, 2), last(result, 1));
    Matrix<T> b = readMatrix<T>(right, matrix);
    forEach(matrix, b.rows, c.rows,
            [&](int64_t at, Place place) { addRow(c, values, at, place, b); });
    writeMatrix(result, matrix, c);
  }
}

/// The rows of the only result, which has as many columns as `right`; of a size
/// that only the call knows, from the shape that follows the operands.
std::optional<int64_t> getRows(OpCall &call, const Tensor &right,
                               size_t operands) {
  if (call.types.size() != 1)
    return std::nullopt;
  auto type = cast<RankedTensorType>(call.types[0]);
  if (right.getRank() < 2 || type.getRank() != right.getRank())
    return std::nullopt;
  auto dim = unsigned(type.getRank() - 2);
  if (!type.isDynamicDim(dim + 1) && type.getDimSize(dim + 1) != last(right, 1))
    return std::nullopt;
  if (!type.isDynamicDim(dim))
    return type.getDimSize(dim);
  if (call.operands.size() <= operands ||
      call.tensor(operands).getSize() != type.getRank())
    return std::nullopt;
  return call.tensor(operands).getInteger(dim);
}

template <typename ForEach>
LogicalResult giveProduct(OpCall &call, const Tensor &values,
                          const Tensor &right, int64_t rows, ForEach forEach) {
  Dims dims(right.getDims());
  dims[size_t(right.getRank() - 2)] = rows;
  FailureOr<Tensor> result = call.newTensor(values.getElementType(), dims);
  if (failed(result) || failed(call.charge(values.getSize(), last(right, 1))))
    return failure();
  if (isComplex(values.getKind()))
    multiply<ComplexReal>(*result, values, right, forEach);
  else
    multiply<Real>(*result, values, right, forEach);
  return call.give(*result);
}

} // namespace

LogicalResult evalSparseProduct(OpCall &call) {
  if (call.operands.size() < 3)
    return call.error() << "needs values, indices and a matrix";
  const Tensor &values = call.tensor(0), &indices = call.tensor(1),
               &right = call.tensor(2);
  if (!isComputed(values) || right.getKind() != values.getKind() ||
      !isIndices(indices) || values.getRank() < 1 ||
      getBatch(values, 1) != getBatch(indices, 2) ||
      getBatch(values, 1) != getBatch(right, 2) || last(indices, 1) != 2 ||
      last(indices, 2) != last(values, 1) || !getRows(call, right, 3))
    return call.error()
           << "needs values, pairs of indices and a matrix for each "
              "of a batch";
  bool isTransposed = getFlag(call, "transposed");
  int64_t count = last(values, 1);
  return giveProduct(
      call, values, right, *getRows(call, right, 3),
      [&](int64_t matrix, int64_t columns, int64_t rows, auto add) {
        for (int64_t i = matrix * count; i < (matrix + 1) * count; ++i) {
          int64_t first = indices.getInteger(2 * i),
                  second = indices.getInteger(2 * i + 1);
          if (isTransposed)
            std::swap(first, second);
          add(i, findPlace(first, second, rows, columns));
        }
      });
}

LogicalResult evalSparseRowsProduct(OpCall &call) {
  if (call.operands.size() < 4)
    return call.error() << "needs values, starts of rows, columns and a matrix";
  const Tensor &values = call.tensor(0), &starts = call.tensor(1),
               &columns = call.tensor(2), &right = call.tensor(3);
  if (!isComputed(values) || right.getKind() != values.getKind() ||
      !isIndices(starts) || !isIndices(columns) || values.getRank() < 1 ||
      getBatch(values, 1) != getBatch(starts, 1) ||
      values.getDims() != columns.getDims() ||
      getBatch(values, 1) != getBatch(right, 2) ||
      last(starts, 1) != getRows(call, right, 4).value_or(-2) + 1)
    return call.error() << "needs values, starts of rows and one more, columns "
                           "and a matrix for each of a batch";
  int64_t count = last(values, 1);
  return giveProduct(
      call, values, right, last(starts, 1) - 1,
      [&](int64_t matrix, int64_t size, int64_t rows, auto add) {
        auto getStart = [&](int64_t row) {
          return std::clamp<int64_t>(
              starts.getInteger(matrix * (rows + 1) + row), 0, count);
        };
        for (int64_t row = 0; row < rows; ++row)
          for (int64_t i = getStart(row); i < getStart(row + 1); ++i) {
            int64_t at = matrix * count + i;
            add(at, findPlace(row, columns.getInteger(at), rows, size));
          }
      });
}

LogicalResult evalSparseSampled(OpCall &call) {
  if (call.operands.size() < 3)
    return call.error() << "needs two matrices and indices";
  const Tensor &a = call.tensor(0), &b = call.tensor(1),
               &indices = call.tensor(2);
  if (!isComputed(a) || b.getKind() != a.getKind() || !isIndices(indices) ||
      a.getRank() < 2 || getBatch(a, 2) != getBatch(b, 2) ||
      getBatch(a, 2) != getBatch(indices, 2) || last(indices, 1) != 2 ||
      last(a, 1) != last(b, 1) || call.types.size() != 1)
    return call.error()
           << "needs two matrices with as many columns and pairs of "
              "indices for each of a batch";
  Dims dims(indices.getDims().drop_back(1));
  FailureOr<Tensor> result = call.newTensor(a.getElementType(), dims);
  if (failed(result) || failed(call.charge(indices.getSize(), last(a, 1))))
    return failure();
  auto sample = [&](auto zero) {
    using T = decltype(zero);
    int64_t count = last(indices, 2);
    for (int64_t matrix = 0; matrix < getBatches(indices); ++matrix) {
      Matrix<T> left = readMatrix<T>(a, matrix),
                right = readMatrix<T>(b, matrix);
      for (int64_t i = matrix * count; i < (matrix + 1) * count; ++i) {
        Place place =
            findPlace(indices.getInteger(2 * i), indices.getInteger(2 * i + 1),
                      left.rows, right.rows);
        T sum = zero;
        if (place.row >= 0 && place.row < left.rows && place.column >= 0 &&
            place.column < right.rows)
          for (int64_t j = 0; j < left.columns; ++j)
            sum += left(place.row, j) * right(place.column, j);
        result->setCell(i, toCell(sum));
      }
    }
  };
  isComplex(a.getKind()) ? sample(ComplexReal(0)) : sample(Real(0));
  return call.give(*result);
}

} // namespace alula::reference

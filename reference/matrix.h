// Batches of matrices in long double, real or complex.
#pragma once

#include "reference/tensor.h"

#include <cmath>
#include <complex>

namespace alula::reference {

using Real = long double;
using ComplexReal = std::complex<long double>;

inline Real conjugate(Real x) { return x; }
inline ComplexReal conjugate(ComplexReal x) { return std::conj(x); }
inline Real realPart(Real x) { return x; }
inline Real realPart(ComplexReal x) { return x.real(); }

template <typename T> T fromCell(const Cell &cell);
template <> inline Real fromCell<Real>(const Cell &cell) { return cell.re; }
template <> inline ComplexReal fromCell<ComplexReal>(const Cell &cell) {
  return {cell.re, cell.im};
}
inline Cell toCell(Real x) {
  Cell cell{};
  cell.re = double(x);
  return cell;
}
inline Cell toCell(ComplexReal x) {
  Cell cell{};
  cell.re = double(x.real());
  cell.im = double(x.imag());
  return cell;
}

template <typename T> struct Matrix {
  int64_t rows = 0, columns = 0;
  std::vector<T> data;
  Matrix(int64_t rows, int64_t columns)
      : rows(rows), columns(columns), data(size_t(rows * columns)) {}
  T &operator()(int64_t r, int64_t c) { return data[size_t(r * columns + c)]; }
  const T &operator()(int64_t r, int64_t c) const {
    return data[size_t(r * columns + c)];
  }
};

/// Matrix number `batch` of a tensor whose last two dimensions are matrices.
template <typename T>
Matrix<T> readMatrix(const Tensor &tensor, int64_t batch) {
  int64_t rank = tensor.getRank();
  Matrix<T> matrix(tensor.getDim(size_t(rank - 2)),
                   tensor.getDim(size_t(rank - 1)));
  int64_t start = batch * int64_t(matrix.data.size());
  for (size_t k = 0; k < matrix.data.size(); ++k)
    matrix.data[k] = fromCell<T>(tensor.getCell(start + int64_t(k)));
  return matrix;
}

template <typename T>
void writeMatrix(Tensor &tensor, int64_t batch, const Matrix<T> &matrix) {
  int64_t start = batch * int64_t(matrix.data.size());
  for (size_t k = 0; k < matrix.data.size(); ++k)
    tensor.setCell(start + int64_t(k), toCell(matrix.data[k]));
}

inline int64_t getBatches(const Tensor &tensor) {
  int64_t count = 1;
  for (int64_t d = 0; d + 2 < tensor.getRank(); ++d)
    count *= tensor.getDim(size_t(d));
  return count;
}

} // namespace alula::reference

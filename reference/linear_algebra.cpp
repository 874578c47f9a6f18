// cholesky and triangular_solve.
#include "reference/matrix.h"
#include "reference/op_table.h"

#include "dialect/stablehlo/ops.h"

using namespace mlir;

namespace alula::reference {
namespace {

template <typename T>
void factorize(const Matrix<T> &a, Matrix<T> &l, bool lower) {
  int64_t n = a.rows;
  // The triangle that is read, as a lower one.
  auto get = [&](int64_t r, int64_t c) {
    return lower ? a(r, c) : conjugate(a(c, r));
  };
  for (int64_t c = 0; c < n; ++c) {
    Real diagonal = realPart(get(c, c));
    for (int64_t k = 0; k < c; ++k)
      diagonal -= realPart(T(l(c, k) * conjugate(l(c, k))));
    // A matrix that is not positive definite gives NaN from here on.
    Real root = std::sqrt(diagonal);
    l(c, c) = root;
    for (int64_t r = c + 1; r < n; ++r) {
      T sum = get(r, c);
      for (int64_t k = 0; k < c; ++k)
        sum -= l(r, k) * conjugate(l(c, k));
      l(r, c) = sum / root;
    }
  }
  if (lower)
    return;
  Matrix<T> upper(n, n);
  for (int64_t r = 0; r < n; ++r)
    for (int64_t c = 0; c <= r; ++c)
      upper(c, r) = conjugate(l(r, c));
  l = upper;
}

template <typename T> void choleskyAll(OpCall &call, Tensor &result) {
  bool lower = call.getFlag("lower");
  for (int64_t batch = 0; batch < getBatches(result); ++batch) {
    Matrix<T> a = readMatrix<T>(call.tensor(0), batch);
    Matrix<T> l(a.rows, a.columns);
    factorize(a, l, lower);
    // The other triangle is anybody's; like XLA's it keeps the operand.
    for (int64_t r = 0; r < a.rows; ++r)
      for (int64_t c = 0; c < a.columns; ++c)
        if (lower ? c > r : c < r)
          l(r, c) = a(r, c);
    writeMatrix(result, batch, l);
  }
}

LogicalResult evalCholesky(OpCall &call) {
  const Tensor &a = call.tensor(0);
  int64_t rank = a.getRank();
  if (rank < 2 || a.getDim(size_t(rank - 1)) != a.getDim(size_t(rank - 2)))
    return call.error() << "operand must have square matrices, its shape is "
                        << printDims(a.getDims());
  FailureOr<Tensor> result =
      call.newTensor(call.getElementType(0), a.getDims());
  if (failed(result) ||
      failed(call.charge(a.getSize(), a.getDim(size_t(rank - 1)))))
    return failure();
  if (result->getSize() == 0)
    return call.give(*result);
  if (isComplex(a.getKind()))
    choleskyAll<ComplexReal>(call, *result);
  else
    choleskyAll<Real>(call, *result);
  return call.give(*result);
}

struct SolveShape {
  bool left, lower, unit, transpose, conjugated;
};

template <typename T>
void solve(const Matrix<T> &a, Matrix<T> &b, const SolveShape &shape) {
  int64_t n = a.rows;
  // op(a) x = b; from the right, x op(a) = b is solved transposed.
  bool flip = shape.transpose != !shape.left;
  bool lower = shape.lower != flip;
  auto get = [&](int64_t r, int64_t c) {
    T x = flip ? a(c, r) : a(r, c);
    return shape.conjugated ? conjugate(x) : x;
  };
  int64_t columns = shape.left ? b.columns : b.rows;
  auto at = [&](int64_t r, int64_t c) -> T & {
    return shape.left ? b(r, c) : b(c, r);
  };
  for (int64_t c = 0; c < columns; ++c)
    for (int64_t step = 0; step < n; ++step) {
      int64_t r = lower ? step : n - 1 - step;
      T sum = at(r, c);
      for (int64_t done = 0; done < step; ++done) {
        int64_t k = lower ? done : n - 1 - done;
        sum -= get(r, k) * at(k, c);
      }
      at(r, c) = shape.unit ? sum : T(sum / get(r, r));
    }
}

template <typename T>
void solveAll(OpCall &call, Tensor &result, const SolveShape &shape) {
  for (int64_t batch = 0; batch < getBatches(result); ++batch) {
    Matrix<T> a = readMatrix<T>(call.tensor(0), batch);
    Matrix<T> b = readMatrix<T>(call.tensor(1), batch);
    solve(a, b, shape);
    writeMatrix(result, batch, b);
  }
}

LogicalResult evalTriangularSolve(OpCall &call) {
  const Tensor &a = call.tensor(0), &b = call.tensor(1);
  auto op = cast<stablehlo::TriangularSolveOp>(call.op);
  stablehlo::Transpose transpose = op.getTransposeA();
  SolveShape shape{op.getLeftSide(), op.getLower(), op.getUnitDiagonal(),
                   transpose == stablehlo::Transpose::TRANSPOSE ||
                       transpose == stablehlo::Transpose::ADJOINT,
                   transpose == stablehlo::Transpose::ADJOINT};
  int64_t rank = a.getRank();
  if (rank < 2 || b.getRank() != rank ||
      a.getDim(size_t(rank - 1)) != a.getDim(size_t(rank - 2)) ||
      b.getDim(size_t(shape.left ? rank - 2 : rank - 1)) !=
          a.getDim(size_t(rank - 1)) ||
      getBatches(a) != getBatches(b))
    return call.error() << "shapes do not fit: a is "
                        << printDims(a.getDims()) << ", b is "
                        << printDims(b.getDims());
  FailureOr<Tensor> result =
      call.newTensor(call.getElementType(0), b.getDims());
  if (failed(result) ||
      failed(call.charge(b.getSize(), a.getDim(size_t(rank - 1)))))
    return failure();
  if (result->getSize() == 0)
    return call.give(*result);
  if (isComplex(a.getKind()))
    solveAll<ComplexReal>(call, *result, shape);
  else
    solveAll<Real>(call, *result, shape);
  return call.give(*result);
}

} // namespace

void addLinearAlgebraOps(OpTable &table) {
  table.add("stablehlo.cholesky", evalCholesky, Quantized::Dequantized);
  table.add("stablehlo.triangular_solve", evalTriangularSolve,
            Quantized::Dequantized);
}

} // namespace alula::reference

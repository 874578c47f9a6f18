// QR by Householder reflections, in the form that LAPACK and JAX share.
#include "reference/custom_call.h"
#include "reference/matrix.h"

using namespace mlir;

namespace alula::reference {
namespace {

Real squared(Real x) { return x * x; }
Real squared(ComplexReal x) { return std::norm(x); }
bool isRealNumber(Real) { return true; }
bool isRealNumber(ComplexReal x) { return x.imag() == 0; }

/// Turns column c below the diagonal into a reflector: H = I - tau v v^H with
/// v = (1, a[c+1..]), H^H a = (beta, 0, ...).
template <typename T> T makeReflector(Matrix<T> &a, int64_t c) {
  Real rest = 0;
  for (int64_t r = c + 1; r < a.rows; ++r)
    rest += squared(a(r, c));
  T alpha = a(c, c);
  if (rest == 0 && isRealNumber(alpha))
    return T(0);
  Real beta = -std::copysign(std::sqrt(squared(alpha) + rest),
                             realPart(alpha));
  T tau = (T(beta) - alpha) / T(beta);
  for (int64_t r = c + 1; r < a.rows; ++r)
    a(r, c) /= alpha - T(beta);
  a(c, c) = beta;
  return tau;
}

/// (I - tau v v^H) applied from the left to the columns from `first` on.
template <typename T>
void applyReflector(const Matrix<T> &reflectors, int64_t c, T tau,
                    Matrix<T> &target, int64_t first) {
  for (int64_t column = first; column < target.columns; ++column) {
    T sum = target(c, column);
    for (int64_t r = c + 1; r < target.rows; ++r)
      sum += conjugate(reflectors(r, c)) * target(r, column);
    sum *= tau;
    target(c, column) -= sum;
    for (int64_t r = c + 1; r < target.rows; ++r)
      target(r, column) -= reflectors(r, c) * sum;
  }
}

template <typename T>
void factorizeAll(OpCall &call, Tensor &packed, Tensor &taus) {
  for (int64_t batch = 0; batch < getBatches(packed); ++batch) {
    Matrix<T> a = readMatrix<T>(call.tensor(0), batch);
    int64_t count = std::min(a.rows, a.columns);
    for (int64_t c = 0; c < count; ++c) {
      T tau = makeReflector(a, c);
      applyReflector(a, c, conjugate(tau), a, c + 1);
      taus.setCell(batch * count + c, toCell(tau));
    }
    writeMatrix(packed, batch, a);
  }
}

template <typename T>
void multiplyAll(OpCall &call, Tensor &result, int64_t count) {
  for (int64_t batch = 0; batch < getBatches(result); ++batch) {
    Matrix<T> a = readMatrix<T>(call.tensor(0), batch);
    Matrix<T> q(a.rows, a.columns);
    for (int64_t k = 0; k < std::min(a.rows, a.columns); ++k)
      q(k, k) = T(1);
    for (int64_t c = count; c-- > 0;)
      applyReflector(a, c,
                     fromCell<T>(call.tensor(1).getCell(batch * count + c)),
                     q, 0);
    writeMatrix(result, batch, q);
  }
}

} // namespace

LogicalResult evalQr(OpCall &call) {
  const Tensor &a = call.tensor(0);
  if (a.getRank() < 2 || call.types.size() != 2 ||
      !(isFloat(a.getKind()) || isComplex(a.getKind())))
    return call.error() << "needs matrices and two results";
  Dims dims(a.getDims().drop_back(2));
  int64_t rows = a.getDim(a.getDims().size() - 2),
          columns = a.getDim(a.getDims().size() - 1);
  dims.push_back(std::min(rows, columns));
  FailureOr<Tensor> packed =
      call.newTensor(a.getElementType(), a.getDims());
  FailureOr<Tensor> taus = call.newTensor(a.getElementType(), dims);
  if (failed(packed) || failed(taus) ||
      failed(call.charge(a.getSize(), columns)))
    return failure();
  if (a.getSize() != 0) {
    if (isComplex(a.getKind()))
      factorizeAll<ComplexReal>(call, *packed, *taus);
    else
      factorizeAll<Real>(call, *packed, *taus);
  }
  call.results.emplace_back(std::move(*packed));
  return call.give(*taus);
}

LogicalResult evalHouseholderProduct(OpCall &call) {
  if (call.operands.size() != 2 || call.tensor(0).getRank() < 2 ||
      call.tensor(1).getRank() != call.tensor(0).getRank() - 1 ||
      call.tensor(0).getDims().drop_back(2) !=
          call.tensor(1).getDims().drop_back(1) ||
      call.tensor(1).getKind() != call.tensor(0).getKind())
    return call.error() << "needs matrices and their taus";
  const Tensor &a = call.tensor(0);
  int64_t count = call.tensor(1).getDims().back();
  int64_t rows = a.getDim(a.getDims().size() - 2),
          columns = a.getDim(a.getDims().size() - 1);
  if (count > std::min(rows, columns))
    return call.error() << "has " << count << " taus for matrices of "
                        << rows << " by " << columns;
  FailureOr<Tensor> result =
      call.newTensor(a.getElementType(), a.getDims());
  if (failed(result) || failed(call.charge(a.getSize(), count)))
    return failure();
  if (a.getSize() != 0) {
    if (isComplex(a.getKind()))
      multiplyAll<ComplexReal>(call, *result, count);
    else
      multiplyAll<Real>(call, *result, count);
  }
  return call.give(*result);
}

} // namespace alula::reference

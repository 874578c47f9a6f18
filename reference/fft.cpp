// Fourier transforms over the last one to three dimensions, in long double.
#include "reference/op_table.h"

#include "dialect/stablehlo/ops.h"

#include <cmath>
#include <complex>
#include <numbers>

using namespace mlir;

namespace alula::reference {
namespace {

using Complex = std::complex<long double>;

Complex multiply(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(),
          a.real() * b.imag() + a.imag() * b.real()};
}

/// exp(-2 pi i k / n) for all k, exact at the multiples of a quarter.
std::vector<Complex> getRoots(size_t n, bool inverse) {
  std::vector<Complex> roots(n);
  for (size_t k = 0; k < n; ++k) {
    long double angle =
        2 * std::numbers::pi_v<long double> * (long double)(k) / n;
    long double c = std::cos(angle), s = std::sin(angle);
    if (4 * k % n == 0) {
      size_t quarter = 4 * k / n;
      c = quarter == 0 ? 1 : quarter == 2 ? -1 : 0;
      s = quarter == 1 ? 1 : quarter == 3 ? -1 : 0;
    }
    roots[k] = {c, inverse ? s : -s};
  }
  return roots;
}

/// Cooley-Tukey by the smallest factor; n primes are done by definition.
void transform(Complex *data, size_t n, size_t stride,
               const std::vector<Complex> &roots, Complex *scratch) {
  if (n == 1)
    return;
  size_t factor = 2;
  while (factor * factor <= n && n % factor != 0)
    ++factor;
  if (n % factor != 0)
    factor = n;
  size_t rest = n / factor;
  // Sub-sequences of every factor-th element, each transformed by itself.
  for (size_t part = 0; part < factor; ++part)
    for (size_t k = 0; k < rest; ++k)
      scratch[part * rest + k] = data[k * factor + part];
  std::copy_n(scratch, n, data);
  for (size_t part = 0; part < factor; ++part)
    transform(data + part * rest, rest, stride * factor, roots, scratch);
  for (size_t k = 0; k < n; ++k) {
    Complex sum = 0;
    for (size_t part = 0; part < factor; ++part)
      sum += multiply(data[part * rest + k % rest],
                      roots[part * k % n * stride]);
    scratch[k] = sum;
  }
  std::copy_n(scratch, n, data);
}

/// Transforms dimension d of an array of `dims`.
void transformDimension(std::vector<Complex> &data,
                        llvm::ArrayRef<int64_t> dims, size_t d,
                        bool inverse) {
  size_t n = size_t(dims[d]), inner = 1;
  if (n == 0 || data.empty())
    return;
  for (size_t k = d + 1; k < dims.size(); ++k)
    inner *= size_t(dims[k]);
  std::vector<Complex> roots = getRoots(n, inverse), line(n), scratch(n);
  for (size_t start = 0; start < data.size(); start += n * inner)
    for (size_t offset = 0; offset < inner; ++offset) {
      for (size_t k = 0; k < n; ++k)
        line[k] = data[start + offset + k * inner];
      transform(line.data(), n, 1, roots, scratch.data());
      for (size_t k = 0; k < n; ++k)
        data[start + offset + k * inner] =
            inverse ? line[k] / (long double)(n) : line[k];
    }
}

/// Rows of `from` elements become rows of `to`: cut, or completed as the
/// spectrum of something real.
std::vector<Complex> resizeRows(const std::vector<Complex> &data, size_t from,
                                size_t to) {
  std::vector<Complex> result;
  for (size_t start = 0; from != 0 && start < data.size(); start += from)
    for (size_t k = 0; k < to; ++k) {
      if (k < from)
        result.push_back(data[start + k]);
      else
        result.push_back(std::conj(data[start + (to - k)]));
    }
  return result;
}

LogicalResult evalFft(OpCall &call) {
  auto type = cast<stablehlo::FftOp>(call.op).getFftType();
  const Tensor &operand = call.tensor(0);
  llvm::SmallVector<int64_t> lengths = call.getInts("fft_length");
  size_t rank = operand.getDims().size(), count = lengths.size();
  if (count < 1 || count > rank)
    return call.error() << "fft_length must name 1 to " << rank
                        << " dimensions, it names " << count;
  Dims dims(operand.getDims());
  bool toReal = type == stablehlo::FftType::IRFFT;
  bool fromReal = type == stablehlo::FftType::RFFT;
  bool inverse = toReal || type == stablehlo::FftType::IFFT;
  for (size_t d = 0; d < count; ++d) {
    int64_t expected = lengths[d];
    if (toReal && d + 1 == count)
      expected = expected == 0 ? 0 : expected / 2 + 1;
    if (dims[rank - count + d] != expected)
      return call.error() << "dimension " << rank - count + d
                          << " must have size " << expected << ", it has "
                          << dims[rank - count + d];
  }
  std::vector<Complex> data;
  data.reserve(size_t(operand.getSize()));
  bool complex = isComplex(operand.getKind());
  for (int64_t k = 0; k < operand.getSize(); ++k) {
    Cell cell = operand.getCell(k);
    data.emplace_back(cell.re, complex ? cell.im : 0);
  }
  if (failed(call.charge(operand.getSize(), 64)))
    return failure();
  size_t last = rank - 1;
  if (!toReal)
    transformDimension(data, dims, last, inverse);
  if (fromReal) {
    size_t half = dims[last] == 0 ? 0 : size_t(dims[last] / 2 + 1);
    data = resizeRows(data, size_t(dims[last]), half);
    dims[last] = int64_t(half);
  }
  for (size_t d = rank - count; d < last; ++d)
    transformDimension(data, dims, d, inverse);
  if (toReal) {
    // The spectrum of real data is real at zero and at the highest frequency.
    size_t full = size_t(lengths.back()), half = size_t(dims[last]);
    for (size_t start = 0; half != 0 && start < data.size(); start += half) {
      data[start] = data[start].real();
      if (full % 2 == 0)
        data[start + half - 1] = data[start + half - 1].real();
    }
    data = resizeRows(data, half, full);
    dims[last] = int64_t(full);
    transformDimension(data, dims, last, inverse);
  }
  FailureOr<Tensor> result = call.newTensor(call.getElementType(0), dims);
  if (failed(result))
    return failure();
  for (size_t k = 0; k < data.size() && int64_t(k) < result->getSize(); ++k) {
    Cell cell{};
    cell.re = double(data[k].real());
    cell.im = double(data[k].imag());
    result->setCell(int64_t(k), cell);
  }
  return call.give(*result);
}

} // namespace

void addFftOps(OpTable &table) { table.add("stablehlo.fft", evalFft); }

} // namespace alula::reference

// Tensors and elements as text.
#include "reference/interpreter.h"

#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <cstdio>
#include <cstring>

namespace alula::reference {
namespace {

std::string printReal(Kind kind, double value) {
  if (std::isnan(value))
    return std::signbit(value) ? "-nan" : "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  // As MLIR writes them where that is exact enough, else with every digit.
  char text[40];
  std::snprintf(text, sizeof text, "%.6e", value);
  auto same = [&] {
    double parsed = std::strtod(text, nullptr);
    return encodeFloat(kind, parsed) == encodeFloat(kind, value);
  };
  if (!same())
    std::snprintf(text, sizeof text, "%.9g", value);
  if (!same())
    std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

void printDense(const Tensor &tensor, size_t d, int64_t &at,
                llvm::raw_ostream &os) {
  if (d == tensor.getDims().size()) {
    os << printCell(tensor.getKind(), tensor.getCell(at++));
    return;
  }
  os << '[';
  for (int64_t k = 0; k < tensor.getDim(d); ++k) {
    os << (k ? ", " : "");
    printDense(tensor, d + 1, at, os);
  }
  os << ']';
}

/// In lines a complex number is a pair like any other.
std::string printPart(Kind kind, const Cell &cell) {
  std::string text = printCell(kind, cell);
  if (!isComplex(kind))
    return text;
  text.front() = '[';
  text.back() = ']';
  return text.replace(text.find(','), 1, ", ");
}

void printLines(const Tensor &tensor, size_t d, int64_t &at,
                llvm::raw_ostream &os) {
  std::string indent(2 * d + 2, ' ');
  if (d + 1 == tensor.getDims().size() || tensor.getDim(d) == 0) {
    os << indent << '[';
    for (int64_t k = 0; k < tensor.getDim(d); ++k)
      os << (k ? ", " : "")
         << printPart(tensor.getKind(), tensor.getCell(at++));
    os << ']';
    return;
  }
  os << indent << "[\n";
  for (int64_t k = 0; k < tensor.getDim(d); ++k) {
    os << (k ? ",\n" : "");
    printLines(tensor, d + 1, at, os);
  }
  os << '\n' << indent << ']';
}

void printType(const Tensor &tensor, llvm::raw_ostream &os) {
  os << "tensor<";
  for (int64_t dim : tensor.getDims())
    os << dim << 'x';
  if (getBitWidth(tensor.getKind()) <= 8 && isFloat(tensor.getKind()))
    os << getName(tensor.getKind());
  else
    os << tensor.getElementType();
  os << '>';
}

} // namespace

std::string printCell(Kind kind, const Cell &cell) {
  switch (getDomain(kind)) {
  case Domain::Bool:
    return cell.u ? "true" : "false";
  case Domain::Signed:
    return std::to_string(cell.i);
  case Domain::Unsigned:
    return std::to_string(cell.u);
  case Domain::Float:
    return printReal(kind, cell.re);
  case Domain::Complex:
    break;
  }
  Kind real = getRealKind(kind);
  return "(" + printReal(real, cell.re) + "," + printReal(real, cell.im) +
         ")";
}

std::string printTensor(const Tensor &tensor) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "dense<";
  int64_t at = 0;
  size_t width = tensor.getElementBytes();
  bool splat = tensor.getSize() != 0;
  for (int64_t k = 1; splat && k < tensor.getSize(); ++k)
    splat = std::memcmp(tensor.at(k), tensor.getData(), width) == 0;
  if (splat)
    os << printCell(tensor.getKind(), tensor.getCell(0));
  else if (tensor.getSize() != 0)
    printDense(tensor, 0, at, os);
  os << "> : ";
  printType(tensor, os);
  return text;
}

std::string printTensorPretty(const Tensor &tensor) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printType(tensor, os);
  if (tensor.getRank() == 0) {
    os << " {" << printPart(tensor.getKind(), tensor.getCell(0)) << '}';
    return text;
  }
  os << " {\n";
  int64_t at = 0;
  printLines(tensor, 0, at, os);
  os << "\n}";
  return text;
}

} // namespace alula::reference

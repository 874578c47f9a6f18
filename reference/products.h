// Sums of products in the arithmetic of a result kind, for dot and
// convolution. As the specification's multiply and reduce, each step rounds to
// the type; floats below 32 bits, for which nobody does that, round once.
#pragma once

#include "reference/lane_function.h"
#include "reference/tensor.h"

#include <complex>

namespace alula::reference {

/// The elements of a tensor as cells of `kind`.
inline std::vector<Cell> readAs(const Tensor &tensor, Kind kind) {
  std::vector<Cell> cells(size_t(tensor.getSize()));
  load(tensor.getKind(), tensor.getData(), cells.data(), cells.size());
  if (getDomain(tensor.getKind()) != getDomain(kind) &&
      !(isInteger(tensor.getKind()) && isInteger(kind))) {
    const Cell *operand = cells.data();
    findConvert(tensor.getKind(), kind)(&operand, cells.data(), cells.size(),
                                        {tensor.getKind(), kind});
  }
  return cells;
}

struct BoolProducts {
  using Element = uint8_t;
  using Sum = uint8_t;
  static Element get(const Cell &cell) { return uint8_t(cell.u); }
  static void add(Sum &sum, Element a, Element b) { sum |= a & b; }
  static void finish(Sum sum, Cell &cell) { cell.u = sum; }
};

/// Wraps modulo 2^64, which every narrower integer agrees with.
struct IntegerProducts {
  using Element = uint64_t;
  using Sum = uint64_t;
  static Element get(const Cell &cell) { return cell.u; }
  static void add(Sum &sum, Element a, Element b) { sum += a * b; }
  static void finish(Sum sum, Cell &cell) { cell.u = sum; }
};

template <typename T> struct FloatProducts {
  using Element = T;
  using Sum = T;
  static Element get(const Cell &cell) { return T(cell.re); }
  static void add(Sum &sum, Element a, Element b) { sum += a * b; }
  static void finish(Sum sum, Cell &cell) { cell.re = double(sum); }
};

template <typename Wide> struct ComplexProducts {
  struct Pair {
    Wide re = 0, im = 0;
  };
  using Element = Pair;
  using Sum = Pair;
  static Element get(const Cell &cell) {
    return {Wide(cell.re), Wide(cell.im)};
  }
  static void add(Sum &sum, const Element &a, const Element &b) {
    sum.re += a.re * b.re - a.im * b.im;
    sum.im += a.re * b.im + a.im * b.re;
  }
  static void finish(const Sum &sum, Cell &cell) {
    cell.re = double(sum.re);
    cell.im = double(sum.im);
  }
};

template <typename Products>
std::vector<typename Products::Element>
getElements(const std::vector<Cell> &cells) {
  std::vector<typename Products::Element> elements;
  elements.reserve(cells.size());
  for (const Cell &cell : cells)
    elements.push_back(Products::get(cell));
  return elements;
}

/// Calls `body` with the arithmetic that a result kind asks for, or, if
/// `wide`, with at least twice its precision.
template <typename Body> auto withProducts(Kind kind, bool wide, Body body) {
  switch (getDomain(kind)) {
  case Domain::Bool:
    return body(BoolProducts());
  case Domain::Signed:
  case Domain::Unsigned:
    return body(IntegerProducts());
  case Domain::Float:
    if (kind == Kind::F64 && wide)
      return body(FloatProducts<long double>());
    if (kind != Kind::F32 || wide)
      return body(FloatProducts<double>());
    return body(FloatProducts<float>());
  case Domain::Complex:
    break;
  }
  if (kind == Kind::C128 && wide)
    return body(ComplexProducts<long double>());
  if (kind == Kind::C128 || wide)
    return body(ComplexProducts<double>());
  return body(ComplexProducts<float>());
}

} // namespace alula::reference

#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"

namespace alula::input {
class ElementMath;

/// A tensor in a formula. The operators build stablehlo ops; numbers beside a
/// tensor become splats of its element type.
struct Num {
  ElementMath *math;
  mlir::Value value;

  mlir::Type element() const;
  bool isF64() const { return element().isF64(); }
};

/// Builds elementwise stablehlo for tensors that all have the shape of one
/// value. Dynamic shapes are measured once, where the first constant needs
/// them.
class ElementMath {
public:
  ElementMath(mlir::OpBuilder &opBuilder, mlir::Location opLocation,
              mlir::Value shapeLike)
      : builder(opBuilder), location(opLocation), like(shapeLike) {}

  Num of(mlir::Value value) { return {this, value}; }
  /// A splat of a float, integer or pred element type.
  Num constant(mlir::Type element, double number);
  Num integer(mlir::Type element, const llvm::APInt &number);
  Num splat(mlir::Type element, mlir::TypedAttr scalar);
  /// The shape of the tensors, with another element type.
  mlir::Type shaped(mlir::Type element) const;
  /// The sizes as a tensor of i32, for dynamic_* ops.
  mlir::Value shapeValue();

  mlir::OpBuilder &builder;
  mlir::Location location;

private:
  mlir::Value like;
  mlir::Value sizes;
  llvm::DenseMap<mlir::Attribute, mlir::Value> constants;
};

Num operator+(Num a, Num b);
Num operator-(Num a, Num b);
Num operator*(Num a, Num b);
Num operator/(Num a, Num b);
Num operator+(Num a, double b);
Num operator-(Num a, double b);
Num operator*(Num a, double b);
Num operator/(Num a, double b);
Num operator+(double a, Num b);
Num operator-(double a, Num b);
Num operator*(double a, Num b);
Num operator/(double a, Num b);
Num operator-(Num a);

// Comparisons give i1 tensors, which &, | and ~ combine. On integers & and |
// work on bits.
Num operator<(Num a, Num b);
Num operator<=(Num a, Num b);
Num operator==(Num a, Num b);
Num operator<(Num a, double b);
Num operator<=(Num a, double b);
Num operator>(Num a, double b);
Num operator>=(Num a, double b);
Num operator==(Num a, double b);
Num operator!=(Num a, Num b);
Num operator!=(Num a, double b);
Num operator&(Num a, Num b);
Num operator|(Num a, Num b);
Num operator^(Num a, Num b);
Num operator~(Num a);

Num select(Num pred, Num onTrue, Num onFalse);
Num select(Num pred, double onTrue, Num onFalse);
Num select(Num pred, Num onTrue, double onFalse);

Num abs(Num x);
Num atan2(Num y, Num x);
Num convert(Num x, mlir::Type element);
Num bitcast(Num x, mlir::Type element);
Num cos(Num x);
Num exp(Num x);
Num expm1(Num x);
Num floor(Num x);
Num isFinite(Num x);
Num log(Num x);
Num log1p(Num x);
Num max(Num a, Num b);
Num min(Num a, Num b);
Num pow(Num a, Num b);
Num shiftRightLogical(Num a, Num b);
Num shiftRightArithmetic(Num a, Num b);
Num shiftLeft(Num a, Num b);
Num sign(Num x);
Num sin(Num x);
Num sqrt(Num x);
Num tan(Num x);

Num real(Num z);
Num imag(Num z);
Num complex(Num re, Num im);

/// The polynomial with these coefficients, highest power first.
Num polynomial(Num x, llvm::ArrayRef<double> coefficients);
/// The largest finite number, the smallest normal one, and the distance from
/// 1 to the next number, of an f32 or f64 element type.
double largest(mlir::Type element);
double smallestNormal(mlir::Type element);
double epsilon(mlir::Type element);

} // namespace alula::input

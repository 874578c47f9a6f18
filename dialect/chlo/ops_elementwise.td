//===- ops_elementwise.td - functions of each element by itself

include "mlir/IR/BuiltinAttributeInterfaces.td"
include "dialect/chlo/traits.td"

class CHLO_Unary<string mnemonic, Type operand, Type result_ = operand,
                 list<Trait> traits = [SHLO_SameType]>
    : CHLO_InferringOp<mnemonic, traits # [Pure, Elementwise,
                                           SHLO_SameShape]> {
  let arguments = (ins operand:$operand);
  let results = (outs result_:$result);
  let assemblyFormat =
      "$operand attr-dict `:` type($operand) `->` type($result)";
}

// The part of the complex inverse functions that they share: for the result w
// of operand z, asin(z) = (atan2(z.re, w.re), sign(z.im) * w.im).
def CHLO_AsinAcosKernelOp
    : CHLO_Unary<"_asin_acos_kernel", SHLO_ComplexTensor>;

def CHLO_AcosOp : CHLO_Unary<"acos", SHLO_FloatOrComplexTensor>;
def CHLO_AcoshOp : CHLO_Unary<"acosh", SHLO_FloatOrComplexTensor>;
def CHLO_AsinOp : CHLO_Unary<"asin", SHLO_FloatOrComplexTensor>;
def CHLO_AsinhOp : CHLO_Unary<"asinh", SHLO_FloatOrComplexTensor>;
def CHLO_AtanOp : CHLO_Unary<"atan", SHLO_FloatOrComplexTensor>;
def CHLO_AtanhOp : CHLO_Unary<"atanh", SHLO_FloatOrComplexTensor>;
def CHLO_BesselI1eOp : CHLO_Unary<"bessel_i1e", SHLO_FloatTensor>;
def CHLO_ConjOp : CHLO_Unary<"conj", SHLO_FloatOrComplexTensor>;
def CHLO_CoshOp : CHLO_Unary<"cosh", SHLO_FloatOrComplexTensor>;
def CHLO_DigammaOp : CHLO_Unary<"digamma", SHLO_FloatTensor>;
def CHLO_ErfOp : CHLO_Unary<"erf", SHLO_FloatTensor>;
def CHLO_ErfInvOp : CHLO_Unary<"erf_inv", SHLO_FloatTensor>;
def CHLO_ErfcOp : CHLO_Unary<"erfc", SHLO_FloatTensor>;
def CHLO_LgammaOp : CHLO_Unary<"lgamma", SHLO_FloatTensor>;
def CHLO_SinhOp : CHLO_Unary<"sinh", SHLO_FloatOrComplexTensor>;
def CHLO_SquareOp : CHLO_Unary<"square", SHLO_FloatOrComplexTensor>;
def CHLO_TanOp : CHLO_Unary<"tan", SHLO_FloatOrComplexTensor>;

class CHLO_Predicate<string mnemonic>
    : CHLO_Unary<mnemonic, SHLO_FloatTensor, SHLO_PredTensor,
                 [CHLO_InferBy<CHLO_InferPredTrait>]>;
def CHLO_IsInfOp : CHLO_Predicate<"is_inf">;
def CHLO_IsNegInfOp : CHLO_Predicate<"is_neg_inf">;
def CHLO_IsPosInfOp : CHLO_Predicate<"is_pos_inf">;

class CHLO_Binary<string mnemonic, Type operand, string lhs, string rhs>
    : CHLO_InferringOp<mnemonic, [Pure, Elementwise, SHLO_SameType]> {
  let arguments = !dag(ins, [operand, operand], [lhs, rhs]);
  let results = (outs operand:$result);
  let assemblyFormat = "$" # lhs # " `,` $" # rhs # " attr-dict `:` type($"
                       # lhs # ") `,` type($" # rhs # ") `->` type($result)";
}
// The neighbour of x in the direction of y.
def CHLO_NextAfterOp : CHLO_Binary<"next_after", SHLO_FloatTensor, "x", "y">;
def CHLO_PolygammaOp : CHLO_Binary<"polygamma", SHLO_FloatTensor, "n", "x">;
// The sum of (q + k)^-x over k = 0, 1, …
def CHLO_ZetaOp : CHLO_Binary<"zeta", SHLO_FloatTensor, "x", "q">;
// The upper half of the product's bits.
def CHLO_MulhiOp : CHLO_Binary<"mulhi", SHLO_IntTensor, "lhs", "rhs">;

def CHLO_ConstantOp
    : CHLO_Op<"constant", [ConstantLike, Pure, SHLO_Infer]> {
  let arguments = (ins ElementsAttr:$value);
  let results = (outs SHLO_StaticTensor:$output);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

// A splat of `value` in the operand's shape.
def CHLO_ConstantLikeOp
    : CHLO_InferringOp<"constant_like", [Pure, SHLO_SameShape, SHLO_Infer]> {
  let arguments = (ins TypedAttrInterface:$value, SHLO_AnyTensor:$operand);
  let results = (outs SHLO_AnyTensor:$result);
  let hasFolder = 1;
}

//===- ops_elementwise.td - ops that work on each element by itself

include "dialect/stablehlo/traits.td"

class SHLO_Unary<string mnemonic, Type operand, Type result_ = operand,
                 list<Trait> traits = [SHLO_SameType]>
    : SHLO_InferringOp<mnemonic,
                       traits # [SHLO_SameShape, Elementwise, SHLO_NoEffect]> {
  let arguments = (ins operand:$operand);
  let results = (outs result_:$result);
  let assemblyFormat = [{
    $operand attr-dict
        `:` custom<SameOperandsAndResultType>(type($operand), type($result))
  }];
}

// Functions whose accuracy a program may choose.
class SHLO_Transcendental<string mnemonic>
    : SHLO_Unary<mnemonic, SHLO_FloatComplexOrQuantTensor> {
  let arguments = (ins SHLO_FloatComplexOrQuantTensor:$operand,
      DefaultValuedOptionalAttr<
          StableHLO_ResultAccuracyAttr,
          "::mlir::stablehlo::ResultAccuracyMode::DEFAULT">:$result_accuracy);
}

class SHLO_Binary<string mnemonic, Type operand = SHLO_Tensor,
                  list<Trait> traits = []>
    : SHLO_InferringOp<mnemonic, traits # [SHLO_SameType, Elementwise,
                                           SHLO_NoEffect]> {
  let arguments = (ins operand:$lhs, operand:$rhs);
  let results = (outs operand:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:`
        custom<SameOperandsAndResultType>(type($lhs), type($rhs), type($result))
  }];
}

def StableHLO_AbsOp : SHLO_Unary<"abs", SHLO_AbsOperand, SHLO_AbsResult,
                                 [SHLO_Infer]>;
def StableHLO_CbrtOp : SHLO_Transcendental<"cbrt">;
def StableHLO_CeilOp : SHLO_Unary<"ceil", SHLO_FloatOrQuantTensor>;
def StableHLO_ConvertOp
    : SHLO_Unary<"convert", SHLO_PlainTensor, SHLO_PlainTensor, []> {
  let builders = [OpBuilder<(ins "::mlir::Value":$operand,
                                 "::mlir::Type":$result_element_ty)>];
  let hasFolder = 1;
}
def StableHLO_ClzOp : SHLO_Unary<"count_leading_zeros", SHLO_IntTensor>;
def StableHLO_CosineOp : SHLO_Transcendental<"cosine">;
def StableHLO_ExpOp : SHLO_Transcendental<"exponential">;
def StableHLO_Expm1Op : SHLO_Transcendental<"exponential_minus_one">;
def StableHLO_FloorOp : SHLO_Unary<"floor", SHLO_FloatOrQuantTensor>;
def StableHLO_ImagOp : SHLO_Unary<"imag", SHLO_FloatOrComplexTensor,
                                  SHLO_FloatTensor, [SHLO_Infer]>;
def StableHLO_IsFiniteOp
    : SHLO_InferringOp<"is_finite", [SHLO_SameShape, Elementwise, SHLO_Infer,
                                     SHLO_NoEffect]> {
  let arguments = (ins SHLO_FloatOrQuantTensor:$x);
  let results = (outs SHLO_PredTensor:$y);
  let assemblyFormat =
      "operands attr-dict `:` functional-type(operands, results)";
}
def StableHLO_LogOp : SHLO_Transcendental<"log">;
def StableHLO_Log1pOp : SHLO_Transcendental<"log_plus_one">;
def StableHLO_LogisticOp : SHLO_Transcendental<"logistic">;
def StableHLO_NotOp : SHLO_Unary<"not", SHLO_PredOrIntTensor>;
def StableHLO_NegOp : SHLO_Unary<"negate", SHLO_IntFloatComplexOrQuantTensor>;
def StableHLO_PopulationCountOp : SHLO_Unary<"popcnt", SHLO_IntTensor>;
def StableHLO_RealOp : SHLO_Unary<"real", SHLO_FloatOrComplexTensor,
                                  SHLO_FloatTensor, [SHLO_Infer]>;
def StableHLO_RoundOp
    : SHLO_Unary<"round_nearest_afz", SHLO_FloatOrQuantTensor>;
def StableHLO_RoundNearestEvenOp
    : SHLO_Unary<"round_nearest_even", SHLO_FloatOrQuantTensor>;
def StableHLO_RsqrtOp : SHLO_Transcendental<"rsqrt">;
def StableHLO_SignOp : SHLO_Unary<"sign", SHLO_AbsOperand>;
def StableHLO_SineOp : SHLO_Transcendental<"sine">;
def StableHLO_SqrtOp : SHLO_Transcendental<"sqrt">;
def StableHLO_TanOp : SHLO_Transcendental<"tan">;
def StableHLO_TanhOp : SHLO_Transcendental<"tanh">;

def StableHLO_AddOp : SHLO_Binary<"add", SHLO_AnyTensor, [Commutative]> {
  let hasVerifier = 1;
}
def StableHLO_AndOp
    : SHLO_Binary<"and", SHLO_PredOrIntTensor, [Commutative]>;
def StableHLO_Atan2Op : SHLO_Binary<"atan2", SHLO_FloatComplexOrQuantTensor>;
def StableHLO_ComplexOp
    : SHLO_InferringOp<"complex", [SHLO_SameShape, Elementwise, SHLO_Infer,
                                   SHLO_SameOperandElementType,
                                   SHLO_NoEffect]> {
  let arguments = (ins SHLO_F32OrF64Tensor:$lhs, SHLO_F32OrF64Tensor:$rhs);
  let results = (outs SHLO_ComplexTensor:$result);
  let assemblyFormat = [{
    operands attr-dict
        `:` custom<ComplexOpType>(type($lhs), type($rhs), type($result))
  }];
}
def StableHLO_DivOp : SHLO_Binary<"divide", SHLO_IntFloatComplexOrQuantTensor>;
def StableHLO_MaxOp
    : SHLO_Binary<"maximum", SHLO_Tensor, [Commutative]>;
def StableHLO_MinOp
    : SHLO_Binary<"minimum", SHLO_Tensor, [Commutative]>;
def StableHLO_MulOp
    : SHLO_Binary<"multiply", SHLO_Tensor, [Commutative]>;
def StableHLO_OrOp
    : SHLO_Binary<"or", SHLO_PredOrIntTensor, [Commutative]>;
def StableHLO_PowOp : SHLO_Binary<"power", SHLO_IntFloatComplexOrQuantTensor>;
def StableHLO_RemOp
    : SHLO_Binary<"remainder", SHLO_IntFloatComplexOrQuantTensor>;
def StableHLO_ShiftLeftOp : SHLO_Binary<"shift_left", SHLO_IntTensor>;
def StableHLO_ShiftRightArithmeticOp
    : SHLO_Binary<"shift_right_arithmetic", SHLO_IntTensor>;
def StableHLO_ShiftRightLogicalOp
    : SHLO_Binary<"shift_right_logical", SHLO_IntTensor>;
def StableHLO_SubtractOp
    : SHLO_Binary<"subtract", SHLO_IntFloatComplexOrQuantTensor>;
def StableHLO_XorOp
    : SHLO_Binary<"xor", SHLO_PredOrIntTensor, [Commutative]>;

def StableHLO_ClampOp
    : SHLO_InferringOp<"clamp", [SHLO_Infer, SHLO_SameElementType,
                                 SHLO_NoEffect]> {
  let arguments = (ins SHLO_Tensor:$min, SHLO_Tensor:$operand,
                       SHLO_Tensor:$max);
  let results = (outs SHLO_Tensor:$result);
  let assemblyFormat = [{
    $min `,` $operand `,` $max attr-dict
        `:` custom<SameOperandsAndResultType>(type($min), type($operand),
                                              type($max), type($result))
  }];
}

def StableHLO_CompareOp
    : SHLO_InferringOp<"compare", [SHLO_SameShape, Elementwise, SHLO_Infer,
                                   SHLO_SameOperandElementType,
                                   SHLO_NoEffect]> {
  let arguments = (ins SHLO_Tensor:$lhs, SHLO_Tensor:$rhs,
      StableHLO_ComparisonDirectionAttr:$comparison_direction,
      OptionalAttr<StableHLO_ComparisonTypeAttr>:$compare_type);
  let results = (outs SHLO_PredTensor:$result);
  let builders = [OpBuilder<(ins
      "::mlir::Value":$lhs, "::mlir::Value":$rhs,
      "::mlir::stablehlo::ComparisonDirection":$comparison_direction,
      CArg<"::mlir::stablehlo::ComparisonType",
           "::mlir::stablehlo::ComparisonType::NOTYPE">:$compare_type)>];
  // An enumeration prints its own space before it, so none is wanted here.
  let assemblyFormat = [{
    `` $comparison_direction `,` $lhs `,` $rhs (`,` `` $compare_type^)?
        attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_ReducePrecisionOp
    : SHLO_InferringOp<"reduce_precision", [SHLO_SameType, Elementwise,
                                            SHLO_NoEffect]> {
  let arguments = (ins SHLO_FloatOrQuantTensor:$operand,
                       I32Attr:$exponent_bits, I32Attr:$mantissa_bits);
  let results = (outs SHLO_FloatOrQuantTensor:$output);
  let assemblyFormat = [{
    $operand `,` `format` `=`
        custom<ExponentMantissa>($exponent_bits, $mantissa_bits) attr-dict
        `:` custom<SameOperandsAndResultType>(type($operand), type($output))
  }];
  let hasVerifier = 1;
}

def StableHLO_SelectOp
    : SHLO_InferringOp<"select", [SHLO_Infer, SHLO_NoEffect]> {
  let arguments = (ins SHLO_PredTensor:$pred, SHLO_Tensor:$on_true,
                       SHLO_Tensor:$on_false);
  let results = (outs SHLO_Tensor:$result);
  let assemblyFormat = [{
    operands attr-dict `:` custom<SelectOpType>(
        type($pred), type($on_true), type($on_false), type($result))
  }];
}

def StableHLO_MapOp
    : SHLO_InferringOp<"map", [SHLO_Infer, SHLO_SameShape, SHLO_RegionEffects,
                               SingleBlockImplicitTerminator<"ReturnOp">]> {
  let arguments = (ins Variadic<SHLO_Tensor>:$inputs,
                       DenseI64ArrayAttr:$dimensions);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs SHLO_Tensor:$result);
}

//===- ops_dot.td - matrix products and linear algebra

include "dialect/stablehlo/traits.td"

def StableHLO_DotOp : StableHLO_Op<"dot", [SHLO_NoEffect]> {
  let arguments = (ins SHLO_Tensor:$lhs, SHLO_AnyTensor:$rhs,
                       OptionalAttr<StableHLO_PrecisionConfigAttr>
                           :$precision_config);
  let results = (outs SHLO_AnyTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `` custom<PrecisionConfig>($precision_config) attr-dict
        `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_DotGeneralOp : StableHLO_Op<"dot_general", [SHLO_NoEffect]> {
  let arguments = (ins SHLO_Tensor:$lhs, SHLO_AnyTensor:$rhs,
      StableHLO_DotDimensionNumbers:$dot_dimension_numbers,
      OptionalAttr<StableHLO_PrecisionConfigAttr>:$precision_config,
      OptionalAttr<StableHLO_DotAlgorithm>:$algorithm);
  let results = (outs SHLO_AnyTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` custom<DotDimensionNumbers>($dot_dimension_numbers) ``
        custom<PrecisionConfigAndAlgorithm>($precision_config, $algorithm)
        attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_EinsumOp : StableHLO_Op<"einsum", [SHLO_NoEffect]> {
  let arguments = (ins SHLO_Tensor:$lhs, SHLO_Tensor:$rhs,
                       StrAttr:$einsum_config);
  let results = (outs SHLO_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` `config` `=` $einsum_config
        attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_UnaryEinsumOp : StableHLO_Op<"unary_einsum", [SHLO_NoEffect]> {
  let arguments = (ins SHLO_Tensor:$operand, StrAttr:$einsum_config);
  let results = (outs SHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `config` `=` $einsum_config
        attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_FftOp
    : SHLO_InferringOp<"fft", [SHLO_NoEffect, SHLO_Infer]> {
  let arguments = (ins SHLO_FloatOrComplexTensor:$operand,
                       StableHLO_FftTypeAttr:$fft_type,
                       DenseI64ArrayAttr:$fft_length);
  let results = (outs SHLO_FloatOrComplexTensor:$result);
  let assemblyFormat = [{
    $operand `,` `type` `=` `` $fft_type `,` `length` `=` $fft_length
        attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_CholeskyOp
    : SHLO_InferringOp<"cholesky", [SHLO_NoEffect, SHLO_SameElementType,
                                    SHLO_Infer]> {
  let arguments = (ins SHLO_FloatComplexOrQuantTensor:$a,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$lower);
  let results = (outs SHLO_FloatComplexOrQuantTensor:$result);
  let assemblyFormat = [{
    $a (`,` `lower` `=` $lower^)? attr-dict
        `:` custom<SameOperandsAndResultType>(type($a), type($result))
  }];
}

def StableHLO_TriangularSolveOp
    : SHLO_InferringOp<"triangular_solve", [
          SHLO_NoEffect, SHLO_SameElementType, SHLO_Infer]> {
  let arguments = (ins SHLO_FloatComplexOrQuantTensor:$a,
                       SHLO_FloatComplexOrQuantTensor:$b, BoolAttr:$left_side,
                       BoolAttr:$lower, BoolAttr:$unit_diagonal,
                       StableHLO_TransposeAttr:$transpose_a);
  let results = (outs SHLO_FloatComplexOrQuantTensor:$result);
}

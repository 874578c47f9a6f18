//===- ops_slice.td - ops that read or write a part of a tensor

include "dialect/stablehlo/traits.td"

def StableHLO_SliceOp
    : SHLO_InferringOp<"slice", [SHLO_NoEffect, SHLO_SameElementType,
                                 SHLO_KeepsQuantization, SHLO_Infer]> {
  let arguments = (ins SHLO_Tensor:$operand, DenseI64ArrayAttr:$start_indices,
                       DenseI64ArrayAttr:$limit_indices,
                       DenseI64ArrayAttr:$strides);
  let results = (outs SHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand custom<SliceRanges>($start_indices, $limit_indices, $strides)
        attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_DynamicSliceOp
    : SHLO_InferringOp<"dynamic_slice", [Pure, SHLO_KeepsQuantization,
                                         SHLO_Infer]> {
  let arguments = (ins SHLO_Tensor:$operand,
                       Variadic<SHLO_ScalarIntTensor>:$start_indices,
                       DenseI64ArrayAttr:$slice_sizes);
  let results = (outs SHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` custom<VariadicOperandWithAttribute>($start_indices)
        `sizes` `=` $slice_sizes
        attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_DynamicUpdateSliceOp
    : SHLO_InferringOp<"dynamic_update_slice", [Pure, SHLO_KeepsQuantization,
                                                SHLO_Infer]> {
  let arguments = (ins SHLO_Tensor:$operand, SHLO_Tensor:$update,
                       Variadic<SHLO_ScalarIntTensor>:$start_indices);
  let results = (outs SHLO_Tensor:$result);
  let assemblyFormat =
      "operands attr-dict `:` functional-type(operands, results)";
}

def StableHLO_RealDynamicSliceOp
    : StableHLO_Op<"real_dynamic_slice", [SHLO_NoEffect, SHLO_KeepsQuantization]> {
  let arguments = (ins SHLO_Tensor:$operand, SHLO_DimTensor:$start_indices,
                       SHLO_DimTensor:$limit_indices, SHLO_DimTensor:$strides);
  let results = (outs SHLO_Tensor:$result);
  let assemblyFormat =
      "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

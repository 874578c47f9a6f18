//===- ops_gather_scatter.td - indexed reads and writes

include "dialect/stablehlo/traits.td"

def StableHLO_GatherOp
    : SHLO_InferringOp<"gather", [SHLO_NoEffect, SHLO_Infer]> {
  let arguments = (ins SHLO_Tensor:$operand, SHLO_IntTensor:$start_indices,
      StableHLO_GatherDimensionNumbers:$dimension_numbers,
      DenseI64ArrayAttr:$slice_sizes,
      DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted);
  let results = (outs SHLO_Tensor:$result);
}

def StableHLO_DynamicGatherOp
    : SHLO_InferringOp<"dynamic_gather", [SHLO_NoEffect, SHLO_Infer]> {
  let arguments = (ins SHLO_Tensor:$operand, SHLO_IntTensor:$start_indices,
      SHLO_Static1DIntTensor:$slice_sizes,
      StableHLO_GatherDimensionNumbers:$dimension_numbers,
      DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted);
  let results = (outs SHLO_Tensor:$result);
}

def StableHLO_ScatterOp
    : SHLO_InferringOp<"scatter", [SHLO_RegionEffects, SameVariadicOperandSize,
                                   SHLO_Infer]> {
  let arguments = (ins Variadic<SHLO_Tensor>:$inputs,
      SHLO_IndexTensor:$scatter_indices, Variadic<SHLO_Tensor>:$updates,
      StableHLO_ScatterDimensionNumbers:$scatter_dimension_numbers,
      DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted,
      DefaultValuedOptionalAttr<BoolAttr, "false">:$unique_indices);
  let regions = (region SizedRegion<1>:$update_computation);
  let results = (outs Variadic<SHLO_Tensor>:$results);
  let hasVerifier = 1;
}

def StableHLO_TorchIndexSelectOp
    : StableHLO_Op<"torch_index_select", [SHLO_NoEffect]> {
  let arguments = (ins SHLO_Tensor:$operand, SHLO_Tensor:$index,
                       I64Attr:$dim, I64Attr:$batch_dims);
  let results = (outs SHLO_Tensor:$result);
  let hasVerifier = 1;
}

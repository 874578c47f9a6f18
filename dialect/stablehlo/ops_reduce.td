//===- ops_reduce.td - ops that combine many elements into one

include "dialect/stablehlo/traits.td"

def StableHLO_ReduceOp
    : SHLO_InferringOp<"reduce", [SHLO_RegionEffects, SameVariadicOperandSize,
                                  SHLO_Infer,
                                  SingleBlockImplicitTerminator<"ReturnOp">]> {
  let arguments = (ins Variadic<SHLO_Tensor>:$inputs,
                       Variadic<SHLO_Tensor>:$init_values,
                       DenseI64ArrayAttr:$dimensions);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<SHLO_Tensor>:$results);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def StableHLO_ReduceWindowOp
    : SHLO_InferringOp<"reduce_window", [
          SHLO_RegionEffects, SameVariadicOperandSize, SHLO_Infer,
          SingleBlockImplicitTerminator<"ReturnOp">]> {
  let arguments = (ins Variadic<SHLO_Tensor>:$inputs,
                       Variadic<SHLO_Tensor>:$init_values,
                       DenseI64ArrayAttr:$window_dimensions,
                       OptionalAttr<DenseI64ArrayAttr>:$window_strides,
                       OptionalAttr<DenseI64ArrayAttr>:$base_dilations,
                       OptionalAttr<DenseI64ArrayAttr>:$window_dilations,
                       OptionalAttr<I64ElementsAttr>:$padding);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<SHLO_Tensor>:$results);
  let hasVerifier = 1;
}

def StableHLO_SelectAndScatterOp
    : SHLO_InferringOp<"select_and_scatter", [SHLO_RegionEffects,
                                              SHLO_Infer]> {
  let arguments = (ins SHLO_Tensor:$operand, SHLO_Tensor:$source,
                       SHLO_Tensor:$init_value,
                       OptionalAttr<DenseI64ArrayAttr>:$window_dimensions,
                       OptionalAttr<DenseI64ArrayAttr>:$window_strides,
                       OptionalAttr<I64ElementsAttr>:$padding);
  let regions = (region SizedRegion<1>:$select, SizedRegion<1>:$scatter);
  let results = (outs SHLO_Tensor:$result);
  let hasVerifier = 1;
}

def StableHLO_BatchNormGradOp
    : SHLO_InferringOp<"batch_norm_grad", [SHLO_NoEffect, SHLO_SameElementType,
                                           SHLO_Infer]> {
  let arguments = (ins SHLO_FloatOrQuantTensor:$operand,
                       SHLO_Float1DTensor:$scale, SHLO_Float1DTensor:$mean,
                       SHLO_Float1DTensor:$variance,
                       SHLO_FloatOrQuantTensor:$grad_output,
                       F32Attr:$epsilon, I64Attr:$feature_index);
  let results = (outs SHLO_FloatOrQuantTensor:$grad_operand,
                      SHLO_Float1DTensor:$grad_scale,
                      SHLO_Float1DTensor:$grad_offset);
}

def StableHLO_BatchNormInferenceOp
    : SHLO_InferringOp<"batch_norm_inference", [
          SHLO_NoEffect, SHLO_SameElementType, SHLO_Infer]> {
  let arguments = (ins SHLO_FloatOrQuantTensor:$operand,
                       SHLO_Float1DTensor:$scale, SHLO_Float1DTensor:$offset,
                       SHLO_Float1DTensor:$mean, SHLO_Float1DTensor:$variance,
                       F32Attr:$epsilon, I64Attr:$feature_index);
  let results = (outs SHLO_FloatOrQuantTensor:$result);
}

def StableHLO_BatchNormTrainingOp
    : SHLO_InferringOp<"batch_norm_training", [
          SHLO_NoEffect, SHLO_SameElementType, SHLO_Infer]> {
  let arguments = (ins SHLO_FloatOrQuantTensor:$operand,
                       SHLO_Float1DTensor:$scale, SHLO_Float1DTensor:$offset,
                       F32Attr:$epsilon, I64Attr:$feature_index);
  let results = (outs SHLO_FloatOrQuantTensor:$output,
                      SHLO_Float1DTensor:$batch_mean,
                      SHLO_Float1DTensor:$batch_var);
}

def StableHLO_SortOp
    : SHLO_InferringOp<"sort", [SHLO_RegionEffects, SHLO_Infer]> {
  let arguments = (ins Variadic<SHLO_Tensor>:$inputs,
                       DefaultValuedOptionalAttr<I64Attr, "-1">:$dimension,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$is_stable);
  let regions = (region SizedRegion<1>:$comparator);
  let results = (outs Variadic<SHLO_Tensor>:$results);
  let hasVerifier = 1;
}

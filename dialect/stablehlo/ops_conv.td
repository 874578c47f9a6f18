//===- ops_conv.td - convolutions

include "dialect/stablehlo/traits.td"

// Everything but the padding is the same for the static and dynamic form.
class SHLO_ConvArguments {
  dag attributes = (ins
      OptionalAttr<DenseI64ArrayAttr>:$lhs_dilation,
      OptionalAttr<DenseI64ArrayAttr>:$rhs_dilation,
      OptionalAttr<DenseBoolArrayAttr>:$window_reversal,
      StableHLO_ConvDimensionNumbers:$dimension_numbers,
      I64Attr:$feature_group_count, I64Attr:$batch_group_count,
      OptionalAttr<StableHLO_PrecisionConfigAttr>:$precision_config);
}
def SHLO_ConvCommon : SHLO_ConvArguments;

def StableHLO_ConvolutionOp : StableHLO_Op<"convolution", [SHLO_NoEffect]> {
  let arguments = !con((ins SHLO_Tensor:$lhs, SHLO_AnyTensor:$rhs,
                            OptionalAttr<DenseI64ArrayAttr>:$window_strides,
                            OptionalAttr<I64ElementsAttr>:$padding),
                       SHLO_ConvCommon.attributes);
  let results = (outs SHLO_AnyTensor:$result);
  let assemblyFormat = [{
    `(` operands `)`
        `dim_numbers` `=` custom<ConvolutionDimensions>($dimension_numbers) `,`
        `window` `=` `{` custom<WindowAttributes>(
            $window_strides, $padding, $lhs_dilation, $rhs_dilation,
            $window_reversal) `}`
        attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_DynamicConvOp : StableHLO_Op<"dynamic_conv", [SHLO_NoEffect]> {
  let arguments = !con((ins SHLO_Tensor:$lhs, SHLO_AnyTensor:$rhs,
                            SHLO_Static2DIntTensor:$padding,
                            OptionalAttr<DenseI64ArrayAttr>:$window_strides),
                       SHLO_ConvCommon.attributes);
  let results = (outs SHLO_AnyTensor:$result);
  let hasVerifier = 1;
}

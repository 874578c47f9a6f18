//===- ops_shape.td - ops that make values or move them without arithmetic

include "dialect/stablehlo/traits.td"

def StableHLO_ConstantOp
    : SHLO_InferringOp<"constant", [
          ConstantLike, Pure, SHLO_Infer,
          DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let arguments = (ins ElementsAttr:$value);
  let results = (outs SHLO_StaticTensor:$output);
  let builders = [OpBuilder<(ins "::mlir::Attribute":$value)>];
  // A quantized constant is given by its storage.
  code storageCompatible = [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange l,
                                        ::mlir::TypeRange r);
  }];
  let extraClassDeclaration = refines # storageCompatible;
  let hasCustomAssemblyFormat = 1;
  let hasFolder = 1;
}

def StableHLO_IotaOp : StableHLO_Op<"iota", [Pure]> {
  let arguments = (ins I64Attr:$iota_dimension);
  let results = (outs SHLO_StaticNumberTensor:$output);
  let assemblyFormat = "`dim` `=` $iota_dimension attr-dict `:` type($output)";
  let hasVerifier = 1;
}

def StableHLO_BitcastConvertOp
    : StableHLO_Op<"bitcast_convert", [SHLO_NoEffect]> {
  let arguments = (ins SHLO_AnyTensor:$operand);
  let results = (outs SHLO_AnyTensor:$result);
  let assemblyFormat =
      "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def StableHLO_BroadcastOp
    : SHLO_InferringOp<"broadcast", [Pure, SHLO_SameElementType,
                                     SHLO_KeepsQuantization, SHLO_Infer]> {
  let arguments = (ins SHLO_Tensor:$operand,
                       DenseI64ArrayAttr:$broadcast_sizes);
  let results = (outs SHLO_AnyTensor:$result);
  let assemblyFormat = [{
    $operand `,` `sizes` `=` $broadcast_sizes
        attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_BroadcastInDimOp
    : StableHLO_Op<"broadcast_in_dim", [SHLO_NoEffect, SHLO_SameElementType]> {
  let arguments = (ins SHLO_AnyTensor:$operand,
                       DenseI64ArrayAttr:$broadcast_dimensions);
  let results = (outs SHLO_StaticOrBoundedTensor:$result);
  let assemblyFormat = [{
    $operand `,` `dims` `=` $broadcast_dimensions
        attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_ConcatenateOp
    : SHLO_InferringOp<"concatenate", [SHLO_NoEffect, SHLO_SameElementType,
                                       SHLO_KeepsQuantization, SHLO_Infer]> {
  let arguments = (ins Variadic<SHLO_Tensor>:$inputs, I64Attr:$dimension);
  let results = (outs SHLO_Tensor:$result);
  let assemblyFormat = [{
    custom<VariadicOperandWithAttribute>($inputs) `dim` `=` $dimension
        attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_PadOp
    : SHLO_InferringOp<"pad", [SHLO_NoEffect, SHLO_SameElementType,
                               SHLO_KeepsQuantization, SHLO_Infer]> {
  let arguments = (ins SHLO_Tensor:$operand, SHLO_ScalarTensor:$padding_value,
                       DenseI64ArrayAttr:$edge_padding_low,
                       DenseI64ArrayAttr:$edge_padding_high,
                       DenseI64ArrayAttr:$interior_padding);
  let results = (outs SHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` $padding_value `,`
        `low` `=` $edge_padding_low `,` `high` `=` $edge_padding_high `,`
        `interior` `=` $interior_padding
        attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_ReshapeOp
    : StableHLO_Op<"reshape", [SHLO_NoEffect, SHLO_SameElementType]> {
  let arguments = (ins SHLO_AnyTensor:$operand);
  let results = (outs SHLO_StaticOrBoundedTensor:$result);
  let assemblyFormat =
      "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def StableHLO_ReverseOp
    : SHLO_InferringOp<"reverse", [SHLO_NoEffect, SHLO_SameType,
                                   SHLO_KeepsQuantization]> {
  let arguments = (ins SHLO_Tensor:$operand, DenseI64ArrayAttr:$dimensions);
  let results = (outs SHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `dims` `=` $dimensions attr-dict
        `:` custom<SameOperandsAndResultType>(type($operand), type($result))
  }];
  let hasVerifier = 1;
}

def StableHLO_TransposeOp
    : SHLO_InferringOp<"transpose", [SHLO_NoEffect, SHLO_SameElementType,
                                     SHLO_Infer]> {
  let arguments = (ins SHLO_AnyTensor:$operand,
                       DenseI64ArrayAttr:$permutation);
  let results = (outs SHLO_AnyTensor:$result);
  let assemblyFormat = [{
    $operand `,` `dims` `=` $permutation
        attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_GetDimensionSizeOp
    : SHLO_InferringOp<"get_dimension_size", [Pure, SHLO_Infer]> {
  let arguments = (ins SHLO_AnyTensor:$operand, I64Attr:$dimension);
  let results = (outs SHLO_I32Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `dim` `=` $dimension
        attr-dict `:` functional-type(operands, results)
  }];
  let hasFolder = 1;
}

def StableHLO_SetDimensionSizeOp
    : SHLO_InferringOp<"set_dimension_size", [SHLO_NoEffect, SHLO_Infer]> {
  let arguments = (ins SHLO_Tensor:$operand, SHLO_I32Tensor:$size,
                       I64Attr:$dimension);
  let results = (outs SHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` $size `,` `dim` `=` $dimension
        attr-dict `:` functional-type(operands, results)
  }];
}

// Shapes given as values.

def StableHLO_DynamicBroadcastInDimOp
    : StableHLO_Op<"dynamic_broadcast_in_dim", [SHLO_NoEffect]> {
  let arguments = (ins SHLO_AnyTensor:$operand,
      SHLO_StaticDimTensor:$output_dimensions,
      DenseI64ArrayAttr:$broadcast_dimensions,
      OptionalAttr<DenseI64ArrayAttr>:$known_expanding_dimensions,
      OptionalAttr<DenseI64ArrayAttr>:$known_nonexpanding_dimensions);
  let results = (outs SHLO_AnyTensor:$result);
  let builders = [OpBuilder<(ins
      "::mlir::Type":$result_type, "::mlir::Value":$operand,
      "::mlir::Value":$output_dimensions,
      "::mlir::DenseI64ArrayAttr":$broadcast_dimensions), [{
    build($_builder, $_state, result_type, operand, output_dimensions,
          broadcast_dimensions, /*known_expanding_dimensions=*/{},
          /*known_nonexpanding_dimensions=*/{});
  }]>];
  let assemblyFormat = [{
    $operand `,` $output_dimensions `,` `dims` `=` $broadcast_dimensions
        attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_DynamicIotaOp : StableHLO_Op<"dynamic_iota", [SHLO_NoEffect]> {
  let arguments = (ins SHLO_StaticDimTensor:$output_shape,
                       I64Attr:$iota_dimension);
  let results = (outs SHLO_Tensor:$result);
  let assemblyFormat = [{
    $output_shape `,` `dim` `=` $iota_dimension
        attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_DynamicPadOp : StableHLO_Op<"dynamic_pad", [SHLO_NoEffect,
                                                        SHLO_KeepsQuantization]> {
  let arguments = (ins SHLO_Tensor:$operand, SHLO_ScalarTensor:$padding_value,
                       SHLO_StaticDimTensor:$edge_padding_low,
                       SHLO_StaticDimTensor:$edge_padding_high,
                       SHLO_StaticDimTensor:$interior_padding);
  let results = (outs SHLO_Tensor:$result);
  let assemblyFormat =
      "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def StableHLO_DynamicReshapeOp
    : StableHLO_Op<"dynamic_reshape", [SHLO_NoEffect]> {
  let arguments = (ins SHLO_AnyTensor:$operand,
                       SHLO_StaticDimTensor:$output_shape);
  let results = (outs SHLO_AnyTensor:$result);
  let assemblyFormat =
      "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

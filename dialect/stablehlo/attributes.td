//===- attributes.td - structured attributes and the dialect's own types --===//

#ifndef ALULA_DIALECT_STABLEHLO_ATTRIBUTES
#define ALULA_DIALECT_STABLEHLO_ATTRIBUTES

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/TensorEncoding.td"
include "dialect/stablehlo/enums.td"

def StableHLO_Token : TypeDef<Stablehlo_Dialect, "Token"> {
  let mnemonic = "token";
  let summary = "orders side effects";
}

def StableHLO_Future : TypeDef<Stablehlo_Dialect, "Future"> {
  let mnemonic = "future";
  let summary = "results of an async_start that async_done waits for";
  let parameters = (ins ArrayRefParameter<"::mlir::Type">:$types);
  let assemblyFormat = "`<` $types `>`";
  let genVerifyDecl = 1;
}

class SHLO_Attr<string name, string mnem, string text, list<Trait> traits = []>
    : AttrDef<Stablehlo_Dialect, name, traits> {
  let mnemonic = mnem;
  let summary = text;
}

def SHLO_Dims : ArrayRefParameter<"int64_t", "dimension numbers"> {
  let parser = "parseBracketedDims($_parser)";
  let printer = "printBracketedDims($_printer, $_self)";
}

def StableHLO_ScatterDimensionNumbers
    : SHLO_Attr<"ScatterDimensionNumbers", "scatter",
                "which dimension of scatter plays which part"> {
  let parameters = (ins SHLO_Dims:$updateWindowDims,
                        SHLO_Dims:$insertedWindowDims,
                        SHLO_Dims:$inputBatchingDims,
                        SHLO_Dims:$scatterIndicesBatchingDims,
                        SHLO_Dims:$scatterDimsToOperandDims,
                        "int64_t":$indexVectorDim);
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_GatherDimensionNumbers
    : SHLO_Attr<"GatherDimensionNumbers", "gather",
                "which dimension of gather plays which part"> {
  let parameters = (ins SHLO_Dims:$offsetDims,
                        SHLO_Dims:$collapsedSliceDims,
                        SHLO_Dims:$operandBatchingDims,
                        SHLO_Dims:$startIndicesBatchingDims,
                        SHLO_Dims:$startIndexMap,
                        "int64_t":$indexVectorDim);
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_DotAlgorithm
    : SHLO_Attr<"DotAlgorithm", "dot_algorithm",
                "the algorithm that a dot must use"> {
  let parameters = (ins "::mlir::Type":$lhsPrecisionType,
                        "::mlir::Type":$rhsPrecisionType,
                        "::mlir::Type":$accumulationType,
                        "int64_t":$lhsComponentCount,
                        "int64_t":$rhsComponentCount,
                        "int64_t":$numPrimitiveOperations,
                        "bool":$allowImpreciseAccumulation);
  let assemblyFormat = [{
    `<` `lhs_precision_type` `=` $lhsPrecisionType `,`
        `rhs_precision_type` `=` $rhsPrecisionType `,`
        `accumulation_type` `=` $accumulationType `,`
        `lhs_component_count` `=` $lhsComponentCount `,`
        `rhs_component_count` `=` $rhsComponentCount `,`
        `num_primitive_operations` `=` $numPrimitiveOperations `,`
        `allow_imprecise_accumulation` `=` $allowImpreciseAccumulation `>`
  }];
  let genVerifyDecl = 1;
}

def StableHLO_DotDimensionNumbers
    : SHLO_Attr<"DotDimensionNumbers", "dot",
                "batching and contracting dimensions of dot_general"> {
  let parameters = (ins SHLO_Dims:$lhsBatchingDimensions,
                        SHLO_Dims:$rhsBatchingDimensions,
                        SHLO_Dims:$lhsContractingDimensions,
                        SHLO_Dims:$rhsContractingDimensions);
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_ConvDimensionNumbers
    : SHLO_Attr<"ConvDimensionNumbers", "conv",
                "which dimension of convolution plays which part"> {
  let parameters = (ins "int64_t":$inputBatchDimension,
                        "int64_t":$inputFeatureDimension,
                        SHLO_Dims:$inputSpatialDimensions,
                        "int64_t":$kernelInputFeatureDimension,
                        "int64_t":$kernelOutputFeatureDimension,
                        SHLO_Dims:$kernelSpatialDimensions,
                        "int64_t":$outputBatchDimension,
                        "int64_t":$outputFeatureDimension,
                        SHLO_Dims:$outputSpatialDimensions);
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_OutputOperandAlias
    : SHLO_Attr<"OutputOperandAlias", "output_operand_alias",
                "an output of a custom call that shares an operand's memory"> {
  let parameters = (ins SHLO_Dims:$outputTupleIndices,
                        "int64_t":$operandIndex,
                        SHLO_Dims:$operandTupleIndices);
  let assemblyFormat = [{
    `<` `output_tuple_indices` `=` $outputTupleIndices `,`
        `operand_index` `=` $operandIndex `,`
        `operand_tuple_indices` `=` $operandTupleIndices `>`
  }];
}

def StableHLO_ChannelHandle
    : SHLO_Attr<"ChannelHandle", "channel_handle",
                "a communication channel: its number and kind"> {
  let parameters = (ins "int64_t":$handle, "int64_t":$type);
  let assemblyFormat = "`<` struct(params) `>`";
}

// The encoding of a ranked tensor type: an upper bound for each `?` dimension
// (kDynamic where there is none).
def StableHLO_TypeExtensions
    : SHLO_Attr<"TypeExtensions", "bounds", "bounds of dynamic dimensions",
                [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let parameters = (ins ArrayRefParameter<"int64_t">:$bounds);
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_ResultAccuracyAttr
    : SHLO_Attr<"ResultAccuracy", "result_accuracy",
                "the accuracy asked of a transcendental function"> {
  let parameters = (ins "::llvm::APFloat":$atol, "::llvm::APFloat":$rtol,
                        "int64_t":$ulps,
                        "::mlir::stablehlo::ResultAccuracyModeAttr":$mode);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let constBuilderCall =
      "::mlir::stablehlo::ResultAccuracyAttr::get($_builder.getContext(), $0)";
  let builders = [
    AttrBuilder<(ins "::mlir::stablehlo::ResultAccuracyMode":$mode)>,
    AttrBuilder<(ins "::llvm::APFloat":$atol, "::llvm::APFloat":$rtol,
                     "int64_t":$ulps)>,
  ];
}

def StableHLO_SubAxisInfo
    : SHLO_Attr<"SubAxisInfo", "sub_axis_info", "which part of a mesh axis"> {
  let parameters = (ins "int64_t":$pre_size, "int64_t":$size);
  let assemblyFormat = "`(` $pre_size `)` `` $size";
}

def StableHLO_AxisRef
    : SHLO_Attr<"AxisRef", "axis_ref", "a mesh axis or a part of one"> {
  let parameters = (ins StringRefParameter<"name of the axis">:$name,
                        OptionalParameter<"SubAxisInfoAttr">:$sub_axis_info);
  let assemblyFormat = "`<` struct(params) `>`";
}

def StableHLO_MeshAxis : SHLO_Attr<"MeshAxis", "mesh_axis", "one mesh axis"> {
  let parameters = (ins StringRefParameter<"name">:$name, "int64_t":$size);
  let assemblyFormat = "`<` struct(params) `>`";
}

def StableHLO_Mesh : SHLO_Attr<"Mesh", "mesh", "devices arranged in axes"> {
  let parameters = (ins
      ArrayRefParameter<"::mlir::stablehlo::MeshAxisAttr">:$axes,
      OptionalParameter<"::mlir::DenseIntElementsAttr">:$device_ids);
  let assemblyFormat = [{
    `<` `axes` `` `=` `` `[` $axes `]`
        (`,` `device_ids` `` `=` `` $device_ids^)? `>`
  }];
}

def StableHLO_ReplicaGroupMeshAxes
    : SHLO_Attr<"ReplicaGroupMeshAxes", "replica_group_mesh_axes",
                "replica groups said by mesh axes"> {
  let parameters = (ins "::mlir::Attribute":$mesh, "::mlir::ArrayAttr":$axes);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def StableHLO_ReplicaGroups
    : AnyAttrOf<[I64ElementsAttr, StableHLO_ReplicaGroupMeshAxes]>;

class SHLO_IndexVectorAttr<string text> : Attr<And<[
    IndexElementsAttr.predicate,
    CPred<"::llvm::cast<::mlir::DenseIntElementsAttr>($_self)"
          ".getType().getRank() == 1">]>, text> {
  let storageType = IndexElementsAttr.storageType;
  let returnType = IndexElementsAttr.returnType;
  let convertFromStorage = IndexElementsAttr.convertFromStorage;
}
def StableHLO_LayoutAttr
    : SHLO_IndexVectorAttr<"a 1D tensor of index type (layout)">;
def StableHLO_LayoutsAttr
    : TypedArrayAttrBase<StableHLO_LayoutAttr, "array of layouts">;
def StableHLO_TilingAttr
    : TypedArrayAttrBase<SHLO_IndexVectorAttr<"a tile">, "array of tiles">;
def StableHLO_TilingsAttr
    : TypedArrayAttrBase<StableHLO_TilingAttr, "array of tilings">;
def StableHLO_SymbolsAttr
    : TypedArrayAttrBase<FlatSymbolRefAttr, "array of symbol names"> {
  let constBuilderCall = "$_builder.getArrayAttr({})";
}
def StableHLO_AliasesAttr
    : TypedArrayAttrBase<StableHLO_OutputOperandAlias, "array of aliases"> {
  let constBuilderCall = "$_builder.getArrayAttr({})";
}

#endif

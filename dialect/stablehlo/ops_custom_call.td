//===- ops_custom_call.td - calls out of the language

include "dialect/stablehlo/traits.td"

def StableHLO_CustomCallOp
    : StableHLO_Op<"custom_call", [
          DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let arguments = (ins Variadic<SHLO_CustomCallValue>:$inputs,
      StrAttr:$call_target_name,
      DefaultValuedOptionalAttr<BoolAttr, "false">:$has_side_effect,
      OptionalAttr<AnyAttrOf<[StrAttr, DictionaryAttr]>>:$backend_config,
      DefaultValuedOptionalAttr<StableHLO_CustomCallApiVersionAttr,
          "::mlir::stablehlo::CustomCallApiVersion::API_VERSION_ORIGINAL">
          :$api_version,
      DefaultValuedOptionalAttr<StableHLO_SymbolsAttr, "{}">
          :$called_computations,
      OptionalAttr<StableHLO_LayoutsAttr>:$operand_layouts,
      OptionalAttr<StableHLO_LayoutsAttr>:$result_layouts,
      DefaultValuedOptionalAttr<StableHLO_AliasesAttr, "{}">
          :$output_operand_aliases,
      OptionalAttr<StableHLO_TilingsAttr>:$result_tilings);
  let results = (outs Variadic<SHLO_CustomCallValue>:$results);
  let assemblyFormat = [{
    custom<CustomCallTarget>($call_target_name) `(` $inputs `)`
        attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_CompositeOp
    : StableHLO_Op<"composite", [
          DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let arguments = (ins Variadic<SHLO_AnyTensorTokenOrTuple>:$inputs,
      StrAttr:$name,
      DefaultValuedOptionalAttr<DictionaryAttr, "{}">:$composite_attributes,
      FlatSymbolRefAttr:$decomposition,
      DefaultValuedOptionalAttr<I32Attr, "0">:$version);
  let regions = (region VariadicRegion<AnyRegion>:$composite_regions);
  let results = (outs Variadic<SHLO_AnyTensorTokenOrTuple>:$results);
  let assemblyFormat = [{
    $name operands (` ` `(` $composite_regions^ `)`)? attr-dict
        `:` functional-type(operands, results)
  }];
}

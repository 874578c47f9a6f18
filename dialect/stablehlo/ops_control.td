//===- ops_control.td - control flow, tuples, ordering

include "dialect/stablehlo/traits.td"

def StableHLO_ReturnOp : StableHLO_Op<"return", [Pure, Terminator]> {
  let arguments = (ins Variadic<SHLO_AnyTensorTokenOrBuffer>:$results);
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, {}); }]>];
  let assemblyFormat = "$results attr-dict (`:` type($results)^)?";
}

def StableHLO_IfOp
    : SHLO_InferringOp<"if", [RecursiveMemoryEffects, RecursivelySpeculatable,
                              SingleBlockImplicitTerminator<"ReturnOp">,
                              SHLO_Infer]> {
  let arguments = (ins SHLO_PredTensor:$pred);
  let regions = (region SizedRegion<1>:$true_branch,
                        SizedRegion<1>:$false_branch);
  let results = (outs Variadic<SHLO_AnyTensorOrToken>:$results);
}

def StableHLO_CaseOp
    : SHLO_InferringOp<"case", [RecursiveMemoryEffects,
                                RecursivelySpeculatable,
                                SingleBlockImplicitTerminator<"ReturnOp">,
                                SHLO_Infer]> {
  let arguments = (ins SHLO_I32Tensor:$index);
  let regions = (region VariadicRegion<SizedRegion<1>>:$branches);
  let results = (outs Variadic<SHLO_AnyTensorOrToken>:$results);
}

def StableHLO_WhileOp
    : SHLO_InferringOp<"while", [
          RecursiveMemoryEffects, RecursivelySpeculatable,
          SingleBlockImplicitTerminator<"ReturnOp">, SHLO_Infer,
          DeclareOpInterfaceMethods<OpAsmOpInterface,
                                    ["getAsmBlockArgumentNames"]>]> {
  let arguments = (ins Variadic<SHLO_AnyTensorTokenOrBuffer>:$operand);
  let regions = (region SizedRegion<1>:$cond, SizedRegion<1>:$body);
  let results = (outs Variadic<SHLO_AnyTensorTokenOrBuffer>:$results);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def StableHLO_OptimizationBarrierOp
    : SHLO_InferringOp<"optimization_barrier", [Pure, SHLO_PairwiseSameType,
                                                SHLO_Infer]> {
  let arguments = (ins Variadic<SHLO_TensorOrToken>:$operand);
  let results = (outs Variadic<SHLO_TensorOrToken>:$result);
  let assemblyFormat = [{
    attr-dict ($operand^
        `:` custom<PairwiseOpType>(type($operand), type($result))):(`(` `)`)?
  }];
}

def StableHLO_TupleOp : SHLO_InferringOp<"tuple", [Pure, SHLO_Infer]> {
  let arguments = (ins Variadic<SHLO_AnyValue>:$val);
  let results = (outs SHLO_Tuple:$result);
  let assemblyFormat = [{
    $val attr-dict `:` custom<TupleOpType>(type($val), type($result))
  }];
}

def StableHLO_GetTupleElementOp
    : SHLO_InferringOp<"get_tuple_element", [Pure, SHLO_Infer]> {
  let arguments = (ins SHLO_Tuple:$operand, I32Attr:$index);
  let results = (outs SHLO_AnyValue:$result);
  let assemblyFormat = [{
    $operand `[` $index `]` attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_AfterAllOp : SHLO_InferringOp<"after_all", [Pure, SHLO_Infer]> {
  let arguments = (ins Variadic<SHLO_Token>:$inputs);
  let results = (outs SHLO_Token:$result);
  let assemblyFormat = [{
    $inputs attr-dict `:` custom<VariadicSameOperandsAndResultType>(
        ref($inputs), type($inputs), type($result))
  }];
}

def StableHLO_CreateTokenOp
    : SHLO_InferringOp<"create_token", [Pure, SHLO_Infer]> {
  let results = (outs SHLO_Token:$output);
  let assemblyFormat = "attr-dict `:` type(results)";
}

def StableHLO_AsyncStartOp
    : SHLO_InferringOp<"async_start", [
          SingleBlockImplicitTerminator<"ReturnOp">, SHLO_RegionEffects,
          IsolatedFromAbove, SHLO_Infer]> {
  let arguments = (ins Variadic<SHLO_Tensor>:$operands);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs SHLO_Future:$result);
}

def StableHLO_AsyncDoneOp : SHLO_InferringOp<"async_done", [SHLO_Infer]> {
  let arguments = (ins SHLO_Future:$operand);
  let results = (outs Variadic<SHLO_Tensor>:$results);
}

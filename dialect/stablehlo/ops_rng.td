//===- ops_rng.td - random numbers

include "dialect/stablehlo/traits.td"

def StableHLO_RngOp : SHLO_InferringOp<"rng", [SHLO_Infer]> {
  let arguments = (ins 0DTensorOf<[SHLO_I1, SHLO_Int, SHLO_Float]>:$a,
                       0DTensorOf<[SHLO_I1, SHLO_Int, SHLO_Float]>:$b,
                       SHLO_StaticDimTensor:$shape,
                       StableHLO_RngDistributionAttr:$rng_distribution);
  let results = (outs SHLO_PredIntOrFloatTensor:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $shape `,` `distribution` `=` `` $rng_distribution
        attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_RngBitGeneratorOp
    : StableHLO_Op<"rng_bit_generator", [SHLO_NoEffect]> {
  let arguments = (ins StableHLO_RngAlgorithmAttr:$rng_algorithm,
                       SHLO_IntOrFloatTensor:$initial_state);
  let results = (outs SHLO_IntOrFloatTensor:$output_state,
                      SHLO_StaticIntOrFloatTensor:$output);
  let assemblyFormat = [{
    $initial_state `,` `algorithm` `=` `` $rng_algorithm
        attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

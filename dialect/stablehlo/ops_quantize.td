//===- ops_quantize.td - between real and quantized numbers

include "dialect/stablehlo/traits.td"

class SHLO_QuantizeOp<string mnemonic, Type operand, Type result_>
    : StableHLO_Op<mnemonic, [SHLO_SameShape, Elementwise, SHLO_NoEffect]> {
  let arguments = (ins operand:$operand);
  let results = (outs result_:$result);
  let assemblyFormat = [{
    $operand attr-dict
        `:` custom<SameOperandsAndResultType>(type($operand), type($result))
  }];
  let hasVerifier = 1;
}

def StableHLO_UniformQuantizeOp
    : SHLO_QuantizeOp<"uniform_quantize", SHLO_FloatOrAnyQuantTensor,
                      SHLO_AnyQuantTensor>;
def StableHLO_UniformDequantizeOp
    : SHLO_QuantizeOp<"uniform_dequantize", SHLO_AnyQuantTensor,
                      SHLO_FloatTensor>;

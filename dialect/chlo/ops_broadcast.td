//===- ops_broadcast.td - arithmetic that broadcasts its operands
//
// Without broadcast_dimensions the shapes are aligned at their last
// dimensions; with it, dimension i of the operand of lower rank goes to
// dimension broadcast_dimensions[i] of the other.

include "dialect/chlo/traits.td"

class CHLO_Broadcast<string mnemonic, Type operand = SHLO_AnyTensor,
                     Type result_ = operand,
                     Trait infer = CHLO_InferBroadcastTrait>
    : CHLO_InferringOp<mnemonic, [Pure, CHLO_InferBy<infer>]> {
  let arguments = (ins operand:$lhs, operand:$rhs,
                       OptionalAttr<DenseI64ArrayAttr>:$broadcast_dimensions);
  let results = (outs result_:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict
        `:` `(` type($lhs) `,` type($rhs) `)` `->` type($result)
  }];
}

def CHLO_BroadcastAddOp : CHLO_Broadcast<"broadcast_add">;
def CHLO_BroadcastAndOp : CHLO_Broadcast<"broadcast_and",
                                         SHLO_PredOrIntTensor>;
def CHLO_BroadcastAtan2Op : CHLO_Broadcast<"broadcast_atan2">;
def CHLO_BroadcastComplexOp
    : CHLO_Broadcast<"broadcast_complex", SHLO_F32OrF64Tensor,
                     SHLO_ComplexTensor, CHLO_InferBroadcastComplexTrait>;
def CHLO_BroadcastDivOp : CHLO_Broadcast<"broadcast_divide">;
def CHLO_BroadcastMaxOp : CHLO_Broadcast<"broadcast_maximum">;
def CHLO_BroadcastMinOp : CHLO_Broadcast<"broadcast_minimum">;
def CHLO_BroadcastMulOp : CHLO_Broadcast<"broadcast_multiply">;
def CHLO_BroadcastNextAfterOp : CHLO_Broadcast<"broadcast_next_after",
                                               SHLO_FloatTensor>;
def CHLO_BroadcastOrOp : CHLO_Broadcast<"broadcast_or", SHLO_PredOrIntTensor>;
def CHLO_BroadcastPolygammaOp : CHLO_Broadcast<"broadcast_polygamma",
                                               SHLO_FloatTensor>;
def CHLO_BroadcastPowOp : CHLO_Broadcast<"broadcast_power">;
def CHLO_BroadcastRemOp : CHLO_Broadcast<"broadcast_remainder">;
def CHLO_BroadcastShiftLeftOp : CHLO_Broadcast<"broadcast_shift_left">;
def CHLO_BroadcastShiftRightArithmeticOp
    : CHLO_Broadcast<"broadcast_shift_right_arithmetic">;
def CHLO_BroadcastShiftRightLogicalOp
    : CHLO_Broadcast<"broadcast_shift_right_logical">;
def CHLO_BroadcastSubOp : CHLO_Broadcast<"broadcast_subtract">;
def CHLO_BroadcastXorOp : CHLO_Broadcast<"broadcast_xor",
                                         SHLO_PredOrIntTensor>;
def CHLO_BroadcastZetaOp : CHLO_Broadcast<"broadcast_zeta", SHLO_FloatTensor>;

def CHLO_BroadcastCompareOp
    : CHLO_Broadcast<"broadcast_compare", SHLO_AnyTensor, SHLO_PredTensor,
                     CHLO_InferBroadcastPredTrait> {
  let arguments = (ins SHLO_AnyTensor:$lhs, SHLO_AnyTensor:$rhs,
      OptionalAttr<DenseI64ArrayAttr>:$broadcast_dimensions,
      CHLO_ComparisonDirectionAttr:$comparison_direction,
      OptionalAttr<CHLO_ComparisonTypeAttr>:$compare_type);
}

def CHLO_BroadcastSelectOp
    : CHLO_InferringOp<"broadcast_select", [Pure, SHLO_Infer]> {
  let arguments = (ins SHLO_PredTensor:$pred, SHLO_AnyTensor:$on_true,
                       SHLO_AnyTensor:$on_false);
  let results = (outs SHLO_AnyTensor:$result);
  let assemblyFormat = [{
    $pred `,` $on_true `,` $on_false attr-dict `:` `(` type($pred) `,`
        type($on_true) `,` type($on_false) `)` `->` type($result)
  }];
}

//===- traits.td - attributes and rules that many ops share ---------------===//

#ifndef ALULA_DIALECT_CHLO_TRAITS
#define ALULA_DIALECT_CHLO_TRAITS

include "dialect/chlo/enums.td"
include "dialect/stablehlo/traits.td"

class CHLO_Op<string mnemonic, list<Trait> traits = []>
    : Op<Chlo_Dialect, mnemonic, traits>;

// Inferred and written types may differ in `?` and quantization.
class CHLO_InferringOp<string mnemonic, list<Trait> traits = []>
    : CHLO_Op<mnemonic, traits> {
  code compatible = [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange l,
                                        ::mlir::TypeRange r) {
      return ::mlir::stablehlo::areCompatibleTypes(l, r);
    }
  }];
  let extraClassDeclaration = compatible;
}

class CHLO_Trait<string name> : NativeOpTrait<name> {
  let cppNamespace = "::mlir::chlo::OpTrait";
}

// The result has the broadcast shape of the operands; its element type is
// the operands', i1, or the complex type of the operands'.
def CHLO_InferBroadcastTrait : CHLO_Trait<"InferBroadcastType">;
def CHLO_InferBroadcastPredTrait : CHLO_Trait<"InferBroadcastPredType">;
def CHLO_InferBroadcastComplexTrait : CHLO_Trait<"InferBroadcastComplexType">;
// The operand's shape with elements of i1.
def CHLO_InferPredTrait : CHLO_Trait<"InferPredType">;
class CHLO_InferBy<Trait trait> : TraitList<[InferTypeOpInterface, trait]>;

def CHLO_Dims : OptionalArrayRefParameter<"int64_t"> {
  let parser = "::mlir::stablehlo::parseBracketedDims($_parser)";
  let printer = "::mlir::stablehlo::printBracketedDims($_printer, $_self)";
}

def CHLO_RaggedDotDimensionNumbers
    : AttrDef<Chlo_Dialect, "RaggedDotDimensionNumbers"> {
  let mnemonic = "ragged_dot";
  let summary = "which dimension of ragged_dot plays which part";
  let parameters = (ins CHLO_Dims:$lhs_batching_dimensions,
                        CHLO_Dims:$rhs_batching_dimensions,
                        CHLO_Dims:$lhs_contracting_dimensions,
                        CHLO_Dims:$rhs_contracting_dimensions,
                        CHLO_Dims:$lhs_ragged_dimensions,
                        CHLO_Dims:$rhs_group_dimensions);
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif

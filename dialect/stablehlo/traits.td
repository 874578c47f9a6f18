//===- traits.td - rules that many ops share -------------------------------===//

#ifndef ALULA_DIALECT_STABLEHLO_TRAITS
#define ALULA_DIALECT_STABLEHLO_TRAITS

include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "dialect/stablehlo/attributes.td"
include "dialect/stablehlo/type_constraints.td"

class SHLO_Trait<string name> : NativeOpTrait<name> {
  let cppNamespace = "::mlir::stablehlo::OpTrait";
}

// Shapes of all operands and results agree where both are known.
def SHLO_SameShape : SHLO_Trait<"CompatibleShapes">;
// Element types of all operands and results agree; quantized ones may differ
// in their scales.
def SHLO_SameElementType : SHLO_Trait<"CompatibleElementTypes">;
// The same among the operands alone.
def SHLO_SameOperandElementType : SHLO_Trait<"CompatibleOperandElementTypes">;
// Operand i and result i have the same type, or the same element type.
def SHLO_PairwiseSameType : SHLO_Trait<"PairwiseSameType">;
def SHLO_PairwiseSameElementType : SHLO_Trait<"PairwiseSameElementType">;

// May run early only if every shape is static: with a `?` a mismatch that
// execution would have met first could be hoisted.
def SHLO_SpeculatableIfStaticTrait : SHLO_Trait<"SpeculatableIfStatic">;
def SHLO_SpeculatableIfStatic
    : TraitList<[ConditionallySpeculatable, SHLO_SpeculatableIfStaticTrait]>;
def SHLO_NoEffect : TraitList<[NoMemoryEffect, SHLO_SpeculatableIfStatic]>;
// For ops with a region: the region's ops decide as well.
def SHLO_RegionSpeculatableIfStaticTrait
    : SHLO_Trait<"RegionSpeculatableIfStatic">;
def SHLO_RegionEffects
    : TraitList<[ConditionallySpeculatable, RecursiveMemoryEffects,
                 SHLO_RegionSpeculatableIfStaticTrait]>;

// Result types follow from operands and attributes.
def SHLO_Infer : DeclareOpInterfaceMethods<InferTypeOpInterface>;
// The result's type is the most specific of the operands'.
def SHLO_InferSameTypeTrait : SHLO_Trait<"InferSameType">;
def SHLO_SameType
    : TraitList<[InferTypeOpInterface, SHLO_InferSameTypeTrait,
                 SHLO_SameShape, SHLO_SameElementType]>;

class SHLO_Region : TraitList<[SingleBlockImplicitTerminator<"ReturnOp">]>;

// Quantized operands and results have the element type of the first operand,
// with its scales and zero points: elements move but are not computed with.
def SHLO_KeepsQuantization : SHLO_Trait<"KeepsQuantization">;

// Compares the types of the results with the inferred ones: dynamic dimensions,
// bounds and quantization parameters may differ. It stands in for the check of
// InferTypeOpInterface, which would add a second error to the one that tells
// what is wrong.
def SHLO_InferredResultsTrait : SHLO_Trait<"InferredResults">;
class SHLO_InferringOp<string mnemonic, list<Trait> traits = []>
    : StableHLO_Op<mnemonic, traits # [SHLO_InferredResultsTrait]> {
  code refines = [{
    static ::llvm::LogicalResult refineReturnTypes(
        ::mlir::MLIRContext *, std::optional<::mlir::Location>,
        ::mlir::ValueRange, ::mlir::DictionaryAttr, ::mlir::OpaqueProperties,
        ::mlir::RegionRange, ::llvm::SmallVectorImpl<::mlir::Type> &) {
      return ::mlir::success();
    }
  }];
  code compatible = [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange l,
                                        ::mlir::TypeRange r) {
      return ::mlir::stablehlo::areCompatibleTypes(l, r);
    }
  }];
  let extraClassDeclaration = refines # compatible;
}

#endif

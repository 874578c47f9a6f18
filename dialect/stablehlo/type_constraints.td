//===- type_constraints.td - the types that operands and results may have -===//
//
// Names follow the specification: a tensor is ranked; "PerAxis" is quantized
// per axis or in sub-channels.

#ifndef ALULA_DIALECT_STABLEHLO_TYPE_CONSTRAINTS
#define ALULA_DIALECT_STABLEHLO_TYPE_CONSTRAINTS

include "dialect/stablehlo/dialect.td"

class SHLO_Pred<string fn> : CPred<"::mlir::stablehlo::" # fn # "($_self)">;
class SHLO_Element<string fn, string text> : Type<SHLO_Pred<fn>, text>;

def SHLO_I1 : TypeAlias<I1, "bool">;
def SHLO_SInt : SHLO_Element<"isSignedIntElement",
                             "2/4/8/16/32/64-bit signless integer">;
def SHLO_UInt : SHLO_Element<"isUnsignedIntElement",
                             "2/4/8/16/32/64-bit unsigned integer">;
def SHLO_Int : AnyTypeOf<[SHLO_SInt, SHLO_UInt],
                         "2/4/8/16/32/64-bit integer">;
def SHLO_Float : SHLO_Element<"isFloatElement", "4/6/8/16/32/64-bit float">;
def SHLO_Complex : SHLO_Element<"isComplexElement",
                                "complex of 32/64-bit float">;
def SHLO_Quant : SHLO_Element<"isPerTensorQuantizedElement",
                              "per-tensor quantized integer">;
def SHLO_AnyQuant : SHLO_Element<"isQuantizedElement", "quantized integer">;
def SHLO_AxisQuant : SHLO_Element<"isPerAxisQuantizedElement",
                                  "per-axis quantized integer">;

def SHLO_HasValidQuantizedAxis
    : SHLO_Pred<"hasValidQuantizedAxis">;
class SHLO_TensorOf<list<Type> elements>
    : RankedTensorOf<elements, [SHLO_HasValidQuantizedAxis]>;

def SHLO_Token : Type<SHLO_Pred<"isToken">, "token">;
def SHLO_Future : Type<SHLO_Pred<"isFuture">, "future">;

def SHLO_IntTensor : RankedTensorOf<[SHLO_Int]>;
def SHLO_ScalarIntTensor : 0DTensorOf<[SHLO_Int]>;
def SHLO_FloatTensor : RankedTensorOf<[SHLO_Float]>;
def SHLO_F32OrF64Tensor : RankedTensorOf<[F32, F64]>;
def SHLO_PredTensor : RankedTensorOf<[SHLO_I1]>;
def SHLO_ComplexTensor : RankedTensorOf<[SHLO_Complex]>;
def SHLO_I32Tensor : RankedTensorOf<[I32]>;
def SHLO_UI32Tensor : RankedTensorOf<[UI32]>;
def SHLO_IntOrFloatTensor : RankedTensorOf<[SHLO_Int, SHLO_Float]>;
def SHLO_PredOrIntTensor : RankedTensorOf<[SHLO_I1, SHLO_Int]>;
def SHLO_PredIntOrFloatTensor
    : RankedTensorOf<[SHLO_I1, SHLO_Int, SHLO_Float]>;
def SHLO_FloatOrComplexTensor : RankedTensorOf<[SHLO_Float, SHLO_Complex]>;
def SHLO_FloatOrQuantTensor : RankedTensorOf<[SHLO_Float, SHLO_Quant]>;
def SHLO_Float1DTensor : 1DTensorOf<[SHLO_Float, SHLO_Quant]>;
def SHLO_FloatComplexOrQuantTensor
    : RankedTensorOf<[SHLO_Float, SHLO_Complex, SHLO_Quant]>;
def SHLO_IntFloatComplexOrQuantTensor
    : RankedTensorOf<[SHLO_Int, SHLO_Float, SHLO_Complex, SHLO_Quant]>;
def SHLO_AbsOperand
    : RankedTensorOf<[SHLO_SInt, SHLO_Float, SHLO_Complex, SHLO_Quant]>;
def SHLO_AbsResult : RankedTensorOf<[SHLO_SInt, SHLO_Float, SHLO_Quant]>;
def SHLO_PlainTensor
    : RankedTensorOf<[SHLO_Float, SHLO_I1, SHLO_Int, SHLO_Complex]>;
def SHLO_Tensor
    : RankedTensorOf<[SHLO_Float, SHLO_I1, SHLO_Int, SHLO_Complex, SHLO_Quant]>;
def SHLO_AnyTensor : SHLO_TensorOf<[SHLO_Float, SHLO_I1, SHLO_Int,
                                    SHLO_Complex, SHLO_AnyQuant]>;
def SHLO_AnyQuantTensor : SHLO_TensorOf<[SHLO_AnyQuant]>;
def SHLO_AxisQuantTensor : SHLO_TensorOf<[SHLO_AxisQuant]>;
def SHLO_FloatOrAnyQuantTensor
    : SHLO_TensorOf<[SHLO_Float, SHLO_AnyQuant]>;
def SHLO_ScalarTensor
    : 0DTensorOf<[SHLO_Float, SHLO_I1, SHLO_Int, SHLO_Complex, SHLO_Quant]>;

def SHLO_IsStaticOrBounded : SHLO_Pred<"isStaticOrBounded">;
def SHLO_StaticTensor : RankedTensorOf<
    [SHLO_Float, SHLO_I1, SHLO_Int, SHLO_Complex, SHLO_AnyQuant],
    [SHLO_HasValidQuantizedAxis, HasStaticShapePred],
    "statically shaped tensor">;
def SHLO_StaticOrBoundedTensor : RankedTensorOf<
    [SHLO_Float, SHLO_I1, SHLO_Int, SHLO_Complex, SHLO_AnyQuant],
    [SHLO_HasValidQuantizedAxis, SHLO_IsStaticOrBounded],
    "statically shaped tensor or one with a single, bounded dynamic dimension">;
def SHLO_StaticNumberTensor
    : StaticShapeTensorOf<[SHLO_Int, SHLO_Float, SHLO_Complex, SHLO_Quant]>;
def SHLO_StaticIntOrFloatTensor
    : StaticShapeTensorOf<[SHLO_Int, SHLO_Float]>;

// A shape as a value.
def SHLO_Dim : AnyTypeOf<[Index, SHLO_Int]>;
def SHLO_DimTensor : 1DTensorOf<[SHLO_Dim]>;
def SHLO_StaticDimTensor
    : RankedTensorOf<[SHLO_Dim], [HasStaticShapePred, HasAnyRankOfPred<[1]>],
                     "statically shaped 1-dimensional tensor">;
def SHLO_Static1DIntTensor
    : RankedTensorOf<[SHLO_Int], [HasStaticShapePred, HasAnyRankOfPred<[1]>],
                     "statically shaped 1-dimensional integer tensor">;
def SHLO_Static2DIntTensor
    : RankedTensorOf<[SHLO_Int], [HasStaticShapePred, HasAnyRankOfPred<[2]>],
                     "statically shaped 2-dimensional integer tensor">;
def SHLO_IndexTensor : RankedTensorOf<[AnyInteger, Index]>;

// Values that are more than one tensor. Buffers are memrefs of the same
// elements; they appear in programs that pin memory across async calls.
def SHLO_Buffer
    : MemRefOf<[SHLO_Float, SHLO_I1, SHLO_Int, SHLO_Complex, SHLO_Quant]>;
def SHLO_Tuple : NestedTupleOf<[SHLO_AnyTensor, SHLO_Buffer, SHLO_Token]>;
def SHLO_TensorOrToken : AnyTypeOf<[SHLO_Tensor, SHLO_Token]>;
def SHLO_AnyTensorOrToken : AnyTypeOf<[SHLO_AnyTensor, SHLO_Token]>;
def SHLO_AnyTensorTokenOrBuffer
    : AnyTypeOf<[SHLO_AnyTensor, SHLO_Token, SHLO_Buffer]>;
def SHLO_AnyTensorTokenOrTuple
    : AnyTypeOf<[SHLO_AnyTensor, SHLO_Token, SHLO_Tuple]>;
def SHLO_AnyValue
    : AnyTypeOf<[SHLO_AnyTensor, SHLO_Token, SHLO_Tuple, SHLO_Buffer]>;
def SHLO_StaticTensorOrToken : AnyTypeOf<[SHLO_StaticTensor, SHLO_Token]>;

// custom_call alone also takes unranked tensors.
def SHLO_UnrankedOkTensor
    : TensorOf<[SHLO_Float, SHLO_I1, SHLO_Int, SHLO_Complex, SHLO_AnyQuant],
               [SHLO_HasValidQuantizedAxis]>;
def SHLO_CustomCallTuple
    : NestedTupleOf<[SHLO_UnrankedOkTensor, SHLO_Buffer, SHLO_Token]>;
def SHLO_CustomCallValue
    : AnyTypeOf<[SHLO_UnrankedOkTensor, SHLO_Buffer, SHLO_Token,
                 SHLO_CustomCallTuple, SHLO_Future]>;

#endif

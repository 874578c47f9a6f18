//===- enums.td - enumerations --------------------------------------------===//

#ifndef ALULA_DIALECT_CHLO_ENUMS
#define ALULA_DIALECT_CHLO_ENUMS

include "mlir/IR/EnumAttr.td"
include "dialect/chlo/dialect.td"

class CHLO_Enum<string name, string text, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, text, cases> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::mlir::chlo";
}

def CHLO_ComparisonDirection
    : CHLO_Enum<"ComparisonDirection", "which comparison to make", [
    I32EnumAttrCase<"EQ", 0>, I32EnumAttrCase<"NE", 1>,
    I32EnumAttrCase<"GE", 2>, I32EnumAttrCase<"GT", 3>,
    I32EnumAttrCase<"LE", 4>, I32EnumAttrCase<"LT", 5>]>;
def CHLO_ComparisonDirectionAttr
    : EnumAttr<Chlo_Dialect, CHLO_ComparisonDirection,
               "comparison_direction">;

def CHLO_ComparisonType
    : CHLO_Enum<"ComparisonType", "how elements are compared", [
    I32EnumAttrCase<"NOTYPE", 0>, I32EnumAttrCase<"FLOAT", 1>,
    I32EnumAttrCase<"TOTALORDER", 2>, I32EnumAttrCase<"SIGNED", 3>,
    I32EnumAttrCase<"UNSIGNED", 4>]>;
def CHLO_ComparisonTypeAttr
    : EnumAttr<Chlo_Dialect, CHLO_ComparisonType, "comparison_type">;

def CHLO_Precision : CHLO_Enum<"Precision", "operand precision", [
    I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"HIGH", 1>,
    I32EnumAttrCase<"HIGHEST", 2>]>;
def CHLO_PrecisionAttr : EnumAttr<Chlo_Dialect, CHLO_Precision, "precision">;
def CHLO_PrecisionConfigAttr
    : TypedArrayAttrBase<CHLO_PrecisionAttr, "precision of each operand">;

#endif

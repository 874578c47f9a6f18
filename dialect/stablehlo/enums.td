//===- enums.td - enumerations; the numbers are those of the wire format --===//

#ifndef ALULA_DIALECT_STABLEHLO_ENUMS
#define ALULA_DIALECT_STABLEHLO_ENUMS

include "mlir/IR/EnumAttr.td"
include "dialect/stablehlo/dialect.td"

class SHLO_Case<string symbol, int value> : I32EnumAttrCase<symbol, value>;

class SHLO_Enum<string name, string text, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, text, cases> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::mlir::stablehlo";
}

def StableHLO_Precision : SHLO_Enum<"Precision", "operand precision", [
    SHLO_Case<"DEFAULT", 0>, SHLO_Case<"HIGH", 1>, SHLO_Case<"HIGHEST", 2>]>;
def StableHLO_PrecisionAttr
    : EnumAttr<Stablehlo_Dialect, StableHLO_Precision, "precision">;
def StableHLO_PrecisionConfigAttr
    : TypedArrayAttrBase<StableHLO_PrecisionAttr, "precision of each operand">;

def StableHLO_ResultAccuracyMode
    : SHLO_Enum<"ResultAccuracyMode", "how result accuracy is asked for", [
    SHLO_Case<"DEFAULT", 0>, SHLO_Case<"HIGHEST", 1>,
    SHLO_Case<"TOLERANCE", 2>]>;
def StableHLO_ResultAccuracyModeAttr
    : EnumAttr<Stablehlo_Dialect, StableHLO_ResultAccuracyMode,
               "result_accuracy_mode"> {
  let assemblyFormat = "`<` $value `>`";
}

def StableHLO_FftType : SHLO_Enum<"FftType", "kind of Fourier transform", [
    SHLO_Case<"FFT", 0>, SHLO_Case<"IFFT", 1>, SHLO_Case<"RFFT", 2>,
    SHLO_Case<"IRFFT", 3>]>;
def StableHLO_FftTypeAttr
    : EnumAttr<Stablehlo_Dialect, StableHLO_FftType, "fft_type">;

def StableHLO_ComparisonDirection
    : SHLO_Enum<"ComparisonDirection", "which comparison", [
    SHLO_Case<"EQ", 0>, SHLO_Case<"NE", 1>, SHLO_Case<"GE", 2>,
    SHLO_Case<"GT", 3>, SHLO_Case<"LE", 4>, SHLO_Case<"LT", 5>]>;
def StableHLO_ComparisonDirectionAttr
    : EnumAttr<Stablehlo_Dialect, StableHLO_ComparisonDirection,
               "comparison_direction">;

def StableHLO_ComparisonType
    : SHLO_Enum<"ComparisonType", "how values are compared", [
    SHLO_Case<"NOTYPE", 0>, SHLO_Case<"FLOAT", 1>,
    SHLO_Case<"TOTALORDER", 2>, SHLO_Case<"SIGNED", 3>,
    SHLO_Case<"UNSIGNED", 4>]>;
def StableHLO_ComparisonTypeAttr
    : EnumAttr<Stablehlo_Dialect, StableHLO_ComparisonType, "comparison_type">;

def StableHLO_Transpose : SHLO_Enum<"Transpose", "how a matrix is read", [
    SHLO_Case<"TRANSPOSE_INVALID", 0>, SHLO_Case<"NO_TRANSPOSE", 1>,
    SHLO_Case<"TRANSPOSE", 2>, SHLO_Case<"ADJOINT", 3>]>;
def StableHLO_TransposeAttr
    : EnumAttr<Stablehlo_Dialect, StableHLO_Transpose, "transpose">;

def StableHLO_RngDistribution
    : SHLO_Enum<"RngDistribution", "distribution of random values", [
    SHLO_Case<"UNIFORM", 1>, SHLO_Case<"NORMAL", 2>]>;
def StableHLO_RngDistributionAttr
    : EnumAttr<Stablehlo_Dialect, StableHLO_RngDistribution,
               "rng_distribution">;

def StableHLO_RngAlgorithm
    : SHLO_Enum<"RngAlgorithm", "random bit generator", [
    SHLO_Case<"DEFAULT", 0>, SHLO_Case<"THREE_FRY", 1>,
    SHLO_Case<"PHILOX", 2>]>;
def StableHLO_RngAlgorithmAttr
    : EnumAttr<Stablehlo_Dialect, StableHLO_RngAlgorithm, "rng_algorithm">;

// Kept as a plain 32-bit integer attribute, as programs write it.
def StableHLO_CustomCallApiVersionAttr
    : I32EnumAttr<"CustomCallApiVersion", "ABI of a custom call", [
    SHLO_Case<"API_VERSION_UNSPECIFIED", 0>,
    SHLO_Case<"API_VERSION_ORIGINAL", 1>,
    SHLO_Case<"API_VERSION_STATUS_RETURNING", 2>,
    SHLO_Case<"API_VERSION_STATUS_RETURNING_UNIFIED", 3>,
    SHLO_Case<"API_VERSION_TYPED_FFI", 4>]> {
  let cppNamespace = "::mlir::stablehlo";
}

#endif

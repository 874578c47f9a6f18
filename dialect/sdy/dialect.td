#ifndef ALULA_DIALECT_SDY_DIALECT
#define ALULA_DIALECT_SDY_DIALECT

include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"

def Sdy_Dialect : Dialect {
  let name = "sdy";
  let cppNamespace = "::mlir::sdy";
  let summary = "how tensors are split over the devices of a mesh";
  let useDefaultAttributePrinterParser = 1;
  // `sdy.sharding` on arguments and results of functions and on any op, and
  // `sdy.sharding_rule` and `sdy.propagation_edges` on any op.
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
  private:
    // Stands beside the generated storage of the attributes.
    void registerAttributes();
  public:
  }];
}

// In the generic form all of these are 32-bit integers.
class Sdy_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::mlir::sdy";
}

def Sdy_PropagationDirection : Sdy_Enum<"PropagationDirection",
    "which way shardings may flow", [
    I32EnumAttrCase<"NONE", 0>,
    I32EnumAttrCase<"FORWARD", 1>,
    I32EnumAttrCase<"BACKWARD", 2>,
    I32EnumAttrCase<"BOTH", 3>]>;

def Sdy_EdgeNodeType : Sdy_Enum<"EdgeNodeType", "operand or result", [
    I32EnumAttrCase<"OPERAND", 0, "operand">,
    I32EnumAttrCase<"RESULT", 1, "result">]>;

def Sdy_ReductionOp : Sdy_Enum<"ReductionOp", "how partial values combine", [
    I32EnumAttrCase<"SUM", 0, "sum">,
    I32EnumAttrCase<"MAX", 1, "max">,
    I32EnumAttrCase<"MIN", 2, "min">]>;

#endif

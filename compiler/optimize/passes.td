//===- passes.td - passes of the optimize room ----------------------------===//

include "mlir/Pass/PassBase.td"

def FoldConstants : Pass<"optimize-fold-constants", "::mlir::ModuleOp"> {
  let summary = "computes what depends on constants alone";
}

def SimplifyArithmetic
    : Pass<"optimize-simplify-arithmetic", "::mlir::ModuleOp"> {
  let summary = "drops arithmetic that changes nothing";
}

def SimplifyControl : Pass<"optimize-simplify-control", "::mlir::ModuleOp"> {
  let summary = "takes known branches, and what never changes out of loops";
}

def SimplifyMovement
    : Pass<"optimize-simplify-movement", "::mlir::ModuleOp"> {
  let summary = "moves elements once instead of twice, or not at all";
}

def SimplifyConvolutions
    : Pass<"optimize-simplify-convolutions", "::mlir::ModuleOp"> {
  let summary = "turns windows, and multiplies where they have one element";
}

def SimplifyProducts
    : Pass<"optimize-simplify-products", "::mlir::ModuleOp"> {
  let summary = "multiplies where a product has one term for each element";
}

def SimplifyPadding
    : Pass<"optimize-simplify-padding", "::mlir::ModuleOp"> {
  let summary = "concatenates what is padded with zeros and added";
}

def MergeEqual : Pass<"optimize-merge-equal", "::mlir::ModuleOp"> {
  let summary = "makes one of ops that compute the same";
}

def NarrowProducts
    : Pass<"optimize-narrow-products", "::mlir::ModuleOp"> {
  let summary = "multiplies bytes where they were widened before";
}

def RoundProducts
    : Pass<"optimize-round-products", "::mlir::ModuleOp"> {
  let summary = "rounds what is multiplied where that is asked for";
  let options = [
    Option<"bf16Products", "bf16-products", "bool", "false",
           "products of f32 in the default precision are ones of bf16">,
    Option<"tf32Products", "tf32-products", "bool", "false",
           "products of f32 in the default precision may be ones of tf32">,
    Option<"byteActivations", "byte-activations", "bool", "false",
           "what is multiplied by weights of few bits may be rounded to bytes">
  ];
}

def UnrollLoops : Pass<"optimize-unroll-loops", "::mlir::ModuleOp"> {
  let summary = "writes out loops of a few rounds";
}

def HoistInvariants : Pass<"optimize-hoist-invariants", "::mlir::ModuleOp"> {
  let summary = "computes before a loop what each round would compute again";
}

def VerifyOptimizeOutput
    : Pass<"optimize-verify-output", "::mlir::ModuleOp"> {
  let summary = "checks that nothing is left that costs without need";
}

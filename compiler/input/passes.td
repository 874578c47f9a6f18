//===- passes.td - the passes of the input room ---------------------------===//

#ifndef ALULA_COMPILER_INPUT_PASSES
#define ALULA_COMPILER_INPUT_PASSES

include "mlir/Pass/PassBase.td"

def InputConvertChloToStablehlo
    : Pass<"input-convert-chlo-to-stablehlo", "::mlir::ModuleOp"> {
  let summary = "say chlo ops in stablehlo";
  let dependentDialects = ["::mlir::stablehlo::StablehloDialect"];
}

#endif

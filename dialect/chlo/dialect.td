//===- dialect.td - the chlo dialect and its base class of ops ------------===//

#ifndef ALULA_DIALECT_CHLO_DIALECT
#define ALULA_DIALECT_CHLO_DIALECT

include "mlir/IR/OpBase.td"

def Chlo_Dialect : Dialect {
  let name = "chlo";
  let cppNamespace = "::mlir::chlo";
  let summary = "functions that front ends say in one op";
  let description = [{
    What front ends write beside stablehlo: special functions, arithmetic that
    broadcasts its operands, and a few compound ops. Each can be said in
    stablehlo; compiler/input does so.
  }];
  let dependentDialects = ["::mlir::stablehlo::StablehloDialect"];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
}

#endif

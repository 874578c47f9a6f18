//===- dialect.td - the stablehlo dialect and its base class of ops -------===//

#ifndef ALULA_DIALECT_STABLEHLO_DIALECT
#define ALULA_DIALECT_STABLEHLO_DIALECT

include "mlir/IR/OpBase.td"

def Stablehlo_Dialect : Dialect {
  let name = "stablehlo";
  let cppNamespace = "::mlir::stablehlo";
  let summary = "the portable input language of tensor programs";
  let description = [{
    The operations of the StableHLO specification 1.20 with its deprecated
    ones, so that every program a front end or a file holds can be read.
  }];
  let dependentDialects = ["::mlir::quant::QuantizationDialect",
                           "::alula::newer::NewerDialect"];
  // Attributes have a second spelling of their own.
  let useDefaultAttributePrinterParser = 0;
  let extraClassDeclaration = [{
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser,
                                     ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attribute,
                        ::mlir::DialectAsmPrinter &printer) const override;
  }];
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
}

class StableHLO_Op<string mnemonic, list<Trait> traits = []>
    : Op<Stablehlo_Dialect, mnemonic, traits>;

#endif

// The one list of dialects and the one list of passes.

#include "compiler/driver/registry.h"

#include "dialect/newer/dialect.h"
#include "dialect/stablehlo/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Quant/QuantOps.h"
#include "mlir/Dialect/Shape/IR/Shape.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/Passes.h"

void alula::driver::registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<mlir::arith::ArithDialect, mlir::func::FuncDialect,
                  mlir::quant::QuantizationDialect, mlir::shape::ShapeDialect,
                  mlir::sparse_tensor::SparseTensorDialect,
                  mlir::stablehlo::StablehloDialect,
                  mlir::tensor::TensorDialect, newer::NewerDialect>();
}

void alula::driver::registerPasses() {
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::registerInlinerPass();
  mlir::registerStripDebugInfoPass();
  mlir::registerSymbolDCEPass();
}

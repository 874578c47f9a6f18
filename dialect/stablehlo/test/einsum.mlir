// RUN: alula-opt %s | FileCheck %s
// RUN: alula-opt %s | alula-opt | FileCheck %s
// RUN: alula-opt %s --mlir-print-op-generic | alula-opt | FileCheck %s
// RUN: alula-opt %s --emit=bytecode | alula-opt | FileCheck %s

// CHECK-LABEL: @products
// CHECK: stablehlo.einsum %{{.*}}, %{{.*}}, config = "ab,bc->ac" : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
// CHECK: stablehlo.einsum %{{.*}}, %{{.*}}, config = "ab,bc->" : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<f32>
func.func @products(%l: tensor<2x3xf32>, %r: tensor<3x4xf32>) {
  %0 = stablehlo.einsum %l, %r, config = "ab,bc->ac" : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %1 = stablehlo.einsum %l, %r, config = "ab,bc->" : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<f32>
  return
}

// The dimensions of `...` are aligned at the right.
// CHECK-LABEL: @ellipsis
// CHECK: config = "...ab,...bc->...ac" : (tensor<7x5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<7x5x2x4xf32>
func.func @ellipsis(%l: tensor<7x5x2x3xf32>, %r: tensor<5x3x4xf32>) -> tensor<7x5x2x4xf32> {
  %0 = stablehlo.einsum %l, %r, config = "...ab,...bc->...ac" : (tensor<7x5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<7x5x2x4xf32>
  return %0 : tensor<7x5x2x4xf32>
}

// CHECK-LABEL: @one_operand
// CHECK: stablehlo.unary_einsum %{{.*}}, config = "ab->ba" : (tensor<2x3xf32>) -> tensor<3x2xf32>
// CHECK: stablehlo.unary_einsum %{{.*}}, config = "aa->a" : (tensor<3x?xf32>) -> tensor<3xf32>
func.func @one_operand(%x: tensor<2x3xf32>, %y: tensor<3x?xf32>) {
  %0 = stablehlo.unary_einsum %x, config = "ab->ba" : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = stablehlo.unary_einsum %y, config = "aa->a" : (tensor<3x?xf32>) -> tensor<3xf32>
  return
}

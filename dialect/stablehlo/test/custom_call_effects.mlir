// RUN: alula-opt %s --cse | FileCheck %s

// A call without effects is computed once, unless it makes a buffer.
// CHECK-LABEL: @merged
// CHECK-COUNT-1: @pure
// CHECK-NOT: @pure
func.func @merged(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %0 = stablehlo.custom_call @pure(%x) : (tensor<f32>) -> tensor<f32>
  %1 = stablehlo.custom_call @pure(%x) : (tensor<f32>) -> tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}

// CHECK-LABEL: @kept
// CHECK-COUNT-2: @effect
// CHECK-COUNT-2: @CreateBuffer
func.func @kept(%x: tensor<f32>) -> (memref<2xf32>, memref<2xf32>) {
  %0 = stablehlo.custom_call @effect(%x) {has_side_effect = true} : (tensor<f32>) -> tensor<f32>
  %1 = stablehlo.custom_call @effect(%x) {has_side_effect = true} : (tensor<f32>) -> tensor<f32>
  %2 = stablehlo.custom_call @CreateBuffer() : () -> memref<2xf32>
  %3 = stablehlo.custom_call @CreateBuffer() : () -> memref<2xf32>
  return %2, %3 : memref<2xf32>, memref<2xf32>
}

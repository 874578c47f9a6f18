// RUN: alula-opt %s --pass-pipeline='builtin.module(input-check-shape-assertions{keep-unknown=true},input-lower-deprecated{dynamic-shapes=true},input-verify-input-output{dynamic-shapes=true})' | FileCheck %s

// What is only known when the program runs is left to it.
// CHECK-LABEL: func.func @main
// CHECK: stablehlo.custom_call @shape_assertion
// CHECK: stablehlo.real_dynamic_slice
func.func @main(%x: tensor<?xf32>, %p: tensor<i1>, %start: tensor<1xi32>) -> tensor<?xf32> {
  stablehlo.custom_call @shape_assertion(%p) {error_message = "no", has_side_effect = true} : (tensor<i1>) -> ()
  %0 = stablehlo.real_dynamic_slice %x, %start, %start, %start : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @broadcast
// CHECK: stablehlo.get_dimension_size %arg0, dim = 0
// CHECK: stablehlo.dynamic_broadcast_in_dim %arg0, %{{.*}}, dims = [1] : (tensor<?xf32>, tensor<2xi64>) -> tensor<3x?xf32>
func.func @broadcast(%x: tensor<?xf32>) -> tensor<3x?xf32> {
  %0 = stablehlo.broadcast %x, sizes = [3] : (tensor<?xf32>) -> tensor<3x?xf32>
  return %0 : tensor<3x?xf32>
}

// RUN: alula-opt %s -input-lower-dynamic-call | FileCheck %s

func.func private @add(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %a, %b : tensor<f32>
  return %0 : tensor<f32>
}

// Holes and dynamic edges are padding; sizes, strides and dilations stay.
// CHECK-LABEL: func.func @window
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[INIT:.*]]: tensor<f32>, %[[EDGES:.*]]: tensor<1x2xi32>
// CHECK: stablehlo.slice %[[EDGES]] [0:1, 0:1]
// CHECK: %[[LOW:.*]] = stablehlo.reshape
// CHECK: stablehlo.slice %[[EDGES]] [0:1, 1:2]
// CHECK: %[[HIGH:.*]] = stablehlo.reshape
// CHECK: %[[PADDED:.*]] = stablehlo.dynamic_pad %[[X]], %[[INIT]], %{{.*}}, %{{.*}}, %{{.*}}
// CHECK: "stablehlo.reduce_window"(%[[PADDED]], %[[INIT]])
// CHECK-SAME: window_dilations = array<i64: 1>, window_dimensions = array<i64: 3>, window_strides = array<i64: 2>
// CHECK: stablehlo.add
func.func @window(%x: tensor<?xf32>, %init: tensor<f32>, %edges: tensor<1x2xi32>) -> tensor<?xf32> {
  %size = stablehlo.constant dense<3> : tensor<1xi32>
  %stride = stablehlo.constant dense<2> : tensor<1xi32>
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %0 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %init, %size, %stride, %stride, %one, %edges) {called_computations = [@add]} : (tensor<?xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1x2xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

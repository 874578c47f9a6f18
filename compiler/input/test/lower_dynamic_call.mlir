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

// A window whose size is not known: windows twice as long from two neighbours, and
// one behind those that were found before if the size has that power of two.
// CHECK-LABEL: func.func @sum
// CHECK: %[[PADDED:.*]] = stablehlo.dynamic_pad
// CHECK: %[[START:.*]] = stablehlo.dynamic_broadcast_in_dim %{{.*}}, %{{.*}}, dims = []
// CHECK: %[[R:.*]]:5 = stablehlo.while(%[[REST:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %[[WIDE:.*]] = %[[PADDED]], %[[FOUND:.*]] = %[[START]])
// CHECK: stablehlo.compare GT, %[[REST]],
// CHECK: %[[NEXT:.*]] = stablehlo.dynamic_pad %[[WIDE]]
// CHECK: stablehlo.add %[[WIDE]], %[[NEXT]] : tensor<?xf32>
// CHECK: %[[BEHIND:.*]] = stablehlo.dynamic_pad %[[WIDE]]
// CHECK: %[[LONGER:.*]] = stablehlo.add %[[FOUND]], %[[BEHIND]] : tensor<?xf32>
// CHECK: stablehlo.select %{{.*}}, %[[LONGER]], %[[FOUND]]
// CHECK: %[[S:.*]] = stablehlo.real_dynamic_slice %[[R]]#4
// CHECK: return %[[S]]
func.func @sum(%x: tensor<?xf32>, %init: tensor<f32>, %size: tensor<1xi32>, %edges: tensor<1x2xi32>) -> tensor<?xf32> {
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %0 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %init, %size, %one, %one, %one, %edges) {called_computations = [@add]} : (tensor<?xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1x2xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @top
// CHECK-SAME: %[[X:.*]]: tensor<4x?xf32>
// CHECK: %[[I:.*]] = stablehlo.dynamic_iota %{{.*}}, dim = 1 : (tensor<2xi64>) -> tensor<4x?xi32>
// CHECK: %[[S:.*]]:2 = "stablehlo.sort"(%[[X]], %[[I]])
// CHECK: compare GT, {{.*}}, TOTALORDER
// CHECK: stablehlo.real_dynamic_slice %[[S]]#0
// CHECK: stablehlo.real_dynamic_slice %[[S]]#1
func.func @top(%x: tensor<4x?xf32>, %k: tensor<i32>) -> (tensor<4x?xf32>, tensor<4x?xi32>) {
  %0:2 = stablehlo.custom_call @stablehlo.dynamic_top_k(%x, %k) : (tensor<4x?xf32>, tensor<i32>) -> (tensor<4x?xf32>, tensor<4x?xi32>)
  return %0#0, %0#1 : tensor<4x?xf32>, tensor<4x?xi32>
}

// Where the order matters, a loop over the places, each a slice. Of two inputs: a
// map for each result.
// CHECK-LABEL: func.func @two
// CHECK-COUNT-2: stablehlo.dynamic_pad
// CHECK: %[[R:.*]]:3 = stablehlo.while(%{{.*}} = %{{.*}}, %[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}})
// CHECK: %[[P:.*]] = stablehlo.real_dynamic_slice
// CHECK: %[[Q:.*]] = stablehlo.real_dynamic_slice
// CHECK: "stablehlo.map"(%[[A]], %[[B]], %[[P]], %[[Q]])
// CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<f32>, %{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>)
// CHECK: stablehlo.return %[[X]]
// CHECK: "stablehlo.map"(%[[A]], %[[B]], %[[P]], %[[Q]])
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>, %[[Y:.*]]: tensor<f32>)
// CHECK: stablehlo.return %[[Y]]
// CHECK: return %[[R]]#1
func.func private @both(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  return %a, %d : tensor<f32>, tensor<f32>
}
func.func @two(%x: tensor<?xf32>, %init: tensor<f32>, %size: tensor<1xi32>, %edges: tensor<1x2xi32>) -> tensor<?xf32> {
  %0:2 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %x, %init, %init, %size, %size, %size, %size, %edges) {called_computations = [@both]} : (tensor<?xf32>, tensor<?xf32>, tensor<f32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1x2xi32>) -> (tensor<?xf32>, tensor<?xf32>)
  return %0#0 : tensor<?xf32>
}

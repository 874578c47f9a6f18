// RUN: alula-opt --input-lower-tuple %s | FileCheck %s

// CHECK-LABEL: func.func @main(%arg0: tensor<f32>, %arg1: tensor<i32>, %arg2: tensor<i1>)
// CHECK-SAME: -> (tensor<i32>, tensor<f32>, tensor<i1>)
func.func @main(%t: tuple<tensor<f32>, tuple<tensor<i32>>>, %p: tensor<i1>)
    -> (tuple<tuple<tensor<i32>>, tensor<f32>>, tensor<i1>) {
  %x = stablehlo.get_tuple_element %t[0]
      : (tuple<tensor<f32>, tuple<tensor<i32>>>) -> tensor<f32>
  %inner = stablehlo.get_tuple_element %t[1]
      : (tuple<tensor<f32>, tuple<tensor<i32>>>) -> tuple<tensor<i32>>
  %pair = stablehlo.tuple %inner, %x : tuple<tuple<tensor<i32>>, tensor<f32>>
  // CHECK: %[[R:.*]]:2 = call @same(%arg1, %arg0) : (tensor<i32>, tensor<f32>) -> (tensor<i32>, tensor<f32>)
  %same = call @same(%pair) : (tuple<tuple<tensor<i32>>, tensor<f32>>)
      -> tuple<tuple<tensor<i32>>, tensor<f32>>
  // CHECK: return %[[R]]#0, %[[R]]#1, %arg2
  return %same, %p : tuple<tuple<tensor<i32>>, tensor<f32>>, tensor<i1>
}

// CHECK: func.func private @same(%arg0: tensor<i32>, %arg1: tensor<f32>) -> (tensor<i32>, tensor<f32>)
func.func private @same(%t: tuple<tuple<tensor<i32>>, tensor<f32>>)
    -> tuple<tuple<tensor<i32>>, tensor<f32>> {
  return %t : tuple<tuple<tensor<i32>>, tensor<f32>>
}

// The results of a custom call become several.
// CHECK-LABEL: func.func @custom_call
func.func @custom_call(%x: tensor<f32>) -> tensor<i1> {
  // CHECK: %[[C:.*]]:2 = stablehlo.custom_call @f(%arg0) : (tensor<f32>) -> (tensor<f32>, tensor<i1>)
  %t = stablehlo.custom_call @f(%x)
      : (tensor<f32>) -> tuple<tensor<f32>, tensor<i1>>
  %p = stablehlo.get_tuple_element %t[1]
      : (tuple<tensor<f32>, tensor<i1>>) -> tensor<i1>
  // CHECK: return %[[C]]#1
  return %p : tensor<i1>
}

// RUN: alula-compile %s --until=schedule | FileCheck %s

// What is returned is computed in the caller's memory; what is dead makes room.
// CHECK-LABEL: func.func @main
// CHECK-SAME: dispatch.arena_bytes = 128
// CHECK: dispatch.launch @main_0::@main_0(%arg0) {places = [#dispatch.place<arena 0>]}
// CHECK: dispatch.launch @main_1::@main_1({{.*}}) {places = [#dispatch.place<arena 64>]}
// CHECK: dispatch.launch @main_2::@main_2({{.*}}) {places = [#dispatch.place<arena 0>]}
// CHECK: dispatch.launch @main_3::@main_3({{.*}}) {places = [#dispatch.place<result 0>]}
func.func @main(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.dot_general %0, %a, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = stablehlo.dot_general %1, %a, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = stablehlo.dot_general %2, %a, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

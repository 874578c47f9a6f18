// RUN: alula-compile --target=cpu:host %s --compile-from=kernel --compile-to=schedule -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: alula-compile --target=cpu:host %t.mlir -o %t.alula
// RUN: alula-inspect %t.alula | FileCheck %s --check-prefix=TEXT

// What a call of the typed API says in bytes.
// TEXT: custom call {{.*}} "t": (3x2xf32, 1xi32) -> (?xf32), api version 4, config "ALC4{{.*}}", attributes "{\"n\":1}"

// Results are memory that the function fills; tokens only say what comes first.
// CHECK-LABEL: func.func @plain
// CHECK: dispatch.custom_call "f"(%[[A:.*]]) into(%[[R:.*]]) version 2 side_effect {config = "abc"} : [tensor<4xf32>, tensor<i32>]
// TEXT: exported function @plain
// TEXT: custom_call
func.func @plain(%a: tensor<4xf32>) -> tensor<i32> {
  %t = stablehlo.create_token : !stablehlo.token
  %0:2 = stablehlo.custom_call @f(%a, %t) {api_version = 2 : i32, backend_config = "abc", has_side_effect = true} : (tensor<4xf32>, !stablehlo.token) -> (tensor<i32>, !stablehlo.token)
  return %0#0 : tensor<i32>
}

// An argument is copied, for it is not the function's to write.
// CHECK-LABEL: func.func @in_place
// CHECK: dispatch.copy %{{.*}} to %[[R:.*]],
// CHECK-NEXT: dispatch.custom_call "g"(%[[R]]) into(%[[R]]) version 4
func.func @in_place(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @g(%a) {api_version = 4 : i32, backend_config = {n = 3 : i64, names = ["x", "y"], on = true, sizes = array<i64: 1, 2>, r = 0.5 : f32, t = dense<[1, 2]> : tensor<2xui8>}, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// The sizes of a dynamic result stand in an operand.
// CHECK-LABEL: func.func @dynamic
// CHECK: %[[N32:.*]] = dispatch.load %[[S:.*]][%{{.*}}] as i32
// CHECK-NEXT: %[[N:.*]] = arith.index_cast %[[N32]]
// CHECK: dispatch.bind_result 0(%[[N]])
// CHECK: dispatch.custom_call "h"(%{{.*}}, %[[S]]) into(%{{.*}}) [%{{.*}}, %[[N]]] version 1
func.func @dynamic(%a: tensor<?xf32>, %s: tensor<2xi32>) -> tensor<2x?xf32> {
  %0 = stablehlo.custom_call @h(%a, %s) {api_version = 1 : i32, indices_of_shape_operands = dense<1> : tensor<1xi64>} : (tensor<?xf32>, tensor<2xi32>) -> tensor<2x?xf32>
  %c1 = arith.constant 1 : index
  %n = tensor.dim %0, %c1 : tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

// JAX's sink keeps its operand computed, and calls nothing.
// CHECK-LABEL: func.func @sink
// CHECK-NOT: dispatch.custom_call
// CHECK: return
func.func @sink(%a: tensor<4xf32>) -> tensor<4xf32> {
  stablehlo.custom_call @dce_sink(%a) {has_side_effect = true} : (tensor<4xf32>) -> ()
  return %a : tensor<4xf32>
}

// A call of the typed API names its values as the program has them: a token, an
// array in an order of its own, sizes. JAX says it is of the first API.
// CHECK-LABEL: func.func @typed
// CHECK: dispatch.custom_call "t"({{.*}}) into({{.*}}) {{.*}}version 4 {config = {n = 1 : i64}, values = {{\[}}[unit, array<i64: 1, 0>, "sizes"], [array<i64: 0>]]}
func.func @typed(%a: tensor<3x2xf32>, %s: tensor<1xi32>) -> tensor<?xf32> {
  %t = stablehlo.create_token : !stablehlo.token
  %0 = stablehlo.custom_call @t(%t, %a, %s) {alula.orders = [array<i64>, array<i64: 1, 0>, array<i64: 0>, array<i64: 0>], indices_of_shape_operands = dense<2> : tensor<1xi64>, mhlo.backend_config = {n = 1 : i64}} : (!stablehlo.token, tensor<3x2xf32>, tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// RUN: alula-opt %s --input-lower-sparse --split-input-file | FileCheck %s

#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

// Rows as they come: no list is made.
// CHECK-LABEL: func @rows(
// CHECK-SAME: %[[STARTS:.*]]: tensor<5xi64> {alula.sparse_part = "positions of level 1", alula.sparse_type = "tensor<4x6xf32, #sparse_tensor.encoding<
// CHECK-SAME: %[[COLUMNS:.*]]: tensor<?xi64> {alula.sparse_part = "coordinates of level 1"
// CHECK-SAME: %[[VALUES:.*]]: tensor<?xf32> {alula.sparse_part = "values"
// CHECK: stablehlo.custom_call @shape_assertion({{.*}}) {error_message = "argument 0, tensor<4x6xf32, {{.*}}>: values must have {0} elements, has {1}"
// CHECK: stablehlo.custom_call @alula.sparse_rows_product(
// CHECK-SAME: -> tensor<4x3xf32>
func.func @rows(%a: tensor<4x6xf32, #CSR>, %x: tensor<6x3xf32>) -> tensor<4x3xf32> {
  %0 = stablehlo.dot_general %a, %x, contracting_dims = [1] x [0] : (tensor<4x6xf32, #CSR>, tensor<6x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

#COO = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton), posWidth = 32, crdWidth = 32 }>

// CHECK-LABEL: func @pairs(
// CHECK-SAME: tensor<2xi32> {alula.sparse_part = "positions of level 0"
// CHECK-SAME: tensor<?x2xi32> {alula.sparse_part = "coordinates of level 0 and those below"
// CHECK: stablehlo.custom_call @alula.sparse_product(
// CHECK-SAME: (tensor<?xf64>, tensor<?x2xi32>, tensor<4x3xf64>) -> tensor<6x3xf64>
func.func @pairs(%a: tensor<4x6xf64, #COO>, %x: tensor<3x4xf64>) -> tensor<3x6xf64> {
  %0 = stablehlo.dot_general %x, %a, contracting_dims = [1] x [0] : (tensor<3x4xf64>, tensor<4x6xf64, #COO>) -> tensor<3x6xf64>
  return %0 : tensor<3x6xf64>
}

// -----

#SV = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>

// Functions that keep zero are of the values.
// CHECK-LABEL: func @function(
// CHECK: stablehlo.tanh %{{.*}} : tensor<?xf32>
// CHECK: return %{{.*}} : tensor<2xi64>, tensor<?xi64>, tensor<?xf32>
func.func @function(%a: tensor<9xf32, #SV>) -> tensor<9xf32, #SV> {
  %0 = stablehlo.tanh %a : tensor<9xf32, #SV>
  return %0 : tensor<9xf32, #SV>
}

// -----

// What has no encoding stays as it is.
// CHECK-LABEL: func @dense(
// CHECK-SAME: %{{.*}}: tensor<9xf32> {jax.arg_info = "x"}
// CHECK-NEXT: stablehlo.cosine
// CHECK-NEXT: return
func.func @dense(%a: tensor<9xf32> {jax.arg_info = "x"}) -> tensor<9xf32> {
  %0 = stablehlo.cosine %a : tensor<9xf32>
  return %0 : tensor<9xf32>
}

// RUN: alula-opt %s --input-convert-chlo-to-stablehlo=ragged-calls | FileCheck %s

// CHECK-LABEL: func.func @rows
// CHECK-DAG: %[[W:.*]] = stablehlo.transpose %arg1, dims = [1, 0, 2] : (tensor<4x2x5xbf16>) -> tensor<2x4x5xbf16>
// CHECK-DAG: %[[G:.*]] = stablehlo.convert %{{.*}} : (tensor<2xi64>) -> tensor<2xi32>
// CHECK: %[[P:.*]] = stablehlo.custom_call @alula.ragged_rows_product(%arg0, %[[W]], %[[G]]) {{.*}} -> tensor<8x5xf32>
// CHECK: stablehlo.convert %[[P]] : (tensor<8x5xf32>) -> tensor<8x5xbf16>
func.func @rows(%x: tensor<8x4xbf16>, %w: tensor<4x2x5xbf16>, %g: tensor<2xui8>) -> tensor<8x5xbf16> {
  %0 = "chlo.ragged_dot"(%x, %w, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [0], rhs_group_dimensions = [1]>}> : (tensor<8x4xbf16>, tensor<4x2x5xbf16>, tensor<2xui8>) -> tensor<8x5xbf16>
  return %0 : tensor<8x5xbf16>
}

// Sums of the rows of each group, which come first in the result; one list of
// sizes for all of a batch.
// CHECK-LABEL: func.func @sums
// CHECK: %[[G:.*]] = stablehlo.broadcast_in_dim %{{.*}}, dims = [1] : (tensor<2xi32>) -> tensor<3x2xi32>
// CHECK: %[[P:.*]] = stablehlo.custom_call @alula.ragged_sums_product(%arg0, %arg1, %[[G]]) {{.*}} -> tensor<3x2x4x5xf64>
// CHECK: stablehlo.transpose %[[P]], dims = [1, 0, 2, 3]
func.func @sums(%x: tensor<3x8x4xf64>, %y: tensor<3x8x5xf64>, %g: tensor<2xi32>) -> tensor<2x3x4x5xf64> {
  %0 = "chlo.ragged_dot"(%x, %y, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [1], rhs_group_dimensions = []>}> : (tensor<3x8x4xf64>, tensor<3x8x5xf64>, tensor<2xi32>) -> tensor<2x3x4x5xf64>
  return %0 : tensor<2x3x4x5xf64>
}

// Kernels multiply neither integers nor groups that begin anew in each line of
// a free dimension.
// CHECK-LABEL: func.func @left
// CHECK-NOT: custom_call
// CHECK-COUNT-2: stablehlo.dot_general
func.func @left(%x: tensor<8x4xi32>, %w: tensor<2x4x5xi32>, %g: tensor<2xi32>, %y: tensor<3x8x4xf32>, %v: tensor<2x4x5xf32>, %h: tensor<3x2xi32>) -> (tensor<8x5xi32>, tensor<3x8x5xf32>) {
  %0 = "chlo.ragged_dot"(%x, %w, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<8x4xi32>, tensor<2x4x5xi32>, tensor<2xi32>) -> tensor<8x5xi32>
  %1 = "chlo.ragged_dot"(%y, %v, %h) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]>}> : (tensor<3x8x4xf32>, tensor<2x4x5xf32>, tensor<3x2xi32>) -> tensor<3x8x5xf32>
  return %0, %1 : tensor<8x5xi32>, tensor<3x8x5xf32>
}

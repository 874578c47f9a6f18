// RUN: alula-opt %s | alula-opt | FileCheck %s
// RUN: alula-opt --emit=generic %s | alula-opt | FileCheck %s

// CHECK-LABEL: func.func @top_k
func.func @top_k(%x: tensor<?x5xf32>) -> (tensor<?x2xf32>, tensor<?x2xi32>) {
  // CHECK: chlo.top_k(%{{.*}}, k = 2) : tensor<?x5xf32> -> (tensor<?x2xf32>, tensor<?x2xi32>)
  %0:2 = chlo.top_k(%x, k = 2)
      : tensor<?x5xf32> -> (tensor<?x2xf32>, tensor<?x2xi32>)
  // CHECK: chlo.top_k(%{{.*}}, k = 1, is_stable = false)
  %1:2 = chlo.top_k(%x, k = 1, is_stable = false)
      : tensor<?x5xf32> -> (tensor<?x1xf32>, tensor<?x1xi32>)
  return %0#0, %0#1 : tensor<?x2xf32>, tensor<?x2xi32>
}

// CHECK-LABEL: func.func @ragged_dot
func.func @ragged_dot(%l: tensor<2x11x5xf32>, %r: tensor<3x2x5x7xf32>,
                      %sizes: tensor<3xi64>) -> tensor<2x11x7xf32> {
  // CHECK: precision_config = [#chlo<precision DEFAULT>, #chlo<precision HIGH>]
  // CHECK-SAME: #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]>
  %0 = "chlo.ragged_dot"(%l, %r, %sizes) <{
      ragged_dot_dimension_numbers = #chlo.ragged_dot<
          lhs_batching_dimensions = [0], rhs_batching_dimensions = [1],
          lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2],
          lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]>,
      precision_config = [#chlo<precision DEFAULT>, #chlo<precision HIGH>]}>
      : (tensor<2x11x5xf32>, tensor<3x2x5x7xf32>, tensor<3xi64>)
      -> tensor<2x11x7xf32>
  return %0 : tensor<2x11x7xf32>
}

// CHECK-LABEL: func.func @scan
func.func @scan(%x: tensor<2x3xf32>, %init: tensor<3xf32>)
    -> (tensor<2x3xf32>, tensor<3xf32>) {
  // CHECK: chlo.scan(%{{.*}}) inits (%{{.*}}) dimension=0 attributes {is_reverse = true} {
  // CHECK-NEXT: ^bb0(%[[INPUT:.*]]: tensor<3xf32>, %[[CARRY:.*]]: tensor<3xf32>):
  %0:2 = chlo.scan(%x) inits (%init) dimension=0
      attributes {is_reverse = true} {
  ^bb0(%input: tensor<3xf32>, %carry: tensor<3xf32>):
    %sum = stablehlo.add %input, %carry : tensor<3xf32>
    stablehlo.return %sum, %sum : tensor<3xf32>, tensor<3xf32>
  // CHECK: } : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>)
  } : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>)
  return %0#0, %0#1 : tensor<2x3xf32>, tensor<3xf32>
}

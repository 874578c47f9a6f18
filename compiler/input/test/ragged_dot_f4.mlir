// RUN: alula-opt %s -input-convert-chlo-to-stablehlo | FileCheck %s

// Zero can be said in types that MLIR lacks, too.
// CHECK-LABEL: func.func @main
// CHECK: stablehlo.constant dense<0.{{.*}}> : tensor<f4E2M1FN>
// CHECK-NOT: chlo.
func.func @main(%a: tensor<4x3xf4E2M1FN>, %b: tensor<2x3x5xf4E2M1FN>, %g: tensor<2xi32>) -> tensor<4x5xf4E2M1FN> {
  %0 = "chlo.ragged_dot"(%a, %b, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<4x3xf4E2M1FN>, tensor<2x3x5xf4E2M1FN>, tensor<2xi32>) -> tensor<4x5xf4E2M1FN>
  return %0 : tensor<4x5xf4E2M1FN>
}

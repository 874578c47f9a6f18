// RUN: alula-opt "--input-refine-arguments=types=tensor<2xf32>,tensor<f32>" %s | FileCheck %s
// RUN: alula-opt "--input-refine-arguments=types=tensor<2xf32>,tensor<f32>" --input-refine-shapes %s | FileCheck %s --check-prefix=REFINED

// CHECK-LABEL: func.func @main(%arg0: tensor<2xf32>, %arg1: tensor<f32>)
// CHECK: %[[SIZES:.*]] = stablehlo.constant dense<2> : tensor<1xi64>
// CHECK: %[[OLD:.*]] = stablehlo.custom_call @stablehlo.shape_refinement_operand_wrapper(%arg0, %[[SIZES]]) {indices_of_shape_operands = dense<1> : tensor<1xi64>} : (tensor<2xf32>, tensor<1xi64>) -> tensor<?xf32>
// CHECK: stablehlo.abs %[[OLD]] : tensor<?xf32>
// REFINED: func.func @main(%arg0: tensor<2xf32>, %arg1: tensor<f32>) -> (tensor<2xf32>, tensor<f32>)
// REFINED-NEXT: stablehlo.abs %arg0 : tensor<2xf32>
func.func @main(%x: tensor<?xf32>, %y: tensor<f32>)
    -> (tensor<?xf32>, tensor<f32>) {
  %0 = stablehlo.abs %x : tensor<?xf32>
  return %0, %y : tensor<?xf32>, tensor<f32>
}

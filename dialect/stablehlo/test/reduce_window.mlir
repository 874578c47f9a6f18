// RUN: alula-opt %s | FileCheck %s
// RUN: alula-opt %s | alula-opt | FileCheck %s
// RUN: alula-opt %s --mlir-print-op-generic | alula-opt | FileCheck %s
// RUN: alula-opt %s --emit=bytecode | alula-opt | FileCheck %s

// Result sizes are those that jax.lax.reduce_window_shape_tuple gives.

// CHECK-LABEL: @pooled
// CHECK: "stablehlo.reduce_window"({{.*}}) <{base_dilations = array<i64: 1, 2>, padding = dense<{{\[\[}}0, 1], [2, -1]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 2>, window_dimensions = array<i64: 3, 2>, window_strides = array<i64: 2, 1>}>
func.func @pooled(%x: tensor<8x6xf32>, %low: tensor<f32>) -> tensor<4x10xf32> {
  %0 = "stablehlo.reduce_window"(%x, %low) <{
    window_dimensions = array<i64: 3, 2>, window_strides = array<i64: 2, 1>,
    base_dilations = array<i64: 1, 2>, window_dilations = array<i64: 1, 2>,
    padding = dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<8x6xf32>, tensor<f32>) -> tensor<4x10xf32>
  return %0 : tensor<4x10xf32>
}

// CHECK-LABEL: @window_larger_than_input
// CHECK: -> tensor<0x2xf32>
func.func @window_larger_than_input(%x: tensor<4x2xf32>, %low: tensor<f32>) -> tensor<0x2xf32> {
  %0 = "stablehlo.reduce_window"(%x, %low) <{window_dimensions = array<i64: 5, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<0x2xf32>
  return %0 : tensor<0x2xf32>
}

// A bound on the input is one on the windows.
// CHECK-LABEL: @bounded_and_promoted
// CHECK: -> tensor<?x2xf64, #stablehlo.bounds<3, ?>>
func.func @bounded_and_promoted(%x: tensor<?x2xf32, #stablehlo.bounds<4, ?>>, %zero: tensor<f32>)
    -> tensor<?x2xf64, #stablehlo.bounds<3, ?>> {
  %0 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 2, 1>}> ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %m = stablehlo.add %a, %b : tensor<f64>
    stablehlo.return %m : tensor<f64>
  }) : (tensor<?x2xf32, #stablehlo.bounds<4, ?>>, tensor<f32>) -> tensor<?x2xf64, #stablehlo.bounds<3, ?>>
  return %0 : tensor<?x2xf64, #stablehlo.bounds<3, ?>>
}

// CHECK-LABEL: @two_inputs
// CHECK: -> (tensor<3xf32>, tensor<3xi32>)
func.func @two_inputs(%x: tensor<4xf32>, %i: tensor<?xi32>, %low: tensor<f32>, %zero: tensor<i32>)
    -> (tensor<3xf32>, tensor<3xi32>) {
  %0:2 = "stablehlo.reduce_window"(%x, %i, %low, %zero) <{window_dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %j: tensor<i32>, %b: tensor<f32>, %k: tensor<i32>):
    stablehlo.return %b, %k : tensor<f32>, tensor<i32>
  }) : (tensor<4xf32>, tensor<?xi32>, tensor<f32>, tensor<i32>) -> (tensor<3xf32>, tensor<3xi32>)
  return %0#0, %0#1 : tensor<3xf32>, tensor<3xi32>
}

// CHECK-LABEL: @max_pool_gradient
// CHECK: "stablehlo.select_and_scatter"({{.*}}) <{padding = dense<{{\[\[}}0, 1], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}>
func.func @max_pool_gradient(%x: tensor<5x4xf32>, %source: tensor<3x2xf32>, %zero: tensor<f32>) -> tensor<5x4xf32> {
  %0 = "stablehlo.select_and_scatter"(%x, %source, %zero) <{
    window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>,
    padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<5x4xf32>, tensor<3x2xf32>, tensor<f32>) -> tensor<5x4xf32>
  return %0 : tensor<5x4xf32>
}

// RUN: alula-opt %s | FileCheck %s
// RUN: alula-opt %s | alula-opt | FileCheck %s
// RUN: alula-opt %s --mlir-print-op-generic | alula-opt | FileCheck %s
// RUN: alula-opt %s --emit=bytecode | alula-opt | FileCheck %s

// CHECK-LABEL: @batched
// CHECK: stablehlo.dot_general %{{.*}}, %{{.*}}, batching_dims = [0] x [1], contracting_dims = [2, 3] x [0, 3] : (tensor<2x3x4x5xf32>, tensor<4x2x6x5xf32>) -> tensor<2x3x6xf32>
func.func @batched(%l: tensor<2x3x4x5xf32>, %r: tensor<4x2x6x5xf32>) -> tensor<2x3x6xf32> {
  %0 = stablehlo.dot_general %l, %r, batching_dims = [0] x [1], contracting_dims = [2, 3] x [0, 3]
      : (tensor<2x3x4x5xf32>, tensor<4x2x6x5xf32>) -> tensor<2x3x6xf32>
  return %0 : tensor<2x3x6xf32>
}

// CHECK-LABEL: @outer_product
// CHECK: contracting_dims = [] x [] : (tensor<2xi8>, tensor<3xi8>) -> tensor<2x3xi32>
func.func @outer_product(%l: tensor<2xi8>, %r: tensor<3xi8>) -> tensor<2x3xi32> {
  %0 = stablehlo.dot_general %l, %r, contracting_dims = [] x [] : (tensor<2xi8>, tensor<3xi8>) -> tensor<2x3xi32>
  return %0 : tensor<2x3xi32>
}

// Unknown and bounded sizes agree with any.
// CHECK-LABEL: @unknown_sizes
// CHECK: -> tensor<2x?x6xf32, #stablehlo.bounds<?, 9, ?>>
func.func @unknown_sizes(%l: tensor<?x?x4xf32, #stablehlo.bounds<?, 9, ?>>, %r: tensor<2x?x6xf32>)
    -> tensor<2x?x6xf32, #stablehlo.bounds<?, 9, ?>> {
  %0 = stablehlo.dot_general %l, %r, batching_dims = [0] x [0], contracting_dims = [2] x [1]
      : (tensor<?x?x4xf32, #stablehlo.bounds<?, 9, ?>>, tensor<2x?x6xf32>) -> tensor<2x?x6xf32, #stablehlo.bounds<?, 9, ?>>
  return %0 : tensor<2x?x6xf32, #stablehlo.bounds<?, 9, ?>>
}

// CHECK-LABEL: @precise
// CHECK: precision = [HIGHEST, DEFAULT] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
func.func @precise(%l: tensor<2x3xf32>, %r: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %0 = stablehlo.dot_general %l, %r, contracting_dims = [1] x [0], precision = [HIGHEST, DEFAULT]
      : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: @with_algorithm
// CHECK: precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false>
func.func @with_algorithm(%l: tensor<2x3xf32>, %r: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %0 = stablehlo.dot_general %l, %r, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT],
      algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32,
                   lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3,
                   allow_imprecise_accumulation = false>
      : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: @floats_of_two_widths
// CHECK: (tensor<2x3xf8E4M3FN>, tensor<3x4xf8E5M2>) -> tensor<2x4xf32>
func.func @floats_of_two_widths(%l: tensor<2x3xf8E4M3FN>, %r: tensor<3x4xf8E5M2>) -> tensor<2x4xf32> {
  %0 = stablehlo.dot_general %l, %r, contracting_dims = [1] x [0]
      : (tensor<2x3xf8E4M3FN>, tensor<3x4xf8E5M2>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: @quantized_per_axis
// CHECK: -> tensor<2x2x!quant.uniform<i32:f32:1, {2.000000e+00,4.000000e+00}>>
func.func @quantized_per_axis(%l: tensor<2x3x!quant.uniform<i8:f32, 2.0:7>>, %r: tensor<3x2x!quant.uniform<i8:f32:1, {1.0, 2.0}>>)
    -> tensor<2x2x!quant.uniform<i32:f32:1, {2.0, 4.0}>> {
  %0 = stablehlo.dot_general %l, %r, contracting_dims = [1] x [0]
      : (tensor<2x3x!quant.uniform<i8:f32, 2.0:7>>, tensor<3x2x!quant.uniform<i8:f32:1, {1.0, 2.0}>>)
      -> tensor<2x2x!quant.uniform<i32:f32:1, {2.0, 4.0}>>
  return %0 : tensor<2x2x!quant.uniform<i32:f32:1, {2.0, 4.0}>>
}

// Quantized weights, real activations.
// CHECK-LABEL: @hybrid
// CHECK: (tensor<2x3xf32>, tensor<3x2x!quant.uniform<i8:f32:1, {1.000000e+00,2.000000e+00}>>) -> tensor<2x2xf32>
func.func @hybrid(%l: tensor<2x3xf32>, %r: tensor<3x2x!quant.uniform<i8:f32:1, {1.0, 2.0}>>) -> tensor<2x2xf32> {
  %0 = stablehlo.dot_general %l, %r, contracting_dims = [1] x [0]
      : (tensor<2x3xf32>, tensor<3x2x!quant.uniform<i8:f32:1, {1.0, 2.0}>>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// CHECK-LABEL: @older_dots
// CHECK: stablehlo.dot %{{.*}}, %{{.*}} : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3xf32>
// CHECK: stablehlo.dot %{{.*}}, %{{.*}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
// CHECK: stablehlo.dot %{{.*}}, %{{.*}}, precision = [HIGH, HIGH] : (tensor<4xf32>, tensor<4x?xf32>) -> tensor<?xf32>
func.func @older_dots(%m: tensor<3x4xf32>, %v: tensor<4xf32>, %n: tensor<4x?xf32>) {
  %0 = stablehlo.dot %m, %v : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3xf32>
  %1 = stablehlo.dot %v, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  %2 = stablehlo.dot %v, %n, precision = [HIGH, HIGH] : (tensor<4xf32>, tensor<4x?xf32>) -> tensor<?xf32>
  return
}

// RUN: alula-opt %s | FileCheck %s
// RUN: alula-opt %s | alula-opt | FileCheck %s
// RUN: alula-opt %s --mlir-print-op-generic | alula-opt | FileCheck %s
// RUN: alula-opt %s --emit=bytecode | alula-opt | FileCheck %s

// Result shapes are those of jax.lax.conv_general_dilated.

// CHECK-LABEL: @grouped_features
// CHECK: stablehlo.convolution(%{{.*}}, %{{.*}}) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = {{\[\[}}1, 2], [0, -1]], lhs_dilate = [1, 2], rhs_dilate = [2, 1]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<2x9x7x4xf32>, tensor<3x2x2x6xf32>) -> tensor<2x4x11x6xf32>
func.func @grouped_features(%l: tensor<2x9x7x4xf32>, %r: tensor<3x2x2x6xf32>) -> tensor<2x4x11x6xf32> {
  %0 = stablehlo.convolution(%l, %r)
      dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {stride = [2, 1], pad = [[1, 2], [0, -1]], lhs_dilate = [1, 2], rhs_dilate = [2, 1]}
      {batch_group_count = 1 : i64, feature_group_count = 2 : i64}
      : (tensor<2x9x7x4xf32>, tensor<3x2x2x6xf32>) -> tensor<2x4x11x6xf32>
  return %0 : tensor<2x4x11x6xf32>
}

// CHECK-LABEL: @grouped_batches
// CHECK: dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {reverse = [true, false]} {{.*}} -> tensor<2x6x6x6xf32>
func.func @grouped_batches(%l: tensor<4x3x8x8xf32>, %r: tensor<6x3x3x3xf32>) -> tensor<2x6x6x6xf32> {
  %0 = stablehlo.convolution(%l, %r)
      dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
      window = {reverse = [true, false]}
      {batch_group_count = 2 : i64, feature_group_count = 1 : i64}
      : (tensor<4x3x8x8xf32>, tensor<6x3x3x3xf32>) -> tensor<2x6x6x6xf32>
  return %0 : tensor<2x6x6x6xf32>
}

// Without spatial dimensions it is a matrix product.
// CHECK-LABEL: @no_window
// CHECK: dim_numbers = [b, f]x[i, o]->[b, f], window = {} {{.*}} -> tensor<2x4xf32>
func.func @no_window(%l: tensor<2x3xf16>, %r: tensor<3x4xf16>) -> tensor<2x4xf32> {
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, f]x[i, o]->[b, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<2x3xf16>, tensor<3x4xf16>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: @unknown_sizes
// CHECK: -> tensor<?x?x6xf32, #stablehlo.bounds<8, 7, ?>>
func.func @unknown_sizes(%l: tensor<?x?x4xf32, #stablehlo.bounds<8, 9, ?>>, %r: tensor<3x?x6xf32>)
    -> tensor<?x?x6xf32, #stablehlo.bounds<8, 7, ?>> {
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<?x?x4xf32, #stablehlo.bounds<8, 9, ?>>, tensor<3x?x6xf32>) -> tensor<?x?x6xf32, #stablehlo.bounds<8, 7, ?>>
  return %0 : tensor<?x?x6xf32, #stablehlo.bounds<8, 7, ?>>
}

// CHECK-LABEL: @quantized
// CHECK: -> tensor<1x6x2x!quant.uniform<i32:f32:2, {2.000000e+00,4.000000e+00}>>
func.func @quantized(%l: tensor<1x8x4x!quant.uniform<i8:f32, 2.0:7>>, %r: tensor<3x4x2x!quant.uniform<i8:f32:2, {1.0, 2.0}>>)
    -> tensor<1x6x2x!quant.uniform<i32:f32:2, {2.0, 4.0}>> {
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<1x8x4x!quant.uniform<i8:f32, 2.0:7>>, tensor<3x4x2x!quant.uniform<i8:f32:2, {1.0, 2.0}>>)
      -> tensor<1x6x2x!quant.uniform<i32:f32:2, {2.0, 4.0}>>
  return %0 : tensor<1x6x2x!quant.uniform<i32:f32:2, {2.0, 4.0}>>
}

// CHECK-LABEL: @padding_as_a_value
// CHECK: "stablehlo.dynamic_conv"({{.*}}) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64}> : (tensor<1x8x4xf32>, tensor<3x4x6xf32>, tensor<1x2xi32>) -> tensor<1x?x6xf32>
// CHECK: -> tensor<1x9x6xf32>
func.func @padding_as_a_value(%l: tensor<1x8x4xf32>, %r: tensor<3x4x6xf32>, %p: tensor<1x2xi32>) {
  %0 = "stablehlo.dynamic_conv"(%l, %r, %p) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64}>
      : (tensor<1x8x4xf32>, tensor<3x4x6xf32>, tensor<1x2xi32>) -> tensor<1x?x6xf32>
  %q = stablehlo.constant dense<[[1, 2]]> : tensor<1x2xi64>
  %1 = "stablehlo.dynamic_conv"(%l, %r, %q) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64}>
      : (tensor<1x8x4xf32>, tensor<3x4x6xf32>, tensor<1x2xi64>) -> tensor<1x9x6xf32>
  return
}

// Empty lists say no more than missing ones.
// CHECK-LABEL: @empty_lists
// CHECK: -> tensor<1x6x6xf32>
func.func @empty_lists(%l: tensor<1x8x4xf32>, %r: tensor<3x4x6xf32>) -> tensor<1x6x6xf32> {
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
      window = {stride = [], pad = [], lhs_dilate = [], rhs_dilate = [], reverse = []}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<1x8x4xf32>, tensor<3x4x6xf32>) -> tensor<1x6x6xf32>
  return %0 : tensor<1x6x6xf32>
}

// CHECK-LABEL: @quantized_with_padding_as_a_value
// CHECK: -> tensor<1x?x2x!quant.uniform<i32:f32:2, {2.000000e+00,4.000000e+00}>>
func.func @quantized_with_padding_as_a_value(
    %l: tensor<1x8x4x!quant.uniform<i8:f32, 2.0:7>>, %r: tensor<3x4x2x!quant.uniform<i8:f32:2, {1.0, 2.0}>>, %p: tensor<1x2xi64>)
    -> tensor<1x?x2x!quant.uniform<i32:f32:2, {2.0, 4.0}>> {
  %0 = "stablehlo.dynamic_conv"(%l, %r, %p) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64}>
      : (tensor<1x8x4x!quant.uniform<i8:f32, 2.0:7>>, tensor<3x4x2x!quant.uniform<i8:f32:2, {1.0, 2.0}>>, tensor<1x2xi64>)
      -> tensor<1x?x2x!quant.uniform<i32:f32:2, {2.0, 4.0}>>
  return %0 : tensor<1x?x2x!quant.uniform<i32:f32:2, {2.0, 4.0}>>
}

// Rows of a depthwise convolution are calls of the library where channels lie
// side by side.
// RUN: alula-compile %s --compile-to=kernel -o - | FileCheck %s

module {
// CHECK-LABEL: func.func @last_0
// CHECK: scf.parallel
// CHECK-NOT: scf.for
// CHECK: call @alula_depthwise_f32(
func.func @last(%x: tensor<2x14x14x48xf32>, %w: tensor<3x3x1x48xf32>) -> tensor<2x7x7x48xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {stride = [2, 2], pad = [[1, 1], [1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 48 : i64}
    : (tensor<2x14x14x48xf32>, tensor<3x3x1x48xf32>) -> tensor<2x7x7x48xf32>
  return %0 : tensor<2x7x7x48xf32>
}

// CHECK-LABEL: func.func @line_1
// CHECK: call @alula_depthwise_f64(
func.func @line(%x: tensor<1x50x9xf64>, %w: tensor<4x1x9xf64>) -> tensor<1x47x9xf64> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {} {batch_group_count = 1 : i64, feature_group_count = 9 : i64}
    : (tensor<1x50x9xf64>, tensor<4x1x9xf64>) -> tensor<1x47x9xf64>
  return %0 : tensor<1x47x9xf64>
}

// CHECK-LABEL: func.func @first_2
// CHECK-NOT: @alula_depthwise
func.func @first(%x: tensor<1x9x50xf32>, %w: tensor<9x1x4xf32>) -> tensor<1x9x47xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0],
    window = {} {batch_group_count = 1 : i64, feature_group_count = 9 : i64}
    : (tensor<1x9x50xf32>, tensor<9x1x4xf32>) -> tensor<1x9x47xf32>
  return %0 : tensor<1x9x47xf32>
}
}

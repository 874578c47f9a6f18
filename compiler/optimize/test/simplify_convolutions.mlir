// RUN: alula-opt %s -split-input-file -optimize-simplify-convolutions | FileCheck %s

// A window that is turned twice in one dimension is not turned there.
// CHECK-LABEL: func.func @reverse
// CHECK-NOT: stablehlo.reverse
// CHECK: stablehlo.convolution(%arg0, %arg1) {{.*}}reverse = [false, true]
func.func @reverse(%x: tensor<1x9x9x4xf32>, %w: tensor<3x3x4x8xf32>) -> tensor<1x7x7x8xf32> {
  %0 = stablehlo.reverse %w, dims = [0, 1] : tensor<3x3x4x8xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {reverse = [true, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x9x9x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x7x7x8xf32>
  return %1 : tensor<1x7x7x8xf32>
}

// -----

// Features that are turned stay so.
// CHECK-LABEL: func.func @features
// CHECK: stablehlo.reverse
// CHECK: stablehlo.convolution
// CHECK-NOT: reverse
func.func @features(%x: tensor<1x9x9x4xf32>, %w: tensor<3x3x4x8xf32>) -> tensor<1x7x7x8xf32> {
  %0 = stablehlo.reverse %w, dims = [0, 2] : tensor<3x3x4x8xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x9x9x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x7x7x8xf32>
  return %1 : tensor<1x7x7x8xf32>
}

// -----

// CHECK-LABEL: func.func @one_element
// CHECK: %[[W:.*]] = stablehlo.reshape %arg1 : (tensor<1x1x4x8xf32>) -> tensor<4x8xf32>
// CHECK: stablehlo.dot_general %arg0, %[[W]], contracting_dims = [3] x [0] : (tensor<?x9x9x4xf32>, tensor<4x8xf32>) -> tensor<?x9x9x8xf32>
func.func @one_element(%x: tensor<?x9x9x4xf32>, %w: tensor<1x1x4x8xf32>) -> tensor<?x9x9x8xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<?x9x9x4xf32>, tensor<1x1x4x8xf32>) -> tensor<?x9x9x8xf32>
  return %0 : tensor<?x9x9x8xf32>
}

// -----

// Its gradient by inputs: the matrix is read the other way round.
// CHECK-LABEL: func.func @transposed
// CHECK: stablehlo.dot_general %arg0, %{{.*}}, contracting_dims = [2] x [1] : (tensor<2x9x8xf32>, tensor<4x8xf32>) -> tensor<2x9x4xf32>
func.func @transposed(%x: tensor<2x9x8xf32>, %w: tensor<1x4x8xf32>) -> tensor<2x9x4xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, o, i]->[b, 0, f], window = {stride = [1], pad = [[0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x9x8xf32>, tensor<1x4x8xf32>) -> tensor<2x9x4xf32>
  return %0 : tensor<2x9x4xf32>
}

// -----

// Strides, padding, groups and features that are not last are none of a product.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-4: stablehlo.convolution
// CHECK-NOT: stablehlo.dot_general
func.func @others(%x: tensor<2x9x4xf32>, %w: tensor<1x4x8xf32>, %g: tensor<1x2x8xf32>) -> (tensor<2x5x8xf32>, tensor<2x10x8xf32>, tensor<2x9x8xf32>, tensor<2x8x9xf32>) {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x9x4xf32>, tensor<1x4x8xf32>) -> tensor<2x5x8xf32>
  %1 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[0, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x9x4xf32>, tensor<1x4x8xf32>) -> tensor<2x10x8xf32>
  %2 = stablehlo.convolution(%x, %g) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<2x9x4xf32>, tensor<1x2x8xf32>) -> tensor<2x9x8xf32>
  %3 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x9x4xf32>, tensor<1x4x8xf32>) -> tensor<2x8x9xf32>
  return %0, %1, %2, %3 : tensor<2x5x8xf32>, tensor<2x10x8xf32>, tensor<2x9x8xf32>, tensor<2x8x9xf32>
}

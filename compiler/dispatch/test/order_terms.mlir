// RUN: alula-opt %s --dispatch-order-terms | FileCheck %s

// CHECK-LABEL: @both_agree
// CHECK: contracting_dims = [0, 2] x [0, 1]
func.func @both_agree(%x: tensor<8x16x32xf32>, %w: tensor<8x32x64xf32>) -> tensor<16x64xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [2, 0] x [1, 0] : (tensor<8x16x32xf32>, tensor<8x32x64xf32>) -> tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}

// The right side's rows are next to each other in either order: the left
// one's terms are.
// CHECK-LABEL: @left_ends_with_terms
// CHECK: contracting_dims = [1, 2] x [1, 0]
func.func @left_ends_with_terms(%x: tensor<16x8x32xf32>, %w: tensor<32x8x64xf32>) -> tensor<16x64xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [2, 1] x [0, 1] : (tensor<16x8x32xf32>, tensor<32x8x64xf32>) -> tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}

// CHECK-LABEL: @right_ends_with_terms
// CHECK: contracting_dims = [1, 0] x [1, 2]
func.func @right_ends_with_terms(%x: tensor<32x8x16xf32>, %w: tensor<64x8x32xf32>) -> tensor<16x64xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [0, 1] x [2, 1] : (tensor<32x8x16xf32>, tensor<64x8x32xf32>) -> tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}

// Batches stay.
// CHECK-LABEL: @with_batches
// CHECK: batching_dims = [1] x [0], contracting_dims = [0, 3] x [2, 1]
func.func @with_batches(%x: tensor<8x4x16x32xf32>, %w: tensor<4x32x8x64xf32>) -> tensor<4x16x64xf32> {
  %0 = stablehlo.dot_general %x, %w, batching_dims = [1] x [0], contracting_dims = [3, 0] x [1, 2] : (tensor<8x4x16x32xf32>, tensor<4x32x8x64xf32>) -> tensor<4x16x64xf32>
  return %0 : tensor<4x16x64xf32>
}

// CHECK-LABEL: @outer_product
// CHECK: contracting_dims = [] x []
func.func @outer_product(%x: tensor<8xf32>, %y: tensor<3xf32>) -> tensor<8x3xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [] x [] : (tensor<8xf32>, tensor<3xf32>) -> tensor<8x3xf32>
  return %0 : tensor<8x3xf32>
}

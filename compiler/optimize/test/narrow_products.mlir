// RUN: alula-opt %s -split-input-file -optimize-narrow-products | FileCheck %s

// CHECK-LABEL: func.func @widened_bytes
// CHECK-NEXT: stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<2x3xui8>, tensor<3x4xi8>) -> tensor<2x4xi32>
func.func @widened_bytes(%x: tensor<2x3xui8>, %y: tensor<3x4xi8>) -> tensor<2x4xi32> {
  %a = stablehlo.convert %x : (tensor<2x3xui8>) -> tensor<2x3xi32>
  %b = stablehlo.convert %y : (tensor<3x4xi8>) -> tensor<3x4xi32>
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x3xi32>, tensor<3x4xi32>) -> tensor<2x4xi32>
  return %0 : tensor<2x4xi32>
}

// -----

// CHECK-LABEL: func.func @moved_nibbles
// CHECK: %[[Y:.*]] = stablehlo.convert %arg1 : (tensor<12xi4>) -> tensor<12xi8>
// CHECK: %[[R:.*]] = stablehlo.reshape %[[Y]] : (tensor<12xi8>) -> tensor<4x3xi8>
// CHECK: %[[T:.*]] = stablehlo.transpose %[[R]], dims = [1, 0] : (tensor<4x3xi8>) -> tensor<3x4xi8>
// CHECK: stablehlo.dot_general %arg0, %[[T]]
func.func @moved_nibbles(%x: tensor<2x3xi8>, %y: tensor<12xi4>) -> tensor<2x4xi32> {
  %a = stablehlo.convert %x : (tensor<2x3xi8>) -> tensor<2x3xi32>
  %b = stablehlo.convert %y : (tensor<12xi4>) -> tensor<12xi32>
  %r = stablehlo.reshape %b : (tensor<12xi32>) -> tensor<4x3xi32>
  %t = stablehlo.transpose %r, dims = [1, 0] : (tensor<4x3xi32>) -> tensor<3x4xi32>
  %0 = stablehlo.dot_general %a, %t, contracting_dims = [1] x [0] : (tensor<2x3xi32>, tensor<3x4xi32>) -> tensor<2x4xi32>
  return %0 : tensor<2x4xi32>
}

// -----

// CHECK-LABEL: func.func @convolution
// CHECK: stablehlo.convolution(%arg0, %arg1)
// CHECK-SAME: (tensor<1x5x2xui8>, tensor<3x2x4xui8>) -> tensor<1x3x4xi32>
func.func @convolution(%x: tensor<1x5x2xui8>, %y: tensor<3x2x4xui8>) -> tensor<1x3x4xi32> {
  %a = stablehlo.convert %x : (tensor<1x5x2xui8>) -> tensor<1x5x2xi32>
  %b = stablehlo.convert %y : (tensor<3x2x4xui8>) -> tensor<3x2x4xi32>
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x5x2xi32>, tensor<3x2x4xi32>) -> tensor<1x3x4xi32>
  return %0 : tensor<1x3x4xi32>
}

// -----

// Both sides of a convolution must be of one type.
// CHECK-LABEL: func.func @convolution_of_two_kinds
// CHECK: stablehlo.convolution
// CHECK-SAME: (tensor<1x5x2xi32>, tensor<3x2x4xi32>)
func.func @convolution_of_two_kinds(%x: tensor<1x5x2xui8>, %y: tensor<3x2x4xi8>) -> tensor<1x3x4xi32> {
  %a = stablehlo.convert %x : (tensor<1x5x2xui8>) -> tensor<1x5x2xi32>
  %b = stablehlo.convert %y : (tensor<3x2x4xi8>) -> tensor<3x2x4xi32>
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x5x2xi32>, tensor<3x2x4xi32>) -> tensor<1x3x4xi32>
  return %0 : tensor<1x3x4xi32>
}

// -----

// Bits that conversion drops or reads with another sign stay as they are; so do
// wide elements and wide sums.
// CHECK-LABEL: func.func @others
// CHECK: stablehlo.dot_general %{{[0-9]+}}, %{{[0-9]+}}, {{.*}} : (tensor<2x3xui32>, tensor<3x4xui32>) -> tensor<2x4xui32>
// CHECK: stablehlo.dot_general %{{[0-9]+}}, %arg2, {{.*}} : (tensor<2x3xi32>, tensor<3x4xi32>) -> tensor<2x4xi32>
// CHECK: stablehlo.dot_general {{.*}} : (tensor<2x3xi64>, tensor<3x4xi64>) -> tensor<2x4xi64>
func.func @others(%x: tensor<2x3xi8>, %y: tensor<3x4xi8>, %z: tensor<3x4xi32>) -> (tensor<2x4xui32>, tensor<2x4xi32>, tensor<2x4xi64>) {
  %0 = stablehlo.convert %x : (tensor<2x3xi8>) -> tensor<2x3xui32>
  %1 = stablehlo.convert %y : (tensor<3x4xi8>) -> tensor<3x4xui32>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<2x3xui32>, tensor<3x4xui32>) -> tensor<2x4xui32>
  %3 = stablehlo.convert %x : (tensor<2x3xi8>) -> tensor<2x3xi32>
  %4 = stablehlo.dot_general %3, %z, contracting_dims = [1] x [0] : (tensor<2x3xi32>, tensor<3x4xi32>) -> tensor<2x4xi32>
  %5 = stablehlo.convert %x : (tensor<2x3xi8>) -> tensor<2x3xi64>
  %6 = stablehlo.convert %y : (tensor<3x4xi8>) -> tensor<3x4xi64>
  %7 = stablehlo.dot_general %5, %6, contracting_dims = [1] x [0] : (tensor<2x3xi64>, tensor<3x4xi64>) -> tensor<2x4xi64>
  return %2, %4, %7 : tensor<2x4xui32>, tensor<2x4xi32>, tensor<2x4xi64>
}

// RUN: alula-opt %s -split-input-file -optimize-simplify-movement | FileCheck %s

// CHECK-LABEL: func.func @nothing
// CHECK-NEXT: return %arg0
func.func @nothing(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %none = stablehlo.constant dense<> : tensor<0x3xf32>
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %2 = stablehlo.reshape %1 : (tensor<2x3xf32>) -> tensor<6xf32>
  %3 = stablehlo.reshape %2 : (tensor<6xf32>) -> tensor<2x3xf32>
  %4 = stablehlo.reverse %3, dims = [0] : tensor<2x3xf32>
  %5 = stablehlo.reverse %4, dims = [0] : tensor<2x3xf32>
  %6 = stablehlo.pad %5, %zero, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %7 = stablehlo.concatenate %6, %none, dim = 0 : (tensor<2x3xf32>, tensor<0x3xf32>) -> tensor<2x3xf32>
  %8 = stablehlo.slice %7 [0:2, 0:3] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %9 = stablehlo.dynamic_slice %8, %one, %one, sizes = [2, 3] : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  %10 = stablehlo.dynamic_update_slice %x, %9, %one, %one : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  %11 = stablehlo.convert %10 : (tensor<2x3xf32>) -> tensor<2x3xf64>
  %12 = stablehlo.convert %11 : (tensor<2x3xf64>) -> tensor<2x3xf32>
  return %12 : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @one
// CHECK-DAG: stablehlo.broadcast_in_dim %arg0, dims = [2] : (tensor<4xf32>) -> tensor<2x3x4xf32>
// CHECK-DAG: stablehlo.slice %arg1 [3:10:6] : (tensor<20xf32>) -> tensor<2xf32>
// CHECK-DAG: stablehlo.slice %arg1 [15:20] : (tensor<20xf32>) -> tensor<5xf32>
// CHECK-DAG: stablehlo.reshape %arg0 : (tensor<4xf32>) -> tensor<4x1xf32>
func.func @one(%x: tensor<4xf32>, %y: tensor<20xf32>) -> (tensor<2x3x4xf32>, tensor<2xf32>, tensor<5xf32>, tensor<4x1xf32>) {
  %far = stablehlo.constant dense<1000> : tensor<i64>
  %0 = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<4xf32>) -> tensor<3x4xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [1, 2] : (tensor<3x4xf32>) -> tensor<2x3x4xf32>
  %2 = stablehlo.slice %y [1:16:2] : (tensor<20xf32>) -> tensor<8xf32>
  %3 = stablehlo.slice %2 [1:7:3] : (tensor<8xf32>) -> tensor<2xf32>
  %4 = stablehlo.dynamic_slice %y, %far, sizes = [5] : (tensor<20xf32>, tensor<i64>) -> tensor<5xf32>
  %5 = stablehlo.reshape %x : (tensor<4xf32>) -> tensor<1x4xf32>
  %6 = stablehlo.transpose %5, dims = [1, 0] : (tensor<1x4xf32>) -> tensor<4x1xf32>
  return %1, %3, %4, %6 : tensor<2x3x4xf32>, tensor<2xf32>, tensor<5xf32>, tensor<4x1xf32>
}

// -----

// Does not fire: a narrower type on the way, another sign, unknown sizes.
// CHECK-LABEL: func.func @left
// CHECK-COUNT-4: stablehlo.convert
// CHECK: stablehlo.slice
func.func @left(%x: tensor<2xf32>, %i: tensor<2xi8>, %d: tensor<?xf32>) -> (tensor<2xf32>, tensor<2xi8>, tensor<?xf32>) {
  %0 = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xbf16>
  %1 = stablehlo.convert %0 : (tensor<2xbf16>) -> tensor<2xf32>
  %2 = stablehlo.convert %i : (tensor<2xi8>) -> tensor<2xui16>
  %3 = stablehlo.convert %2 : (tensor<2xui16>) -> tensor<2xi8>
  %4 = stablehlo.slice %d [0:5] : (tensor<?xf32>) -> tensor<?xf32>
  return %1, %3, %4 : tensor<2xf32>, tensor<2xi8>, tensor<?xf32>
}

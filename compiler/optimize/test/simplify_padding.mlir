// RUN: alula-opt %s -split-input-file -optimize-simplify-padding | FileCheck %s

// The gradient of two slices that leave something out. -0 becomes 0, as in the
// sum.
// CHECK-LABEL: func.func @slices
// CHECK-DAG: %[[TWO:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<4x2xf32>
// CHECK-DAG: %[[GAP:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<4x3xf32>
// CHECK-DAG: %[[END:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<4x1xf32>
// CHECK-DAG: %[[X:.*]] = stablehlo.add %arg0, %[[TWO]]
// CHECK-DAG: %[[Y:.*]] = stablehlo.add %arg1,
// CHECK: %[[Z:.*]] = stablehlo.concatenate %[[X]], %[[GAP]], %[[Y]], %[[END]], dim = 1
// CHECK-NOT: stablehlo.pad
// CHECK: return %[[Z]]
func.func @slices(%x: tensor<4x2xf32>, %y: tensor<4x2xf32>) -> tensor<4x8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %x, %zero, low = [0, 0], high = [0, 6], interior = [0, 0] : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x8xf32>
  %1 = stablehlo.pad %y, %zero, low = [0, 5], high = [0, 1], interior = [0, 0] : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x8xf32>
  %2 = stablehlo.add %1, %0 : tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

// Many become one, integers as they are; a sum with something else ends there.
// CHECK-LABEL: func.func @chain
// CHECK: %[[ALL:.*]] = stablehlo.concatenate %arg0, %arg1, %arg2, dim = 0
// CHECK-NOT: stablehlo.pad
// CHECK: stablehlo.add %[[ALL]], %arg3
func.func @chain(%x: tensor<2xi32>, %y: tensor<1xi32>, %z: tensor<3xi32>, %other: tensor<6xi32>) -> tensor<6xi32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.pad %z, %zero, low = [3], high = [0], interior = [0] : (tensor<3xi32>, tensor<i32>) -> tensor<6xi32>
  %1 = stablehlo.pad %x, %zero, low = [0], high = [4], interior = [0] : (tensor<2xi32>, tensor<i32>) -> tensor<6xi32>
  %2 = stablehlo.pad %y, %zero, low = [2], high = [3], interior = [0] : (tensor<1xi32>, tensor<i32>) -> tensor<6xi32>
  %3 = stablehlo.add %0, %1 : tensor<6xi32>
  %4 = stablehlo.add %3, %2 : tensor<6xi32>
  %5 = stablehlo.add %4, %other : tensor<6xi32>
  return %5 : tensor<6xi32>
}

// -----

// Where two overlap, where one is read elsewhere, between elements, with what is
// cut off, with another number or -0, along two dimensions, nothing is done.
// CHECK-LABEL: func.func @others
// CHECK-NOT: stablehlo.concatenate
func.func @others(%x: tensor<2x2xf32>, %y: tensor<2x3xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<3x4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %minus = stablehlo.constant dense<-0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.pad %x, %zero, low = [0, 0], high = [0, 2], interior = [0, 0] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x4xf32>
  %1 = stablehlo.pad %y, %zero, low = [0, 1], high = [0, 0], interior = [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x4xf32>
  %2 = stablehlo.add %0, %1 : tensor<2x4xf32>
  %3 = stablehlo.pad %x, %zero, low = [0, 0], high = [0, 2], interior = [0, 0] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x4xf32>
  %4 = stablehlo.pad %x, %zero, low = [0, 2], high = [0, 0], interior = [0, 0] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x4xf32>
  %5 = stablehlo.add %3, %4 : tensor<2x4xf32>
  %6 = stablehlo.pad %x, %zero, low = [0, 0], high = [0, 1], interior = [0, 1] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x4xf32>
  %7 = stablehlo.pad %x, %minus, low = [0, 2], high = [0, 0], interior = [0, 0] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x4xf32>
  %8 = stablehlo.add %6, %7 : tensor<2x4xf32>
  %9 = stablehlo.pad %y, %zero, low = [0, 2], high = [0, -1], interior = [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x4xf32>
  %10 = stablehlo.pad %x, %one, low = [0, 0], high = [0, 2], interior = [0, 0] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x4xf32>
  %11 = stablehlo.add %9, %10 : tensor<2x4xf32>
  %12 = stablehlo.pad %x, %zero, low = [0, 0], high = [1, 2], interior = [0, 0] : (tensor<2x2xf32>, tensor<f32>) -> tensor<3x4xf32>
  %13 = stablehlo.pad %x, %zero, low = [1, 2], high = [0, 0], interior = [0, 0] : (tensor<2x2xf32>, tensor<f32>) -> tensor<3x4xf32>
  %14 = stablehlo.add %12, %13 : tensor<3x4xf32>
  return %2, %5, %3, %4, %8, %11, %14 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<3x4xf32>
}

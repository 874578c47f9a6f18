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

// -----

// Padding by reflection: pieces of %x.
// CHECK-LABEL: func.func @reflected
// CHECK-SAME: %[[X:.*]]: tensor<8x9xf32>
// CHECK-DAG: %[[A:.*]] = stablehlo.slice %[[X]] [1:3, 0:9]
// CHECK-DAG: %[[B:.*]] = stablehlo.reverse %[[A]], dims = [0]
// CHECK-DAG: %[[C:.*]] = stablehlo.slice %[[X]] [5:7, 0:9]
// CHECK-DAG: %[[D:.*]] = stablehlo.reverse %[[C]], dims = [0]
// CHECK-DAG: %[[MIDDLE:.*]] = stablehlo.concatenate %[[B]], %[[X]], %[[D]], dim = 0
// CHECK-DAG: %[[E:.*]] = stablehlo.slice %[[X]] [1:3, 1:4]
// CHECK-DAG: %[[F:.*]] = stablehlo.slice %[[X]] [0:8, 1:4]
// CHECK-DAG: %[[G:.*]] = stablehlo.slice %[[X]] [5:7, 1:4]
// CHECK-DAG: %[[H:.*]] = stablehlo.reverse %[[E]], dims = [0, 1]
// CHECK-DAG: %[[I:.*]] = stablehlo.reverse %[[F]], dims = [1]
// CHECK-DAG: %[[J:.*]] = stablehlo.reverse %[[G]], dims = [0, 1]
// CHECK-DAG: %[[LEFT:.*]] = stablehlo.concatenate %[[H]], %[[I]], %[[J]], dim = 0
// CHECK: stablehlo.concatenate %[[LEFT]], %[[MIDDLE]], dim = 1
func.func @reflected(%x: tensor<8x9xf32>) -> tensor<12x12xf32> {
  %0 = stablehlo.slice %x [1:3, 0:9] : (tensor<8x9xf32>) -> tensor<2x9xf32>
  %1 = stablehlo.reverse %0, dims = [0] : tensor<2x9xf32>
  %2 = stablehlo.concatenate %1, %x, dim = 0 : (tensor<2x9xf32>, tensor<8x9xf32>) -> tensor<10x9xf32>
  %3 = stablehlo.slice %2 [7:9, 0:9] : (tensor<10x9xf32>) -> tensor<2x9xf32>
  %4 = stablehlo.reverse %3, dims = [0] : tensor<2x9xf32>
  %5 = stablehlo.concatenate %2, %4, dim = 0 : (tensor<10x9xf32>, tensor<2x9xf32>) -> tensor<12x9xf32>
  %6 = stablehlo.slice %5 [0:12, 1:4] : (tensor<12x9xf32>) -> tensor<12x3xf32>
  %7 = stablehlo.reverse %6, dims = [1] : tensor<12x3xf32>
  %8 = stablehlo.concatenate %7, %5, dim = 1 : (tensor<12x3xf32>, tensor<12x9xf32>) -> tensor<12x12xf32>
  return %8 : tensor<12x12xf32>
}

// -----

// CHECK-LABEL: func.func @parts
// CHECK-DAG: %[[A:.*]] = stablehlo.slice %arg0 [4:7:2]
// CHECK-DAG: %[[B:.*]] = stablehlo.reverse %[[A]], dims = [0]
// CHECK-DAG: %[[C:.*]] = stablehlo.exponential %arg1
// CHECK: return %[[B]], %[[C]]
func.func @parts(%x: tensor<9xf32>, %y: tensor<3xf32>) -> (tensor<2xf32>, tensor<3xf32>) {
  %0 = stablehlo.reverse %x, dims = [0] : tensor<9xf32>
  %1 = stablehlo.slice %0 [2:5:2] : (tensor<9xf32>) -> tensor<2xf32>
  // Nobody needs both.
  %2 = stablehlo.exponential %y : tensor<3xf32>
  %3 = stablehlo.concatenate %2, %y, dim = 0 : (tensor<3xf32>, tensor<3xf32>) -> tensor<6xf32>
  %4 = stablehlo.slice %3 [0:3] : (tensor<6xf32>) -> tensor<3xf32>
  return %1, %4 : tensor<2xf32>, tensor<3xf32>
}

// -----

// What is computed where it is put together stays there, and so do steps over
// the ends of pieces.
// CHECK-LABEL: func.func @together
// CHECK: %[[A:.*]] = stablehlo.concatenate %{{.*}}, %arg0
// CHECK: stablehlo.slice %[[A]] [0:2]
// CHECK: %[[B:.*]] = stablehlo.concatenate %arg0, %arg0
// CHECK: stablehlo.slice %[[B]] [0:6:2]
func.func @together(%x: tensor<3xf32>) -> (tensor<6xf32>, tensor<2xf32>, tensor<3xf32>) {
  %0 = stablehlo.exponential %x : tensor<3xf32>
  %1 = stablehlo.concatenate %0, %x, dim = 0 : (tensor<3xf32>, tensor<3xf32>) -> tensor<6xf32>
  %2 = stablehlo.slice %1 [0:2] : (tensor<6xf32>) -> tensor<2xf32>
  %3 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<3xf32>, tensor<3xf32>) -> tensor<6xf32>
  %4 = stablehlo.slice %3 [0:6:2] : (tensor<6xf32>) -> tensor<3xf32>
  return %1, %2, %4 : tensor<6xf32>, tensor<2xf32>, tensor<3xf32>
}

// -----

// Columns that are put together as rows are columns; larger pieces are copied.
// CHECK-LABEL: func.func @columns
// CHECK: %[[X:.*]] = stablehlo.reshape %arg0 : (tensor<5xf32>) -> tensor<5x1xf32>
// CHECK: %[[Y:.*]] = stablehlo.reshape %arg1 : (tensor<5xf32>) -> tensor<5x1xf32>
// CHECK: %[[C:.*]] = stablehlo.concatenate %[[X]], %[[Y]], dim = 1
// CHECK-NOT: transpose
// CHECK: return %[[C]]
func.func @columns(%x: tensor<5xf32>, %y: tensor<5xf32>) -> tensor<5x2xf32> {
  %0 = stablehlo.reshape %x : (tensor<5xf32>) -> tensor<1x5xf32>
  %1 = stablehlo.reshape %y : (tensor<5xf32>) -> tensor<1x5xf32>
  %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1x5xf32>, tensor<1x5xf32>) -> tensor<2x5xf32>
  %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<2x5xf32>) -> tensor<5x2xf32>
  return %3 : tensor<5x2xf32>
}

// -----

// CHECK-LABEL: func.func @no_columns
// CHECK: stablehlo.transpose
func.func @no_columns(%x: tensor<2x5xf32>) -> tensor<5x4xf32> {
  %0 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<4x5xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x5xf32>) -> tensor<5x4xf32>
  return %1 : tensor<5x4xf32>
}

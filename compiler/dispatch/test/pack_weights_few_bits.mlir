// RUN: alula-opt %s -split-input-file -dispatch-pack-weights=min-elements=34 | FileCheck %s
// RUN: alula-opt %s -split-input-file -dispatch-pack-weights=min-elements=34 -dispatch-form-kernels | FileCheck %s --check-prefix=KERNEL

// Eight rows of four bits together, 8 added; in the same panels what each column
// of eight rows is multiplied by.
// CHECK-LABEL: func.func @blocks
// CHECK-DAG: %[[P:.*]] = stablehlo.constant dense<"0x0405060708090A0B{{.*}}08"> : tensor<1x2x32x8xui4>
// CHECK-DAG: %[[W:.*]] = dispatch.from_panels %[[P]] rows = [0] columns = [1] : tensor<1x2x32x8xui4> -> tensor<16x8xi4>
// CHECK-DAG: %[[S:.*]] = dispatch.from_panels %{{.*}} rows = [0] columns = [1] : tensor<1x2x32xf32> -> tensor<2x8xf32>
// CHECK-DAG: stablehlo.convert %[[W]]
// CHECK-DAG: stablehlo.broadcast_in_dim %[[S]]
// KERNEL-LABEL: func.func @blocks
// KERNEL: dispatch.launch @blocks_0::@blocks_0({{.*}}) : (tensor<1x2x32x8xui4>, tensor<1x2x32xf32>, tensor<400x16xf32>)
// KERNEL: func.func @blocks_0({{.*}}tensor<1x2x32x8xui4>
func.func @blocks(%x: tensor<400x16xf32>) -> tensor<400x8xf32> {
  %w = stablehlo.constant dense<[[-4, 0, 0, 0, 0, 0, 0, 0], [-3, 0, 0, 0, 0, 0, 0, 0], [-2, 0, 0, 0, 0, 0, 0, 0], [-1, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0, 0], [2, 0, 0, 0, 0, 0, 0, 0], [3, 0, 0, 0, 0, 0, 0, 0], [4, 0, 0, 0, 0, 0, 0, 0], [5, 0, 0, 0, 0, 0, 0, 0], [6, 0, 0, 0, 0, 0, 0, 0], [7, 0, 0, 0, 0, 0, 0, 0], [-8, 0, 0, 0, 0, 0, 0, 0], [-7, 0, 0, 0, 0, 0, 0, 0], [-6, 0, 0, 0, 0, 0, 0, 0], [-5, 0, 0, 0, 0, 0, 0, 0]]> : tensor<16x8xi4>
  %s = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0]]> : tensor<2x8xf32>
  %0 = stablehlo.convert %w : (tensor<16x8xi4>) -> tensor<16x8xf32>
  %1 = stablehlo.reshape %0 : (tensor<16x8xf32>) -> tensor<2x8x8xf32>
  %2 = stablehlo.broadcast_in_dim %s, dims = [0, 2] : (tensor<2x8xf32>) -> tensor<2x8x8xf32>
  %3 = stablehlo.multiply %1, %2 : tensor<2x8x8xf32>
  %4 = stablehlo.reshape %3 : (tensor<2x8x8xf32>) -> tensor<16x8xf32>
  %5 = stablehlo.dot_general %x, %4, contracting_dims = [1] x [0] : (tensor<400x16xf32>, tensor<16x8xf32>) -> tensor<400x8xf32>
  return %5 : tensor<400x8xf32>
}

// -----

// Bytes whose columns are rows of the constant, with one scale each, which stay;
// unsigned ones stay what they are.
// CHECK-LABEL: func.func @transposed
// CHECK-DAG: %[[P:.*]] = stablehlo.constant dense<"0x01020304{{.*}}"> : tensor<1x1x32x4xui8>
// CHECK-DAG: dispatch.from_panels %[[P]] rows = [1] columns = [0] : tensor<1x1x32x4xui8> -> tensor<9x4xui8>
// CHECK-DAG: stablehlo.broadcast_in_dim %arg1
module attributes {dispatch.machine = #dispatch.machine<cpu, vector_bytes = 32>} {
func.func @transposed(%x: tensor<400x4xf32>, %s: tensor<9xf32>) -> tensor<400x9xf32> {
  %w = stablehlo.constant dense<[[1, 2, 3, 4], [2, 0, 0, 0], [3, 0, 0, 0], [4, 0, 0, 0], [5, 0, 0, 0], [6, 0, 0, 0], [7, 0, 0, 0], [8, 0, 0, 0], [9, 0, 0, 0]]> : tensor<9x4xui8>
  %0 = stablehlo.convert %w : (tensor<9x4xui8>) -> tensor<9x4xf32>
  %1 = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<9xf32>) -> tensor<9x4xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<9x4xf32>
  %3 = stablehlo.dot_general %x, %2, contracting_dims = [1] x [1] : (tensor<400x4xf32>, tensor<9x4xf32>) -> tensor<400x9xf32>
  return %3 : tensor<400x9xf32>
}
}

// -----

// Does not fire: another reader; a scale for two of the rows that lie together;
// a scale for two columns.
// CHECK-LABEL: func.func @others
// CHECK-NOT: dispatch.from_panels
module attributes {dispatch.machine = #dispatch.machine<cpu, vector_bytes = 32>} {
func.func @others(%x: tensor<400x4xf32>, %s: tensor<2x9xf32>, %t: tensor<5xf32>) -> (tensor<400x9xf32>, tensor<9x4xi8>, tensor<400x9xf32>, tensor<400x10xf32>) {
  %w = stablehlo.constant dense<[[1, 2, 3, 4], [2, 0, 0, 0], [3, 0, 0, 0], [4, 0, 0, 0], [5, 0, 0, 0], [6, 0, 0, 0], [7, 0, 0, 0], [8, 0, 0, 0], [9, 0, 0, 0]]> : tensor<9x4xi8>
  %0 = stablehlo.convert %w : (tensor<9x4xi8>) -> tensor<9x4xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [1] : (tensor<400x4xf32>, tensor<9x4xf32>) -> tensor<400x9xf32>
  %2 = stablehlo.negate %w : tensor<9x4xi8>
  %v = stablehlo.constant dense<[[1, 2, 3, 4, 5, 6, 7, 8, 9], [2, 0, 0, 0, 0, 0, 0, 0, 0], [3, 0, 0, 0, 0, 0, 0, 0, 0], [4, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<4x9xi8>
  %3 = stablehlo.convert %v : (tensor<4x9xi8>) -> tensor<4x9xf32>
  %4 = stablehlo.reshape %3 : (tensor<4x9xf32>) -> tensor<2x2x9xf32>
  %5 = stablehlo.broadcast_in_dim %s, dims = [0, 2] : (tensor<2x9xf32>) -> tensor<2x2x9xf32>
  %6 = stablehlo.multiply %4, %5 : tensor<2x2x9xf32>
  %7 = stablehlo.reshape %6 : (tensor<2x2x9xf32>) -> tensor<4x9xf32>
  %8 = stablehlo.dot_general %x, %7, contracting_dims = [1] x [0] : (tensor<400x4xf32>, tensor<4x9xf32>) -> tensor<400x9xf32>
  %u = stablehlo.constant dense<[[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [2, 0, 0, 0, 0, 0, 0, 0, 0, 0], [3, 0, 0, 0, 0, 0, 0, 0, 0, 0], [4, 0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<4x10xi8>
  %9 = stablehlo.convert %u : (tensor<4x10xi8>) -> tensor<4x10xf32>
  %10 = stablehlo.reshape %9 : (tensor<4x10xf32>) -> tensor<4x5x2xf32>
  %11 = stablehlo.broadcast_in_dim %t, dims = [1] : (tensor<5xf32>) -> tensor<4x5x2xf32>
  %12 = stablehlo.multiply %10, %11 : tensor<4x5x2xf32>
  %13 = stablehlo.reshape %12 : (tensor<4x5x2xf32>) -> tensor<4x10xf32>
  %14 = stablehlo.dot_general %x, %13, contracting_dims = [1] x [0] : (tensor<400x4xf32>, tensor<4x10xf32>) -> tensor<400x10xf32>
  return %1, %2, %8, %14 : tensor<400x9xf32>, tensor<9x4xi8>, tensor<400x9xf32>, tensor<400x10xf32>
}
}

// -----

// A zero point for each scale lies as scales do, in a byte.
// CHECK-LABEL: func.func @zero_points
// CHECK-DAG: %[[P:.*]] = stablehlo.constant dense<"0x0001020304050607{{.*}}"> : tensor<1x2x32x8xui4>
// CHECK-DAG: %[[Q:.*]] = stablehlo.constant dense<{{.*}}[15, 14,{{.*}}> : tensor<1x2x32xui8>
// CHECK-DAG: dispatch.from_panels %[[P]] rows = [0] columns = [1] : tensor<1x2x32x8xui4> -> tensor<16x8xui4>
// CHECK-DAG: %[[Z:.*]] = dispatch.from_panels %[[Q]] rows = [0] columns = [1] : tensor<1x2x32xui8> -> tensor<2x8xui8>
// CHECK-DAG: %[[F:.*]] = stablehlo.convert %[[Z]] : (tensor<2x8xui8>) -> tensor<2x8xf32>
// CHECK-DAG: %[[B:.*]] = stablehlo.broadcast_in_dim %[[F]]
// CHECK: stablehlo.subtract %{{.*}}, %[[B]]
// KERNEL-LABEL: func.func @zero_points
// KERNEL: func.func @zero_points_0({{.*}}tensor<1x2x32x8xui4>
func.func @zero_points(%x: tensor<400x16xf32>) -> tensor<400x8xf32> {
  %w = stablehlo.constant dense<[[0, 1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 6, 7, 8], [2, 3, 4, 5, 6, 7, 8, 9], [3, 4, 5, 6, 7, 8, 9, 10], [4, 5, 6, 7, 8, 9, 10, 11], [5, 6, 7, 8, 9, 10, 11, 12], [6, 7, 8, 9, 10, 11, 12, 13], [7, 8, 9, 10, 11, 12, 13, 14], [8, 9, 10, 11, 12, 13, 14, 15], [9, 10, 11, 12, 13, 14, 15, 0], [10, 11, 12, 13, 14, 15, 0, 1], [11, 12, 13, 14, 15, 0, 1, 2], [12, 13, 14, 15, 0, 1, 2, 3], [13, 14, 15, 0, 1, 2, 3, 4], [14, 15, 0, 1, 2, 3, 4, 5], [15, 0, 1, 2, 3, 4, 5, 6]]> : tensor<16x8xui4>
  %s = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0]]> : tensor<2x8xf32>
  %z = stablehlo.constant dense<[[1, 2, 3, 4, 5, 6, 7, 8], [15, 14, 13, 12, 11, 10, 9, 8]]> : tensor<2x8xui4>
  %y = stablehlo.convert %z : (tensor<2x8xui4>) -> tensor<2x8xf32>
  %b = stablehlo.broadcast_in_dim %y, dims = [0, 2] : (tensor<2x8xf32>) -> tensor<2x8x8xf32>
  %0 = stablehlo.convert %w : (tensor<16x8xui4>) -> tensor<16x8xf32>
  %1 = stablehlo.reshape %0 : (tensor<16x8xf32>) -> tensor<2x8x8xf32>
  %c = stablehlo.broadcast_in_dim %s, dims = [0, 2] : (tensor<2x8xf32>) -> tensor<2x8x8xf32>
  %2 = stablehlo.subtract %1, %b : tensor<2x8x8xf32>
  %3 = stablehlo.multiply %2, %c : tensor<2x8x8xf32>
  %4 = stablehlo.reshape %3 : (tensor<2x8x8xf32>) -> tensor<16x8xf32>
  %5 = stablehlo.dot_general %x, %4, contracting_dims = [1] x [0] : (tensor<400x16xf32>, tensor<16x8xf32>) -> tensor<400x8xf32>
  return %5 : tensor<400x8xf32>
}

// -----

// Floats that are integers of eight bits too.
// CHECK-LABEL: func.func @signed_zero_points
// CHECK: stablehlo.constant dense<{{.*}}[-128, 14,{{.*}}> : tensor<1x2x32xi8>
// KERNEL-LABEL: func.func @signed_zero_points
// KERNEL: func.func @signed_zero_points_0({{.*}}tensor<1x2x32xi8>
func.func @signed_zero_points(%x: tensor<400x16xf32>) -> tensor<400x8xf32> {
  %w = stablehlo.constant dense<[[0, 1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 6, 7, 8], [2, 3, 4, 5, 6, 7, 8, 9], [3, 4, 5, 6, 7, 8, 9, 10], [4, 5, 6, 7, 8, 9, 10, 11], [5, 6, 7, 8, 9, 10, 11, 12], [6, 7, 8, 9, 10, 11, 12, 13], [7, 8, 9, 10, 11, 12, 13, 14], [8, 9, 10, 11, 12, 13, 14, 15], [9, 10, 11, 12, 13, 14, 15, 0], [10, 11, 12, 13, 14, 15, 0, 1], [11, 12, 13, 14, 15, 0, 1, 2], [12, 13, 14, 15, 0, 1, 2, 3], [13, 14, 15, 0, 1, 2, 3, 4], [14, 15, 0, 1, 2, 3, 4, 5], [15, 0, 1, 2, 3, 4, 5, 6]]> : tensor<16x8xui4>
  %s = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0]]> : tensor<2x8xf32>
  %y = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 127.0], [-128.0, 14.0, 13.0, 12.0, 11.0, 10.0, 9.0, 8.0]]> : tensor<2x8xf32>
  %b = stablehlo.broadcast_in_dim %y, dims = [0, 2] : (tensor<2x8xf32>) -> tensor<2x8x8xf32>
  %0 = stablehlo.convert %w : (tensor<16x8xui4>) -> tensor<16x8xf32>
  %1 = stablehlo.reshape %0 : (tensor<16x8xf32>) -> tensor<2x8x8xf32>
  %c = stablehlo.broadcast_in_dim %s, dims = [0, 2] : (tensor<2x8xf32>) -> tensor<2x8x8xf32>
  %2 = stablehlo.subtract %1, %b : tensor<2x8x8xf32>
  %3 = stablehlo.multiply %2, %c : tensor<2x8x8xf32>
  %4 = stablehlo.reshape %3 : (tensor<2x8x8xf32>) -> tensor<16x8xf32>
  %5 = stablehlo.dot_general %x, %4, contracting_dims = [1] x [0] : (tensor<400x16xf32>, tensor<16x8xf32>) -> tensor<400x8xf32>
  return %5 : tensor<400x8xf32>
}

// -----

// Others stay floats.
// CHECK-LABEL: func.func @zero_points_between
// CHECK: stablehlo.constant dense<{{.*}}[-1.280000e+02, 1.450000e+01,{{.*}}> : tensor<1x2x32xf32>
func.func @zero_points_between(%x: tensor<400x16xf32>) -> tensor<400x8xf32> {
  %w = stablehlo.constant dense<[[0, 1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 6, 7, 8], [2, 3, 4, 5, 6, 7, 8, 9], [3, 4, 5, 6, 7, 8, 9, 10], [4, 5, 6, 7, 8, 9, 10, 11], [5, 6, 7, 8, 9, 10, 11, 12], [6, 7, 8, 9, 10, 11, 12, 13], [7, 8, 9, 10, 11, 12, 13, 14], [8, 9, 10, 11, 12, 13, 14, 15], [9, 10, 11, 12, 13, 14, 15, 0], [10, 11, 12, 13, 14, 15, 0, 1], [11, 12, 13, 14, 15, 0, 1, 2], [12, 13, 14, 15, 0, 1, 2, 3], [13, 14, 15, 0, 1, 2, 3, 4], [14, 15, 0, 1, 2, 3, 4, 5], [15, 0, 1, 2, 3, 4, 5, 6]]> : tensor<16x8xui4>
  %s = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0]]> : tensor<2x8xf32>
  %y = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 127.0], [-128.0, 14.5, 13.0, 12.0, 11.0, 10.0, 9.0, 8.0]]> : tensor<2x8xf32>
  %b = stablehlo.broadcast_in_dim %y, dims = [0, 2] : (tensor<2x8xf32>) -> tensor<2x8x8xf32>
  %0 = stablehlo.convert %w : (tensor<16x8xui4>) -> tensor<16x8xf32>
  %1 = stablehlo.reshape %0 : (tensor<16x8xf32>) -> tensor<2x8x8xf32>
  %c = stablehlo.broadcast_in_dim %s, dims = [0, 2] : (tensor<2x8xf32>) -> tensor<2x8x8xf32>
  %2 = stablehlo.subtract %1, %b : tensor<2x8x8xf32>
  %3 = stablehlo.multiply %2, %c : tensor<2x8x8xf32>
  %4 = stablehlo.reshape %3 : (tensor<2x8x8xf32>) -> tensor<16x8xf32>
  %5 = stablehlo.dot_general %x, %4, contracting_dims = [1] x [0] : (tensor<400x16xf32>, tensor<16x8xf32>) -> tensor<400x8xf32>
  return %5 : tensor<400x8xf32>
}

// CHECK-LABEL: func.func @large_zero_points
// CHECK: stablehlo.constant dense<{{.*}}[-1.000000e+00, 1.400000e+01,{{.*}}> : tensor<1x2x32xf32>
func.func @large_zero_points(%x: tensor<400x16xf32>) -> tensor<400x8xf32> {
  %w = stablehlo.constant dense<[[0, 1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 6, 7, 8], [2, 3, 4, 5, 6, 7, 8, 9], [3, 4, 5, 6, 7, 8, 9, 10], [4, 5, 6, 7, 8, 9, 10, 11], [5, 6, 7, 8, 9, 10, 11, 12], [6, 7, 8, 9, 10, 11, 12, 13], [7, 8, 9, 10, 11, 12, 13, 14], [8, 9, 10, 11, 12, 13, 14, 15], [9, 10, 11, 12, 13, 14, 15, 0], [10, 11, 12, 13, 14, 15, 0, 1], [11, 12, 13, 14, 15, 0, 1, 2], [12, 13, 14, 15, 0, 1, 2, 3], [13, 14, 15, 0, 1, 2, 3, 4], [14, 15, 0, 1, 2, 3, 4, 5], [15, 0, 1, 2, 3, 4, 5, 6]]> : tensor<16x8xui4>
  %s = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0]]> : tensor<2x8xf32>
  %y = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 200.0], [-1.0, 14.0, 13.0, 12.0, 11.0, 10.0, 9.0, 8.0]]> : tensor<2x8xf32>
  %b = stablehlo.broadcast_in_dim %y, dims = [0, 2] : (tensor<2x8xf32>) -> tensor<2x8x8xf32>
  %0 = stablehlo.convert %w : (tensor<16x8xui4>) -> tensor<16x8xf32>
  %1 = stablehlo.reshape %0 : (tensor<16x8xf32>) -> tensor<2x8x8xf32>
  %c = stablehlo.broadcast_in_dim %s, dims = [0, 2] : (tensor<2x8xf32>) -> tensor<2x8x8xf32>
  %2 = stablehlo.subtract %1, %b : tensor<2x8x8xf32>
  %3 = stablehlo.multiply %2, %c : tensor<2x8x8xf32>
  %4 = stablehlo.reshape %3 : (tensor<2x8x8xf32>) -> tensor<16x8xf32>
  %5 = stablehlo.dot_general %x, %4, contracting_dims = [1] x [0] : (tensor<400x16xf32>, tensor<16x8xf32>) -> tensor<400x8xf32>
  return %5 : tensor<400x8xf32>
}

// -----

// Does not fire: zero points of columns beside scales of blocks; what is
// subtracted after it is scaled.
// CHECK-LABEL: func.func @zero_points_of_columns
// CHECK-NOT: dispatch.from_panels
func.func @zero_points_of_columns(%x: tensor<400x16xf32>) -> tensor<400x8xf32> {
  %w = stablehlo.constant dense<[[0, 1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 6, 7, 8], [2, 3, 4, 5, 6, 7, 8, 9], [3, 4, 5, 6, 7, 8, 9, 10], [4, 5, 6, 7, 8, 9, 10, 11], [5, 6, 7, 8, 9, 10, 11, 12], [6, 7, 8, 9, 10, 11, 12, 13], [7, 8, 9, 10, 11, 12, 13, 14], [8, 9, 10, 11, 12, 13, 14, 15], [9, 10, 11, 12, 13, 14, 15, 0], [10, 11, 12, 13, 14, 15, 0, 1], [11, 12, 13, 14, 15, 0, 1, 2], [12, 13, 14, 15, 0, 1, 2, 3], [13, 14, 15, 0, 1, 2, 3, 4], [14, 15, 0, 1, 2, 3, 4, 5], [15, 0, 1, 2, 3, 4, 5, 6]]> : tensor<16x8xui4>
  %s = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0]]> : tensor<2x8xf32>
  %z = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %b = stablehlo.broadcast_in_dim %z, dims = [2] : (tensor<8xf32>) -> tensor<2x8x8xf32>
  %0 = stablehlo.convert %w : (tensor<16x8xui4>) -> tensor<16x8xf32>
  %1 = stablehlo.reshape %0 : (tensor<16x8xf32>) -> tensor<2x8x8xf32>
  %c = stablehlo.broadcast_in_dim %s, dims = [0, 2] : (tensor<2x8xf32>) -> tensor<2x8x8xf32>
  %2 = stablehlo.subtract %1, %b : tensor<2x8x8xf32>
  %3 = stablehlo.multiply %2, %c : tensor<2x8x8xf32>
  %4 = stablehlo.reshape %3 : (tensor<2x8x8xf32>) -> tensor<16x8xf32>
  %5 = stablehlo.dot_general %x, %4, contracting_dims = [1] x [0] : (tensor<400x16xf32>, tensor<16x8xf32>) -> tensor<400x8xf32>
  return %5 : tensor<400x8xf32>
}

func.func @minima(%x: tensor<400x16xf32>) -> tensor<400x8xf32> {
  %w = stablehlo.constant dense<[[0, 1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 6, 7, 8], [2, 3, 4, 5, 6, 7, 8, 9], [3, 4, 5, 6, 7, 8, 9, 10], [4, 5, 6, 7, 8, 9, 10, 11], [5, 6, 7, 8, 9, 10, 11, 12], [6, 7, 8, 9, 10, 11, 12, 13], [7, 8, 9, 10, 11, 12, 13, 14], [8, 9, 10, 11, 12, 13, 14, 15], [9, 10, 11, 12, 13, 14, 15, 0], [10, 11, 12, 13, 14, 15, 0, 1], [11, 12, 13, 14, 15, 0, 1, 2], [12, 13, 14, 15, 0, 1, 2, 3], [13, 14, 15, 0, 1, 2, 3, 4], [14, 15, 0, 1, 2, 3, 4, 5], [15, 0, 1, 2, 3, 4, 5, 6]]> : tensor<16x8xui4>
  %s = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0]]> : tensor<2x8xf32>
  %z = stablehlo.constant dense<[[1, 2, 3, 4, 5, 6, 7, 8], [15, 14, 13, 12, 11, 10, 9, 8]]> : tensor<2x8xui4>
  %y = stablehlo.convert %z : (tensor<2x8xui4>) -> tensor<2x8xf32>
  %b = stablehlo.broadcast_in_dim %y, dims = [0, 2] : (tensor<2x8xf32>) -> tensor<2x8x8xf32>
  %0 = stablehlo.convert %w : (tensor<16x8xui4>) -> tensor<16x8xf32>
  %1 = stablehlo.reshape %0 : (tensor<16x8xf32>) -> tensor<2x8x8xf32>
  %c = stablehlo.broadcast_in_dim %s, dims = [0, 2] : (tensor<2x8xf32>) -> tensor<2x8x8xf32>
  %2 = stablehlo.multiply %1, %c : tensor<2x8x8xf32>
  %3 = stablehlo.subtract %2, %b : tensor<2x8x8xf32>
  %4 = stablehlo.reshape %3 : (tensor<2x8x8xf32>) -> tensor<16x8xf32>
  %5 = stablehlo.dot_general %x, %4, contracting_dims = [1] x [0] : (tensor<400x16xf32>, tensor<16x8xf32>) -> tensor<400x8xf32>
  return %5 : tensor<400x8xf32>
}

// -----

// Does not fire: bytes where vectors are short, unless rows are rounded.
// CHECK-LABEL: func.func @short
// CHECK: stablehlo.constant {{.*}} : tensor<4x9xi8>
// CHECK-NOT: dispatch.from_panels
// CHECK-LABEL: func.func @short_rounded
// CHECK: dispatch.from_panels {{.*}} : tensor<1x1x32x4xui8> -> tensor<4x9xi8>
func.func @short(%x: tensor<400x4xf32>) -> tensor<400x9xf32> {
  %w = stablehlo.constant dense<[[1, 2, 3, 4, 5, 6, 7, 8, 9], [2, 0, 0, 0, 0, 0, 0, 0, 0], [3, 0, 0, 0, 0, 0, 0, 0, 0], [4, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<4x9xi8>
  %0 = stablehlo.convert %w : (tensor<4x9xi8>) -> tensor<4x9xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<400x4xf32>, tensor<4x9xf32>) -> tensor<400x9xf32>
  return %1 : tensor<400x9xf32>
}
func.func @short_rounded(%x: tensor<400x4xf32>) -> tensor<400x9xf32> {
  %w = stablehlo.constant dense<[[1, 2, 3, 4, 5, 6, 7, 8, 9], [2, 0, 0, 0, 0, 0, 0, 0, 0], [3, 0, 0, 0, 0, 0, 0, 0, 0], [4, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<4x9xi8>
  %0 = stablehlo.convert %w : (tensor<4x9xi8>) -> tensor<4x9xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] {alula.byte_activations} : (tensor<400x4xf32>, tensor<4x9xf32>) -> tensor<400x9xf32>
  return %1 : tensor<400x9xf32>
}

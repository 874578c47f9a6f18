// RUN: alula-opt %s -split-input-file -optimize-simplify-products | FileCheck %s

// CHECK-LABEL: func.func @outer
// CHECK-DAG: %[[X:.*]] = stablehlo.broadcast_in_dim %arg0, dims = [0]
// CHECK-DAG: %[[Y:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [1]
// CHECK: stablehlo.multiply %[[X]], %[[Y]] : tensor<8x3xf32>
// CHECK-NOT: stablehlo.dot_general
func.func @outer(%x: tensor<8xf32>, %y: tensor<3xf32>) -> tensor<8x3xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [] x [] : (tensor<8xf32>, tensor<3xf32>) -> tensor<8x3xf32>
  return %0 : tensor<8x3xf32>
}

// -----

// A batch at the front of one factor and in the middle of the other, and one
// term: dimensions are sorted, those of one element go.
// CHECK-LABEL: func.func @batch
// CHECK-DAG: %[[X:.*]] = stablehlo.reshape %arg0 : (tensor<7x1xf32>) -> tensor<7xf32>
// CHECK-DAG: %[[Y:.*]] = stablehlo.reshape %arg1 : (tensor<3x1x7xf32>) -> tensor<3x7xf32>
// CHECK-DAG: %[[A:.*]] = stablehlo.broadcast_in_dim %[[X]], dims = [0] : (tensor<7xf32>) -> tensor<7x3xf32>
// CHECK-DAG: %[[B:.*]] = stablehlo.transpose %[[Y]], dims = [1, 0] : (tensor<3x7xf32>) -> tensor<7x3xf32>
// CHECK: stablehlo.multiply %[[A]], %[[B]] : tensor<7x3xf32>
func.func @batch(%x: tensor<7x1xf32>, %y: tensor<3x1x7xf32>) -> tensor<7x3xf32> {
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [2], contracting_dims = [1] x [1] : (tensor<7x1xf32>, tensor<3x1x7xf32>) -> tensor<7x3xf32>
  return %0 : tensor<7x3xf32>
}

// -----

// Factors are widened before they are multiplied.
// CHECK-LABEL: func.func @widened
// CHECK-COUNT-2: stablehlo.convert {{.*}} -> tensor<{{.}}xi32>
// CHECK: stablehlo.multiply {{.*}} : tensor<8x3xi32>
func.func @widened(%x: tensor<8xi8>, %y: tensor<3xi8>) -> tensor<8x3xi32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [] x [] : (tensor<8xi8>, tensor<3xi8>) -> tensor<8x3xi32>
  return %0 : tensor<8x3xi32>
}

// -----

// Two terms, none, sizes that are not known, narrower sums than factors.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-4: stablehlo.dot_general
func.func @others(%x: tensor<8x2xf32>, %y: tensor<2x3xf32>, %a: tensor<8x0xf32>, %b: tensor<0x3xf32>, %u: tensor<?xf32>, %v: tensor<3xf32>, %w: tensor<8xf16>)
    -> (tensor<8x3xf32>, tensor<8x3xf32>, tensor<?x3xf32>, tensor<8x8xbf16>) {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<8x2xf32>, tensor<2x3xf32>) -> tensor<8x3xf32>
  %1 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x0xf32>, tensor<0x3xf32>) -> tensor<8x3xf32>
  %2 = stablehlo.dot_general %u, %v, contracting_dims = [] x [] : (tensor<?xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  %3 = stablehlo.dot_general %w, %w, contracting_dims = [] x [] : (tensor<8xf16>, tensor<8xf16>) -> tensor<8x8xbf16>
  return %0, %1, %2, %3 : tensor<8x3xf32>, tensor<8x3xf32>, tensor<?x3xf32>, tensor<8x8xbf16>
}

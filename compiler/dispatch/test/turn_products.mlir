// RUN: alula-opt %s -split-input-file -dispatch-turn-products | FileCheck %s

// Weights times values: rows of the weights are what is summed over, rows of
// the values the columns of the result.
// CHECK-LABEL: func.func @values
// CHECK: %[[P:.*]] = stablehlo.dot_general %arg1, %arg0, batching_dims = [0] x [1], contracting_dims = [2] x [0], precision = [HIGH, DEFAULT] : (tensor<8x100x64xf32>, tensor<64x8x32xf32>) -> tensor<8x100x32xf32>
// CHECK: %[[T:.*]] = stablehlo.transpose %[[P]], dims = [1, 0, 2] : (tensor<8x100x32xf32>) -> tensor<100x8x32xf32>
// CHECK: return %[[T]]
func.func @values(%v: tensor<64x8x32xf32>, %w: tensor<8x100x64xf32>) -> tensor<100x8x32xf32> {
  %0 = stablehlo.dot_general %v, %w, batching_dims = [1] x [0], contracting_dims = [0] x [2], precision = [DEFAULT, HIGH] : (tensor<64x8x32xf32>, tensor<8x100x64xf32>) -> tensor<8x32x100xf32>
  %1 = stablehlo.transpose %0, dims = [2, 0, 1] : (tensor<8x32x100xf32>) -> tensor<100x8x32xf32>
  return %1 : tensor<100x8x32xf32>
}

// -----

// Nothing is left of the transpose; several free dimensions stay in their order.
// CHECK-LABEL: func.func @whole
// CHECK: %[[P:.*]] = stablehlo.dot_general %arg1, %arg0, contracting_dims = [2] x [0] : (tensor<20x30x64xf32>, tensor<64x9x32xf32>) -> tensor<20x30x9x32xf32>
// CHECK: return %[[P]]
func.func @whole(%v: tensor<64x9x32xf32>, %w: tensor<20x30x64xf32>) -> tensor<20x30x9x32xf32> {
  %0 = stablehlo.dot_general %v, %w, contracting_dims = [0] x [2] : (tensor<64x9x32xf32>, tensor<20x30x64xf32>) -> tensor<9x32x20x30xf32>
  %1 = stablehlo.transpose %0, dims = [2, 3, 0, 1] : (tensor<9x32x20x30xf32>) -> tensor<20x30x9x32xf32>
  return %1 : tensor<20x30x9x32xf32>
}

// -----

// Does not fire: one side lies well; others read the product; constants.
// CHECK-LABEL: func.func @others
// CHECK: stablehlo.dot_general %arg0, %arg2
// CHECK: stablehlo.dot_general %arg0, %arg1
// CHECK: stablehlo.dot_general %arg0, %cst
func.func @others(%v: tensor<64x32xf32>, %w: tensor<100x64xf32>, %u: tensor<64x100xf32>) -> (tensor<100x32xf32>, tensor<32x100xf32>, tensor<100x32xf32>, tensor<20x32xf32>) {
  %0 = stablehlo.dot_general %v, %u, contracting_dims = [0] x [0] : (tensor<64x32xf32>, tensor<64x100xf32>) -> tensor<32x100xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<32x100xf32>) -> tensor<100x32xf32>
  %2 = stablehlo.dot_general %v, %w, contracting_dims = [0] x [1] : (tensor<64x32xf32>, tensor<100x64xf32>) -> tensor<32x100xf32>
  %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<32x100xf32>) -> tensor<100x32xf32>
  %c = stablehlo.constant dense<1.5> : tensor<20x64xf32>
  %4 = stablehlo.dot_general %v, %c, contracting_dims = [0] x [1] : (tensor<64x32xf32>, tensor<20x64xf32>) -> tensor<32x20xf32>
  %5 = stablehlo.transpose %4, dims = [1, 0] : (tensor<32x20xf32>) -> tensor<20x32xf32>
  return %1, %2, %3, %5 : tensor<100x32xf32>, tensor<32x100xf32>, tensor<100x32xf32>, tensor<20x32xf32>
}

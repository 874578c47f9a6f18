// RUN: alula-opt %s --dispatch-repeat-broadcasts | FileCheck %s
// RUN: alula-opt %s --dispatch-repeat-broadcasts --dispatch-form-kernels | FileCheck %s --check-prefix=KERNELS

// Two kernels read the few elements.
// CHECK-LABEL: @two_maps
// CHECK-COUNT-2: broadcast_in_dim
// KERNELS-LABEL: @two_maps
// KERNELS-COUNT-2: dispatch.launch
// KERNELS-NOT: dispatch.launch
// KERNELS: return
func.func @two_maps(%b: tensor<64xf32>, %x: tensor<256x64xf32>,
                    %w: tensor<64x64xf32>) -> tensor<256x64xf32> {
  %0 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<64xf32>) -> tensor<256x64xf32>
  %1 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<256x64xf32>, tensor<64x64xf32>) -> tensor<256x64xf32>
  %2 = stablehlo.add %1, %0 : tensor<256x64xf32>
  %3 = stablehlo.dot_general %2, %w, contracting_dims = [1] x [0] : (tensor<256x64xf32>, tensor<64x64xf32>) -> tensor<256x64xf32>
  %4 = stablehlo.add %3, %0 : tensor<256x64xf32>
  return %4 : tensor<256x64xf32>
}

// Products read it from memory, one as the other; so does the caller.
// CHECK-LABEL: @others
// CHECK: %[[OWN:.*]] = stablehlo.broadcast_in_dim
// CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim
// CHECK-NOT: broadcast_in_dim
// CHECK: dot_general %[[B]], %[[B]]
// CHECK: add %{{.*}}, %[[OWN]]
// CHECK: return %{{.*}}, %[[B]]
func.func @others(%b: tensor<64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %0 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<64xf32>) -> tensor<64x64xf32>
  %1 = stablehlo.dot_general %0, %0, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = stablehlo.add %1, %0 : tensor<64x64xf32>
  return %2, %0 : tensor<64x64xf32>, tensor<64x64xf32>
}

// One op that reads it twice, and a broadcast that adds no elements.
// CHECK-LABEL: @nothing_to_do
// CHECK-COUNT-2: broadcast_in_dim
// CHECK-NOT: broadcast_in_dim
func.func @nothing_to_do(%x: tensor<8x9xf32>) -> (tensor<9x8xf32>, tensor<9x8xf32>) {
  %0 = stablehlo.broadcast_in_dim %x, dims = [1, 0] : (tensor<8x9xf32>) -> tensor<9x8xf32>
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<9x8xf32>
  %2 = stablehlo.multiply %0, %0 : tensor<9x8xf32>
  %3 = stablehlo.add %0, %2 : tensor<9x8xf32>
  %4 = stablehlo.multiply %1, %1 : tensor<9x8xf32>
  return %3, %4 : tensor<9x8xf32>, tensor<9x8xf32>
}

// A loop's body reads it from outside.
// CHECK-LABEL: @captured
// CHECK: %[[I:.*]] = stablehlo.iota
// CHECK-NOT: iota
// CHECK: while
// CHECK: add %{{.*}}, %[[I]]
// CHECK: add %{{.*}}, %[[I]]
func.func @captured(%x: tensor<4xi32>) -> tensor<4xi32> {
  %0 = stablehlo.iota dim = 0 : tensor<4xi32>
  %1 = stablehlo.while(%a = %x) : tensor<4xi32>
    cond {
      %c = stablehlo.constant dense<true> : tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %2 = stablehlo.add %a, %0 : tensor<4xi32>
      %3 = stablehlo.add %2, %0 : tensor<4xi32>
      stablehlo.return %3 : tensor<4xi32>
    }
  return %1 : tensor<4xi32>
}

// RUN: alula-opt %s | alula-opt | FileCheck %s

// CHECK-LABEL: func.func @tensors
// CHECK: dispatch.collective all_reduce by sum %{{.*}} groups {{\[\[}}0, 1], [2]] of 4 channel 7 : tensor<4xf32> -> tensor<4xf32>
// CHECK: dispatch.collective collective_permute %{{.*}} groups [] of 4 : tensor<4xf32> -> tensor<4xf32>
// CHECK: %[[S:.*]] = dispatch.collective_start all_gather %{{.*}} groups {{\[\[}}0, 1]] of 2 : tensor<4xf32> -> tensor<2x4xf32>
// CHECK: dispatch.collective_done %[[S]] of %{{.*}} : tensor<2x4xf32> of tensor<4xf32>
func.func @tensors(%x: tensor<4xf32>) -> tensor<2x4xf32> {
  %0 = dispatch.collective all_reduce by sum %x groups [[0, 1], [2]] of 4 channel 7 : tensor<4xf32> -> tensor<4xf32>
  %1 = dispatch.collective collective_permute %x groups [] of 4 : tensor<4xf32> -> tensor<4xf32>
  %2 = dispatch.collective_start all_gather %x groups [[0, 1]] of 2 : tensor<4xf32> -> tensor<2x4xf32>
  %3 = dispatch.collective_done %2 of %x : tensor<2x4xf32> of tensor<4xf32>
  return %3 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @commands
// CHECK: dispatch.participant of 4
// CHECK: %[[H:.*]] = dispatch.start_collective all_to_all %{{.*}} into %{{.*}} blocks 2 f32 groups {{\[\[}}3, 1]] of 4 channel 2
// CHECK: dispatch.await_collective %[[H]]
func.func @commands(%x: tensor<4xf32>) -> tensor<4xf32> {
  %x0 = dispatch.slot argument 0
  %y0 = dispatch.slot result 0
  %p = dispatch.participant of 4
  %h = dispatch.start_collective all_to_all %x0 into %y0 blocks 2 f32 groups [[3, 1]] of 4 channel 2
  dispatch.await_collective %h
  dispatch.return
}

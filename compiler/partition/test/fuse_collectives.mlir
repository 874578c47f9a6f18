// RUN: alula-opt %s --partition-fuse-collectives | FileCheck %s

module attributes {mhlo.num_partitions = 2 : i32} {
  // CHECK-LABEL: @gradients
  // CHECK: %[[A:.*]] = stablehlo.reshape %arg0 : (tensor<8x4xf32>) -> tensor<32xf32>
  // CHECK: %[[ALL:.*]] = stablehlo.concatenate %[[A]], %arg1, dim = 0 : (tensor<32xf32>, tensor<16xf32>) -> tensor<48xf32>
  // CHECK: %[[SUM:.*]] = "stablehlo.all_reduce"(%[[ALL]])
  // CHECK: (tensor<48xf32>) -> tensor<48xf32>
  // CHECK: %[[X:.*]] = stablehlo.slice %[[SUM]] [0:32]
  // CHECK: %[[R:.*]] = stablehlo.reshape %[[X]] : (tensor<32xf32>) -> tensor<8x4xf32>
  // CHECK: %[[S:.*]] = stablehlo.slice %[[SUM]] [32:48]
  // CHECK-NOT: all_reduce
  // CHECK: return %[[R]], %[[S]]
  func.func @gradients(%a: tensor<8x4xf32>, %b: tensor<16xf32>) -> (tensor<8x4xf32>, tensor<16xf32>) {
    %0 = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %2 = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %1 = "stablehlo.all_reduce"(%b) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %2 = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<16xf32>) -> tensor<16xf32>
    return %0, %1 : tensor<8x4xf32>, tensor<16xf32>
  }

  // One that needs the other, and one that does something else.
  // CHECK-LABEL: @apart
  // CHECK-COUNT-3: "stablehlo.all_reduce"
  // CHECK-NOT: concatenate
  func.func @apart(%a: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
    %0 = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %4 = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %4 : tensor<f32>
    }) : (tensor<16xf32>) -> tensor<16xf32>
    %1 = stablehlo.sine %0 : tensor<16xf32>
    %2 = "stablehlo.all_reduce"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %4 = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %4 : tensor<f32>
    }) : (tensor<16xf32>) -> tensor<16xf32>
    %3 = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %4 = stablehlo.maximum %x, %y : tensor<f32>
      stablehlo.return %4 : tensor<f32>
    }) : (tensor<16xf32>) -> tensor<16xf32>
    return %2, %3 : tensor<16xf32>, tensor<16xf32>
  }
}

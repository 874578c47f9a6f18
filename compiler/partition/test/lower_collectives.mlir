// RUN: alula-opt %s --partition-lower-collectives --split-input-file --verify-diagnostics | FileCheck %s

#channel = #stablehlo.channel_handle<handle = 1, type = 1>
module attributes {mhlo.num_partitions = 4 : i32} {
  // The sum of a group in its order: all members get the same bits.
  // CHECK-LABEL: func @all_reduce
  // CHECK: %[[ALL:.*]] = stablehlo.custom_call @alula.exchange(%arg0) {backend_config = "0 4 2 0 2 1 3 0 2 1 3", has_side_effect = true} : (tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: %[[A:.*]] = stablehlo.slice %[[ALL]] [0:1, 0:3]
  // CHECK: %[[B:.*]] = stablehlo.slice %[[ALL]] [1:2, 0:3]
  // CHECK: stablehlo.add {{.*}} : tensor<3xf32>
  func.func @all_reduce(%x: tensor<3xf32>) -> tensor<3xf32> {
    %r = "stablehlo.all_reduce"(%x) <{channel_handle = #channel, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<3xf32>) -> tensor<3xf32>
    return %r : tensor<3xf32>
  }

  // CHECK-LABEL: func @all_gather
  // CHECK: %[[ALL:.*]] = stablehlo.custom_call @alula.exchange(%arg0) {{.*}} -> tensor<4x2x3xf32>
  // CHECK: %[[T:.*]] = stablehlo.transpose %[[ALL]], dims = [1, 0, 2]
  // CHECK: stablehlo.reshape %[[T]] : (tensor<2x4x3xf32>) -> tensor<2x12xf32>
  func.func @all_gather(%x: tensor<2x3xf32>) -> tensor<2x12xf32> {
    %r = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, channel_handle = #channel, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> : (tensor<2x3xf32>) -> tensor<2x12xf32>
    return %r : tensor<2x12xf32>
  }

  // CHECK-LABEL: func @all_to_all
  // CHECK: %[[ALL:.*]] = stablehlo.custom_call @alula.exchange(%arg0) {{.*}} -> tensor<4x4x2xf32>
  // CHECK: %[[PLACES:.*]] = stablehlo.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
  // CHECK: %[[ME:.*]] = stablehlo.custom_call @alula.participant() : () -> tensor<i32>
  // CHECK: stablehlo.dynamic_slice %[[PLACES]], %[[ME]], sizes = [1]
  // CHECK: stablehlo.dynamic_slice %[[ALL]], {{.*}} sizes = [4, 1, 2]
  // CHECK: stablehlo.transpose {{.*}} dims = [1, 0, 2]
  // CHECK: stablehlo.reshape {{.*}} -> tensor<1x8xf32>
  func.func @all_to_all(%x: tensor<4x2xf32>) -> tensor<1x8xf32> {
    %r = "stablehlo.all_to_all"(%x) <{channel_handle = #channel, concat_dimension = 1 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, split_count = 4 : i64, split_dimension = 0 : i64}> : (tensor<4x2xf32>) -> tensor<1x8xf32>
    return %r : tensor<1x8xf32>
  }

  // CHECK-LABEL: func @reduce_scatter
  // CHECK: %[[ALL:.*]] = stablehlo.custom_call @alula.exchange(%arg0) {{.*}} -> tensor<4x8xi32>
  // CHECK: %[[MINE:.*]] = stablehlo.dynamic_slice %[[ALL]], {{.*}} sizes = [4, 2]
  // CHECK-COUNT-3: stablehlo.maximum {{.*}} : tensor<2xi32>
  func.func @reduce_scatter(%x: tensor<8xi32>) -> tensor<2xi32> {
    %r = "stablehlo.reduce_scatter"(%x) <{channel_handle = #channel, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, scatter_dimension = 0 : i64, use_global_device_ids}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %s = stablehlo.maximum %a, %b : tensor<i32>
      stablehlo.return %s : tensor<i32>
    }) : (tensor<8xi32>) -> tensor<2xi32>
    return %r : tensor<2xi32>
  }

  // Who gets nothing gets zeros.
  // CHECK-LABEL: func @permute
  // CHECK: stablehlo.custom_call @alula.exchange(%arg0) {backend_config = "{{.*}} 4 1 -1 0 1 -1"
  func.func @permute(%x: tensor<2xf32>) -> tensor<2xf32> {
    %r = "stablehlo.collective_permute"(%x) <{channel_handle = #channel, source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
    return %r : tensor<2xf32>
  }

  // CHECK-LABEL: func @broadcast
  // CHECK: stablehlo.custom_call @alula.exchange(%arg0) {backend_config = "{{.*}} 4 1 -1 3 -1 3"
  func.func @broadcast(%x: tensor<2xf32>) -> tensor<2xf32> {
    %r = "stablehlo.collective_broadcast"(%x) <{channel_handle = #channel, replica_groups = dense<[[3, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
    return %r : tensor<2xf32>
  }

  // The first of each group has the result, the others zeros.
  // CHECK-LABEL: func @reduce_to_one
  // CHECK: %[[ALL:.*]] = stablehlo.custom_call @alula.exchange(%arg0) {backend_config = "{{.*}} 4 2 0 2 1 3 0 2 1 3"
  // CHECK: %[[SUM:.*]] = stablehlo.add
  // CHECK: %[[NONE:.*]] = stablehlo.custom_call @alula.exchange(%arg0) {backend_config = "{{.*}} 4 1 -1 -1 -1 -1"
  // CHECK: stablehlo.constant dense<[1, 1, 0, 0]> : tensor<4xi32>
  // CHECK: stablehlo.select {{.*}}, %[[SUM]],
  func.func @reduce_to_one(%x: tensor<2xf32>) -> tensor<2xf32> {
    %r = "stablehlo.collective_reduce"(%x) <{channel_handle = #channel, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<2xf32>) -> tensor<2xf32>
    return %r : tensor<2xf32>
  }

  // Without a channel, groups count replicas: there is one.
  // CHECK-LABEL: func @replicas
  // CHECK: stablehlo.custom_call @alula.exchange(%arg0) {backend_config = "{{.*}} 4 1 0 1 2 3"
  func.func @replicas(%x: tensor<2xf32>) -> tensor<2xf32> {
    %r = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0]]> : tensor<1x1xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
    return %r : tensor<2xf32>
  }

  // CHECK-LABEL: func @ids
  // CHECK: %[[ME:.*]] = stablehlo.custom_call @alula.participant()
  // CHECK: %[[P:.*]] = stablehlo.convert %[[ME]] : (tensor<i32>) -> tensor<ui32>
  // CHECK: %[[R:.*]] = stablehlo.constant dense<0> : tensor<ui32>
  // CHECK: return %[[P]], %[[R]]
  func.func @ids() -> (tensor<ui32>, tensor<ui32>) {
    %p = stablehlo.partition_id : tensor<ui32>
    %r = stablehlo.replica_id : tensor<ui32>
    return %p, %r : tensor<ui32>, tensor<ui32>
  }
}

// -----

// On one device nothing is exchanged.
// CHECK-LABEL: func @alone
// CHECK-NOT: custom_call
// CHECK: return
func.func @alone(%x: tensor<2xf32>) -> tensor<2xf32> {
  %r = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0]]> : tensor<1x1xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// -----

func.func @strangers(%x: tensor<2xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{a group names 1, the program runs on 1 replicas of 1 partitions}}
  %r = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @pairs(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{a pair names 0 and 1, the program runs on 1 replicas of 1 partitions}}
  %r = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// -----

func.func @root(%x: tensor<2xf32>, %root: tensor<1xi32>) -> tensor<2xf32> {
  // expected-error @+1 {{no native code: a root that is computed}}
  %r = "stablehlo.collective_broadcast"(%x, %root) <{replica_groups = dense<[[0]]> : tensor<1x1xi64>, has_dynamic_root}> : (tensor<2xf32>, tensor<1xi32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

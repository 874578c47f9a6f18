// RUN: alula-opt %s --partition-lower-collectives --split-input-file --verify-diagnostics | FileCheck %s

#channel = #stablehlo.channel_handle<handle = 1, type = 1>
module attributes {mhlo.num_partitions = 4 : i32} {
  // CHECK-LABEL: func @all_reduce
  // CHECK: %[[R:.*]] = dispatch.collective all_reduce by sum %arg0 groups {{\[\[}}0, 2], [1, 3]] of 4 channel 1 : tensor<3xf32> -> tensor<3xf32>
  // CHECK: return %[[R]]
  func.func @all_reduce(%x: tensor<3xf32>) -> tensor<3xf32> {
    %r = "stablehlo.all_reduce"(%x) <{channel_handle = #channel, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<3xf32>) -> tensor<3xf32>
    return %r : tensor<3xf32>
  }

  // Groups of several sizes, a sum of booleans.
  // CHECK-LABEL: func @uneven
  // CHECK: dispatch.collective all_reduce by or %arg0 groups {{\[\[}}0, 2, 1], [3]] of 4 channel 1 : tensor<3xi1> -> tensor<3xi1>
  func.func @uneven(%x: tensor<3xi1>) -> tensor<3xi1> {
    %r = "stablehlo.all_reduce"(%x) <{channel_handle = #channel, replica_groups = dense<[[0, 2, 1], [3, -1, -1]]> : tensor<2x3xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<i1>, %b: tensor<i1>):
      %s = stablehlo.add %b, %a : tensor<i1>
      stablehlo.return %s : tensor<i1>
    }) : (tensor<3xi1>) -> tensor<3xi1>
    return %r : tensor<3xi1>
  }

  // A function without a name: gathered, then folded in the order of the group.
  // CHECK-LABEL: func @other_function
  // CHECK: %[[ALL:.*]] = dispatch.collective all_gather %arg0 groups {{\[\[}}2, 0], [1, 3]] of 4 channel 1 : tensor<3xf32> -> tensor<2x3xf32>
  // CHECK: %[[A:.*]] = stablehlo.slice %[[ALL]] [0:1, 0:3]
  // CHECK: %[[B:.*]] = stablehlo.slice %[[ALL]] [1:2, 0:3]
  // CHECK: stablehlo.subtract {{.*}} : tensor<3xf32>
  func.func @other_function(%x: tensor<3xf32>) -> tensor<3xf32> {
    %r = "stablehlo.all_reduce"(%x) <{channel_handle = #channel, replica_groups = dense<[[2, 0], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.subtract %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<3xf32>) -> tensor<3xf32>
    return %r : tensor<3xf32>
  }

  // A type that engines don't add; numbers below a byte travel as bytes.
  // CHECK-LABEL: func @narrow
  // CHECK: %[[WIDE:.*]] = stablehlo.convert %arg0 : (tensor<3xi4>) -> tensor<3xi8>
  // CHECK: %[[ALL:.*]] = dispatch.collective all_gather %[[WIDE]] {{.*}} : tensor<3xi8> -> tensor<4x3xi8>
  // CHECK: stablehlo.convert %[[ALL]] : (tensor<4x3xi8>) -> tensor<4x3xi4>
  // CHECK-COUNT-3: stablehlo.add {{.*}} : tensor<3xi4>
  func.func @narrow(%x: tensor<3xi4>) -> tensor<3xi4> {
    %r = "stablehlo.all_reduce"(%x) <{channel_handle = #channel, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<i4>, %b: tensor<i4>):
      %s = stablehlo.add %a, %b : tensor<i4>
      stablehlo.return %s : tensor<i4>
    }) : (tensor<3xi4>) -> tensor<3xi4>
    return %r : tensor<3xi4>
  }

  // CHECK-LABEL: func @all_gather
  // CHECK: %[[ALL:.*]] = dispatch.collective all_gather %arg0 {{.*}} : tensor<2x3xf32> -> tensor<4x2x3xf32>
  // CHECK: %[[T:.*]] = stablehlo.transpose %[[ALL]], dims = [1, 0, 2]
  // CHECK: stablehlo.reshape %[[T]] : (tensor<2x4x3xf32>) -> tensor<2x12xf32>
  func.func @all_gather(%x: tensor<2x3xf32>) -> tensor<2x12xf32> {
    %r = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, channel_handle = #channel, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> : (tensor<2x3xf32>) -> tensor<2x12xf32>
    return %r : tensor<2x12xf32>
  }

  // CHECK-LABEL: func @all_to_all
  // CHECK: %[[BLOCKS:.*]] = stablehlo.reshape %arg0 : (tensor<4x2xf32>) -> tensor<4x1x2xf32>
  // CHECK: %[[ALL:.*]] = dispatch.collective all_to_all %[[BLOCKS]] {{.*}} : tensor<4x1x2xf32> -> tensor<4x1x2xf32>
  // CHECK: stablehlo.transpose %[[ALL]], dims = [1, 0, 2]
  // CHECK: stablehlo.reshape {{.*}} -> tensor<1x8xf32>
  func.func @all_to_all(%x: tensor<4x2xf32>) -> tensor<1x8xf32> {
    %r = "stablehlo.all_to_all"(%x) <{channel_handle = #channel, concat_dimension = 1 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, split_count = 4 : i64, split_dimension = 0 : i64}> : (tensor<4x2xf32>) -> tensor<1x8xf32>
    return %r : tensor<1x8xf32>
  }

  // CHECK-LABEL: func @reduce_scatter
  // CHECK: %[[SPLIT:.*]] = stablehlo.reshape %arg0 : (tensor<3x8xi32>) -> tensor<3x4x2xi32>
  // CHECK: %[[BLOCKS:.*]] = stablehlo.transpose %[[SPLIT]], dims = [1, 0, 2]
  // CHECK: %[[R:.*]] = dispatch.collective reduce_scatter by max %[[BLOCKS]] {{.*}} : tensor<4x3x2xi32> -> tensor<3x2xi32>
  // CHECK: return %[[R]]
  func.func @reduce_scatter(%x: tensor<3x8xi32>) -> tensor<3x2xi32> {
    %r = "stablehlo.reduce_scatter"(%x) <{channel_handle = #channel, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, scatter_dimension = 1 : i64, use_global_device_ids}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %s = stablehlo.maximum %a, %b : tensor<i32>
      stablehlo.return %s : tensor<i32>
    }) : (tensor<3x8xi32>) -> tensor<3x2xi32>
    return %r : tensor<3x2xi32>
  }

  // CHECK-LABEL: func @scatter_other_function
  // CHECK: %[[ALL:.*]] = dispatch.collective all_to_all {{.*}} : tensor<4x2xi32> -> tensor<4x2xi32>
  // CHECK-COUNT-3: stablehlo.subtract {{.*}} : tensor<2xi32>
  func.func @scatter_other_function(%x: tensor<8xi32>) -> tensor<2xi32> {
    %r = "stablehlo.reduce_scatter"(%x) <{channel_handle = #channel, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, scatter_dimension = 0 : i64, use_global_device_ids}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %s = stablehlo.subtract %a, %b : tensor<i32>
      stablehlo.return %s : tensor<i32>
    }) : (tensor<8xi32>) -> tensor<2xi32>
    return %r : tensor<2xi32>
  }

  // CHECK-LABEL: func @permute
  // CHECK: dispatch.collective collective_permute %arg0 groups {{\[\[}}0, 1], [1, 2]] of 4 channel 1
  func.func @permute(%x: tensor<2xf32>) -> tensor<2xf32> {
    %r = "stablehlo.collective_permute"(%x) <{channel_handle = #channel, source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
    return %r : tensor<2xf32>
  }

  // CHECK-LABEL: func @broadcast
  // CHECK: dispatch.collective collective_broadcast %arg0 groups {{\[\[}}3, 1]] of 4 channel 1
  func.func @broadcast(%x: tensor<2xf32>) -> tensor<2xf32> {
    %r = "stablehlo.collective_broadcast"(%x) <{channel_handle = #channel, replica_groups = dense<[[3, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
    return %r : tensor<2xf32>
  }

  // The first of each group has the result, the others zeros.
  // CHECK-LABEL: func @reduce_to_one
  // CHECK: %[[SUM:.*]] = dispatch.collective all_reduce by sum %arg0
  // CHECK: stablehlo.constant dense<[1, 1, 0, 0]> : tensor<4xi32>
  // CHECK: %[[ZEROS:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<2xf32>
  // CHECK: stablehlo.select {{.*}}, %[[SUM]], %[[ZEROS]]
  func.func @reduce_to_one(%x: tensor<2xf32>) -> tensor<2xf32> {
    %r = "stablehlo.collective_reduce"(%x) <{channel_handle = #channel, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<2xf32>) -> tensor<2xf32>
    return %r : tensor<2xf32>
  }

  // Without a channel, groups count replicas: there is one, so each is alone.
  // CHECK-LABEL: func @replicas
  // CHECK-NEXT: return %arg0
  func.func @replicas(%x: tensor<2xf32>) -> tensor<2xf32> {
    %r = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0]]> : tensor<1x1xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
    return %r : tensor<2xf32>
  }

  // CHECK-LABEL: func @ids
  // CHECK: %[[ME:.*]] = dispatch.participant of 4
  // CHECK: %[[N:.*]] = dispatch.pack %[[ME]] : tensor<i32>
  // CHECK: %[[P:.*]] = stablehlo.convert %[[N]] : (tensor<i32>) -> tensor<ui32>
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
// CHECK-NOT: dispatch
// CHECK: return
func.func @alone(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %r = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0]]> : tensor<1x1xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  %p = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<> : tensor<0x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  return %r, %p : tensor<2xf32>, tensor<2xf32>
}

// -----

func.func @strangers(%x: tensor<2xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{a group names 1, the program runs on 1 replicas of 1 partitions}}
  %r = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @nobody(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{'stablehlo.all_reduce' op a group must have a participant: dense<-1> : tensor<1x1xi64> has one of none}}
  %r = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[-1]]> : tensor<1x1xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
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

// -----

module attributes {mhlo.num_partitions = 3 : i32} {
  func.func @uneven(%x: tensor<2xf32>) -> tensor<2xf32> {
    // expected-error @+1 {{no native code: groups of 2 and of 1 participants}}
    %r = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, -1]]> : tensor<2x2xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.subtract %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<2xf32>) -> tensor<2xf32>
    return %r : tensor<2xf32>
  }
}

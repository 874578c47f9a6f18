// RUN: alula-opt %s | FileCheck %s
// RUN: alula-opt %s | alula-opt | FileCheck %s
// RUN: alula-opt %s --mlir-print-op-generic | alula-opt | FileCheck %s
// RUN: alula-opt %s --emit=bytecode | alula-opt | FileCheck %s

// CHECK-LABEL: @gathered
// CHECK: "stablehlo.all_gather"({{.*}}) <{all_gather_dim = 1 : i64, replica_groups = dense<{{\[\[}}0, 2], [1, 3]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
// CHECK: "stablehlo.all_gather"({{.*}}) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<4x8xf32>, tensor<?xi32>) -> (tensor<8x8xf32>, tensor<?xi32>)
// Over partitions too there are more members than ids.
// CHECK: channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>{{.*}} -> tensor<4x64xf32>
func.func @gathered(%x: tensor<4x8xf32>, %y: tensor<?xi32>) {
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}>
      : (tensor<4x8xf32>) -> tensor<4x16xf32>
  %1:2 = "stablehlo.all_gather"(%x, %y) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,
      channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, use_global_device_ids}>
      : (tensor<4x8xf32>, tensor<?xi32>) -> (tensor<8x8xf32>, tensor<?xi32>)
  %2 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,
      channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>}> : (tensor<4x8xf32>) -> tensor<4x64xf32>
  return
}

// Smaller groups are filled up with -1; no group means all.
// CHECK-LABEL: @reduced
// CHECK: "stablehlo.all_reduce"({{.*}}) <{replica_groups = dense<{{\[\[}}0, 2], [1, -1]]> : tensor<2x2xi64>}>
// CHECK: "stablehlo.all_reduce"({{.*}}) <{replica_groups = dense<> : tensor<0x0xi64>}>
// CHECK: (tensor<4xf32>, tensor<?x2xf32>) -> (tensor<4xf64>, tensor<?x2xf64>)
func.func @reduced(%x: tensor<4xf32>, %y: tensor<?x2xf32>) {
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 2], [1, -1]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %1:2 = "stablehlo.all_reduce"(%x, %y) <{replica_groups = dense<> : tensor<0x0xi64>}> ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %s = stablehlo.add %a, %b : tensor<f64>
    stablehlo.return %s : tensor<f64>
  }) : (tensor<4xf32>, tensor<?x2xf32>) -> (tensor<4xf64>, tensor<?x2xf64>)
  return
}

// CHECK-LABEL: @scattered
// CHECK: "stablehlo.reduce_scatter"({{.*}}) <{replica_groups = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>, scatter_dimension = 1 : i64}>
// CHECK: (tensor<3x4xf32>) -> tensor<3x2xf32>
func.func @scattered(%x: tensor<3x4xf32>) -> tensor<3x2xf32> {
  %0 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// CHECK-LABEL: @exchanged
// CHECK: "stablehlo.all_to_all"({{.*}}) <{concat_dimension = 0 : i64, replica_groups = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 1 : i64}> : (tensor<2x4xf32>, tensor<?x6xf32>) -> (tensor<4x2xf32>, tensor<?x3xf32>)
// CHECK: (tensor<2x4xf32>) -> tensor<2x4xf32>
func.func @exchanged(%x: tensor<2x4xf32>, %y: tensor<?x6xf32>) {
  %0:2 = "stablehlo.all_to_all"(%x, %y) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64,
      replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>, tensor<?x6xf32>) -> (tensor<4x2xf32>, tensor<?x3xf32>)
  %1 = "stablehlo.all_to_all"(%x) <{split_dimension = 1 : i64, concat_dimension = 1 : i64, split_count = 2 : i64,
      replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// A broadcast may leave processes out.
// CHECK-LABEL: @broadcast_to_some
// CHECK: replica_groups = dense<{{\[\[}}2, 1]]> : tensor<1x2xi64>
func.func @broadcast_to_some(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.collective_broadcast"(%x) <{replica_groups = dense<[[2, 1]]> : tensor<1x2xi64>}>
      : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @rooted
// CHECK: "stablehlo.collective_broadcast"({{.*}}) <{replica_groups = dense<{{\[\[}}2, 1], [0, 3]]> : tensor<2x2xi64>}>
// CHECK: "stablehlo.collective_broadcast"({{.*}}) <{has_dynamic_root, replica_groups = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>, tensor<2xi8>, tensor<2xi32>) -> (tensor<4xf32>, tensor<2xi8>)
// CHECK: "stablehlo.collective_reduce"({{.*}}) <{has_dynamic_root, replica_groups = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>}>
// CHECK: (tensor<4xf32>, tensor<1xi32>) -> tensor<4xf32>
func.func @rooted(%x: tensor<4xf32>, %y: tensor<2xi8>, %r1: tensor<1xi32>, %r2: tensor<2xi32>) {
  %0 = "stablehlo.collective_broadcast"(%x) <{replica_groups = dense<[[2, 1], [0, 3]]> : tensor<2x2xi64>}>
      : (tensor<4xf32>) -> tensor<4xf32>
  %1:2 = "stablehlo.collective_broadcast"(%x, %y, %r2) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root}>
      : (tensor<4xf32>, tensor<2xi8>, tensor<2xi32>) -> (tensor<4xf32>, tensor<2xi8>)
  %2 = "stablehlo.collective_reduce"(%x, %r1) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>, tensor<1xi32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @permuted
// CHECK: "stablehlo.collective_permute"({{.*}}) <{source_target_pairs = dense<{{\[\[}}0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: "stablehlo.collective_permute"({{.*}}) <{source_target_pairs = dense<> : tensor<0x2xi64>}> : (tensor<4xf32>) -> tensor<?xf32>
// CHECK: "stablehlo.cross-replica-sum"({{.*}}) <{replica_groups = dense<0> : tensor<1x1xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: stablehlo.replica_id : tensor<ui32>
// CHECK: stablehlo.partition_id : tensor<ui32>
func.func @permuted(%x: tensor<4xf32>) {
  %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<> : tensor<0x2xi64>}> : (tensor<4xf32>) -> tensor<?xf32>
  %2 = "stablehlo.cross-replica-sum"(%x) <{replica_groups = dense<0> : tensor<1x1xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  %3 = stablehlo.replica_id : tensor<ui32>
  %4 = stablehlo.partition_id : tensor<ui32>
  return
}

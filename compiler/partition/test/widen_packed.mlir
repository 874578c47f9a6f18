// RUN: alula-opt %s --partition-widen-packed | FileCheck %s

// CHECK-LABEL: @gather
func.func @gather(%x: tensor<3xi4>) -> tensor<6xi4> {
  // CHECK: %[[X:.*]] = stablehlo.convert %arg0 : (tensor<3xi4>) -> tensor<3xi8>
  // CHECK: %[[G:.*]] = "stablehlo.all_gather"(%[[X]])
  // CHECK-SAME: (tensor<3xi8>) -> tensor<6xi8>
  // CHECK: stablehlo.convert %[[G]] : (tensor<6xi8>) -> tensor<6xi4>
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<3xi4>) -> tensor<6xi4>
  return %0 : tensor<6xi4>
}

// Numbers wrap around in 4 bits.
// CHECK-LABEL: @sum
func.func @sum(%x: tensor<3xui4>) -> tensor<3xui4> {
  // CHECK: "stablehlo.all_reduce"(%{{.*}}) <{{.*}}> ({
  // CHECK: ^bb0(%[[A:.*]]: tensor<ui8>, %[[B:.*]]: tensor<ui8>):
  // CHECK: %[[NA:.*]] = stablehlo.convert %[[A]] : (tensor<ui8>) -> tensor<ui4>
  // CHECK: %[[NB:.*]] = stablehlo.convert %[[B]] : (tensor<ui8>) -> tensor<ui4>
  // CHECK: %[[S:.*]] = stablehlo.add %[[NA]], %[[NB]] : tensor<ui4>
  // CHECK: %[[W:.*]] = stablehlo.convert %[[S]] : (tensor<ui4>) -> tensor<ui8>
  // CHECK: stablehlo.return %[[W]]
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<ui4>, %b: tensor<ui4>):
      %s = stablehlo.add %a, %b : tensor<ui4>
      stablehlo.return %s : tensor<ui4>
  }) : (tensor<3xui4>) -> tensor<3xui4>
  return %0 : tensor<3xui4>
}

// CHECK-LABEL: @others_stay
func.func @others_stay(%x: tensor<3xi8>) -> tensor<6xi8> {
  // CHECK-NOT: convert
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<3xi8>) -> tensor<6xi8>
  return %0 : tensor<6xi8>
}

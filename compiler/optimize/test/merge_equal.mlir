// RUN: alula-opt %s --optimize-merge-equal | FileCheck %s

module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @m = <["x"=2]>

  // CHECK-LABEL: func.func @equal
  // CHECK-NEXT: %[[S:.*]] = stablehlo.sine
  // CHECK-NEXT: return %[[S]], %[[S]]
  func.func @equal(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
    %0 = stablehlo.sine %x : tensor<8xf32>
    %1 = stablehlo.sine %x : tensor<8xf32>
    return %0, %1 : tensor<8xf32>, tensor<8xf32>
  }

  // CHECK-LABEL: func.func @told
  // CHECK-NEXT: %[[A:.*]] = stablehlo.sine %arg0 : tensor<8xf32>
  // CHECK-NEXT: %[[B:.*]] = sdy.sharding_constraint %[[A]]
  // CHECK-NEXT: %[[C:.*]] = stablehlo.sine %arg0 : tensor<8xf32>
  // CHECK-NEXT: return %[[B]], %[[C]], %[[C]]
  func.func @told(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
    %0 = stablehlo.sine %x : tensor<8xf32>
    %1 = sdy.sharding_constraint %0 <@m, [{}]> : tensor<8xf32>
    %2 = stablehlo.sine %x : tensor<8xf32>
    %3 = stablehlo.sine %x : tensor<8xf32>
    return %1, %2, %3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
}

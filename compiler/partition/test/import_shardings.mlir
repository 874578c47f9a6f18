// RUN: alula-opt --split-input-file --partition-import-shardings %s | FileCheck %s

// CHECK-LABEL: @ops
module @ops attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @m = <["x"=4]>
  sdy.mesh @one = <[], device_ids=[0]>
  func.func public @main(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
    // CHECK: %[[S:.*]] = stablehlo.sine %arg0 : tensor<8xf32>
    // CHECK: %[[C:.*]] = sdy.sharding_constraint %[[S]] <@m, [{"x"}]>
    %0 = stablehlo.sine %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>]>} : tensor<8xf32>
    // CHECK: %[[G:.*]] = sdy.sharding_constraint %[[C]] <mesh<["grid0"=4]>, [{"grid0"}]>
    %1 = stablehlo.custom_call @Sharding(%0) {mhlo.sharding = "{devices=[4]<=[4]}"} : (tensor<8xf32>) -> tensor<8xf32>
    // On one device it runs there, which is no matter of pieces.
    // CHECK: custom_call @f(%arg0) {sdy.sharding =
    %2 = stablehlo.custom_call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@one, []>]>} : (tensor<8xf32>) -> tensor<8xf32>
    // CHECK: return %[[C]], %[[G]]
    return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
}

// -----

// CHECK-LABEL: @one_device
module @one_device {
  sdy.mesh @m = <["x"=1]>
  func.func public @main(%a: tensor<8xf32>) -> tensor<8xf32> {
    // CHECK: stablehlo.sine %arg0 {sdy.sharding
    %0 = stablehlo.sine %a {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>]>} : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

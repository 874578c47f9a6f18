// RUN: split-file %s %t
// RUN: alula-opt %t/batch.mlir --partition-propagate-shardings --partition-make-local | FileCheck --check-prefix=BATCH %s
// RUN: alula-opt %t/whole.mlir --partition-propagate-shardings --partition-make-local | FileCheck --check-prefix=WHOLE %s
// RUN: alula-opt %t/turned.mlir --partition-propagate-shardings --partition-make-local | FileCheck --check-prefix=WHOLE %s

// A user's function of which JAX says that it takes batches has its share of one.
// BATCH-NOT: all_gather
// BATCH: stablehlo.custom_call @f(%{{.*}}) {{.*}}: (tensor<2x6x5xf32>) -> (tensor<2x6xf32>, tensor<2x6x5xf32>)

// Of others nothing is known, nor of one whose batch is not first in memory.
// WHOLE: all_gather
// WHOLE: stablehlo.custom_call @f(%{{.*}}) {{.*}}: (tensor<4x6x5xf32>) -> (tensor<4x6xf32>, tensor<4x6x5xf32>)

//--- batch.mlir
module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @m = <["a"=2]>
  func.func public @main(%x: tensor<4x6x5xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {}, {}]>}) -> (tensor<4x6xf32>, tensor<4x6x5xf32>) {
    %0:2 = stablehlo.custom_call @f(%x) {alula.orders = [array<i64: 0, 2, 1>, array<i64: 0, 1>, array<i64: 0, 1, 2>], mhlo.frontend_attributes = {num_batch_dims = "1"}} : (tensor<4x6x5xf32>) -> (tensor<4x6xf32>, tensor<4x6x5xf32>)
    return %0#0, %0#1 : tensor<4x6xf32>, tensor<4x6x5xf32>
  }
}

//--- whole.mlir
module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @m = <["a"=2]>
  func.func public @main(%x: tensor<4x6x5xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {}, {}]>}) -> (tensor<4x6xf32>, tensor<4x6x5xf32>) {
    %0:2 = stablehlo.custom_call @f(%x) : (tensor<4x6x5xf32>) -> (tensor<4x6xf32>, tensor<4x6x5xf32>)
    return %0#0, %0#1 : tensor<4x6xf32>, tensor<4x6x5xf32>
  }
}

//--- turned.mlir
module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @m = <["a"=2]>
  func.func public @main(%x: tensor<4x6x5xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {}, {}]>}) -> (tensor<4x6xf32>, tensor<4x6x5xf32>) {
    %0:2 = stablehlo.custom_call @f(%x) {alula.orders = [array<i64: 2, 1, 0>, array<i64: 0, 1>, array<i64: 0, 1, 2>], mhlo.frontend_attributes = {num_batch_dims = "1"}} : (tensor<4x6x5xf32>) -> (tensor<4x6xf32>, tensor<4x6x5xf32>)
    return %0#0, %0#1 : tensor<4x6xf32>, tensor<4x6x5xf32>
  }
}

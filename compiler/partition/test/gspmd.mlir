// RUN: split-file %s %t
// RUN: alula-opt %t/texts.mlir --partition-import-shardings --partition-propagate-shardings --partition-make-local | FileCheck --check-prefix=TEXTS %s
// RUN: not alula-opt %t/manual.mlir --partition-import-shardings --partition-propagate-shardings --partition-make-local 2>&1 | FileCheck --check-prefix=MANUAL %s
// RUN: not alula-opt %t/few.mlir --partition-import-shardings --partition-propagate-shardings --partition-make-local 2>&1 | FileCheck --check-prefix=FEW %s
// RUN: not alula-opt %t/twice.mlir --partition-import-shardings --partition-propagate-shardings --partition-make-local 2>&1 | FileCheck --check-prefix=TWICE %s

// Clients that don't speak Shardy say the same in XLA's words.
// TEXTS-LABEL: module
// TEXTS-SAME: mhlo.spmd_output_sharding = "{devices=[1,4]0,2,1,3}"
// TEXTS-SAME: mhlo.spmd_parameters_shardings = ["{devices=[2,1,2]0,1,2,3 last_tile_dim_replicate}", "{replicated}", "{devices=[2,2]3,1,2,0}"]
// TEXTS: func.func public @main(%{{.*}}: tensor<2x4xf32>, %{{.*}}: tensor<4x4xf32>, %{{.*}}: tensor<2x2xf32>) -> tensor<4x1xf32>
// TEXTS: replica_groups = dense<{{\[\[}}0, 2], [1, 3]]>
// TEXTS-NOT: Sharding

//--- texts.mlir
module attributes {mhlo.num_partitions = 4 : i32} {
  func.func public @main(%x: tensor<4x4xf32> {mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"},
                         %y: tensor<4x4xf32> {mhlo.sharding = "{replicated}"},
                         %z: tensor<4x4xf32> {mhlo.sharding = "{devices=[2,2]3,1,2,0}"}) -> tensor<4x4xf32> {
    %0 = stablehlo.add %x, %y : tensor<4x4xf32>
    %1 = stablehlo.add %0, %z : tensor<4x4xf32>
    %2 = stablehlo.custom_call @Sharding(%1) {mhlo.sharding = "{devices=[1,4]<=[2,2]T(1,0)}"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return %2 : tensor<4x4xf32>
  }
}

// MANUAL: error: 'func.func' op arrays of type 'tensor<4xf32>' on 2 devices can't lie as "{manual}"

//--- manual.mlir
module attributes {mhlo.num_partitions = 2 : i32} {
  func.func public @main(%x: tensor<4xf32> {mhlo.sharding = "{manual}"}) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// FEW: error: 'func.func' op arrays of type 'tensor<4xf32>' on 4 devices can't lie as "{devices=[2]<=[2]}"

//--- few.mlir
module attributes {mhlo.num_partitions = 4 : i32} {
  func.func public @main(%x: tensor<4xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// TWICE: error: 'func.func' op arrays of type 'tensor<4xf32>' on 2 devices can't lie as "{devices=[2]1,1}"

//--- twice.mlir
module attributes {mhlo.num_partitions = 2 : i32} {
  func.func public @main(%x: tensor<4xf32> {mhlo.sharding = "{devices=[2]1,1}"}) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// RUN: split-file %s %t
// RUN: alula-opt %t/halo.mlir --partition-propagate-shardings --partition-make-local | FileCheck --check-prefix=HALO %s
// RUN: alula-opt %t/turn.mlir --partition-propagate-shardings --partition-make-local | FileCheck --check-prefix=TURN %s
// RUN: alula-opt %t/alone.mlir --partition-propagate-shardings --partition-make-local | FileCheck --check-prefix=ALONE %s
// RUN: alula-opt %t/padding.mlir --partition-propagate-shardings --partition-make-local | FileCheck --check-prefix=PADDING %s
// RUN: alula-opt %t/rule.mlir --partition-propagate-shardings --partition-make-local | FileCheck --check-prefix=RULE %s
// RUN: alula-opt %t/places.mlir --partition-propagate-shardings --partition-make-local | FileCheck --check-prefix=PLACES %s
// RUN: alula-opt %t/donors.mlir --partition-propagate-shardings --partition-make-local | FileCheck --check-prefix=DONORS %s

// A window of three reads one row of each neighbour; at the ends there are zeros.
// HALO: func.func public @main(%[[A:.*]]: tensor<4xf32>
// HALO: %[[LAST:.*]] = stablehlo.slice %[[A]] [3:4]
// HALO: %[[LEFT:.*]] = "stablehlo.collective_permute"(%[[LAST]])
// HALO-SAME: source_target_pairs = dense<{{\[\[}}0, 1], [1, 2], [2, 3]]>
// HALO: %[[FIRST:.*]] = stablehlo.slice %[[A]] [0:1]
// HALO: %[[RIGHT:.*]] = "stablehlo.collective_permute"(%[[FIRST]])
// HALO-SAME: source_target_pairs = dense<{{\[\[}}1, 0], [2, 1], [3, 2]]>
// HALO: %[[ALL:.*]] = stablehlo.concatenate %[[LEFT]], %[[A]], %[[RIGHT]], dim = 0 : (tensor<1xf32>, tensor<4xf32>, tensor<1xf32>) -> tensor<6xf32>
// HALO-NOT: select
// HALO: "stablehlo.reduce_window"(%[[ALL]],
// HALO-SAME: padding = dense<0> : tensor<1x2xi64>
// HALO: (tensor<6xf32>, tensor<f32>) -> tensor<4xf32>

//--- halo.mlir
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @m = <["a"=4]>
  func.func public @main(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}]>}) -> tensor<16xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %y = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 3>, padding = dense<1> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
    return %y : tensor<16xf32>
  }
}

// An end that is put before the beginning: the last element of each piece moves.
// TURN-NOT: all_gather
// TURN: %[[LAST:.*]] = stablehlo.slice %arg0 [3:4]
// TURN: %[[BEFORE:.*]] = "stablehlo.collective_permute"(%[[LAST]])
// TURN-SAME: source_target_pairs = dense<{{\[\[}}3, 0], [0, 1], [1, 2], [2, 3]]>
// TURN: %[[OWN:.*]] = stablehlo.slice %arg0 [0:3]
// TURN: stablehlo.concatenate %[[BEFORE]], %[[OWN]]

//--- turn.mlir
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @m = <["a"=4]>
  func.func public @main(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}]>}) -> tensor<16xf32> {
    %end = stablehlo.slice %x [15:16] : (tensor<16xf32>) -> tensor<1xf32>
    %begin = stablehlo.slice %x [0:15] : (tensor<16xf32>) -> tensor<15xf32>
    %y = stablehlo.concatenate %end, %begin, dim = 0 : (tensor<1xf32>, tensor<15xf32>) -> tensor<16xf32>
    return %y : tensor<16xf32>
  }
}

// One that isn't split is two slices again.
// ALONE: %[[END:.*]] = stablehlo.slice %arg0 [15:16]
// ALONE: %[[BEGIN:.*]] = stablehlo.slice %arg0 [0:15]
// ALONE: stablehlo.concatenate %[[END]], %[[BEGIN]]
// ALONE-NOT: custom_call

//--- alone.mlir
module attributes {mhlo.num_partitions = 4 : i32} {
  func.func public @main(%x: tensor<16xf32>) -> tensor<16xf32> {
    %end = stablehlo.slice %x [15:16] : (tensor<16xf32>) -> tensor<1xf32>
    %begin = stablehlo.slice %x [0:15] : (tensor<16xf32>) -> tensor<15xf32>
    %y = stablehlo.concatenate %end, %begin, dim = 0 : (tensor<1xf32>, tensor<15xf32>) -> tensor<16xf32>
    return %y : tensor<16xf32>
  }
}

// Of 15 elements over four devices the last one has three and one of padding,
// which a sum doesn't count.
// PADDING: stablehlo.slice %arg0 [0:1]
// PADDING: "stablehlo.collective_permute"
// PADDING: %[[NEXT:.*]] = stablehlo.concatenate
// PADDING: %[[SINE:.*]] = stablehlo.sine %[[NEXT]] : tensor<4xf32>
// PADDING: stablehlo.compare LT
// PADDING: %[[REAL:.*]] = stablehlo.select %{{.*}}, %[[SINE]],
// PADDING: stablehlo.reduce(%[[REAL]]
// PADDING: "stablehlo.all_reduce"

//--- padding.mlir
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @m = <["a"=4]>
  func.func public @main(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}]>}) -> tensor<f32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %next = stablehlo.slice %x [1:16] : (tensor<16xf32>) -> tensor<15xf32>
    %sine = stablehlo.sine %next : tensor<15xf32>
    %y = stablehlo.reduce(%sine init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<15xf32>, tensor<f32>) -> tensor<f32>
    return %y : tensor<f32>
  }
}

// What a call says of itself.
// RULE: %[[G:.*]] = "stablehlo.all_gather"(%arg0)
// RULE: stablehlo.custom_call @rows(%[[G]]) {{.*}}: (tensor<4x4xf32>) -> tensor<4xf32>

//--- rule.mlir
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @m = <["a"=2, "b"=2]>
  func.func public @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {"b"}]>}) -> tensor<8xf32> {
    %y = stablehlo.custom_call @rows(%x) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i]) {i=8, j=4} need_replication={j}, custom>} : (tensor<8x4xf32>) -> tensor<8xf32>
    return %y : tensor<8xf32>
  }
}

// Pieces that are to be parts of a sum stay in their places, and nothing moves.
// PLACES-NOT: all_gather
// PLACES: %[[ZEROS:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<4xf32>
// PLACES: stablehlo.dynamic_update_slice %[[ZEROS]], %arg0,

//--- places.mlir
module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @m = <["a"=2]>
  func.func public @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}]>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{}], unreduced={"a"}>}) {
    return %x : tensor<4xf32>
  }
}

// Memory that a result of the same size can take, and memory that none can.
// DONORS: @main(%arg0: tensor<2xf32> {jax.buffer_donor = true}, %arg1: tensor<2x4xf32>) -> tensor<2x1xf32>

//--- donors.mlir
module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @m = <["a"=2]>
  func.func public @main(%x: tensor<4xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@m, [{"a"}]>}, %y: tensor<4x4xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@m, [{"a"}, {}]>}) -> tensor<4x1xf32> {
    %s = stablehlo.sine %x : tensor<4xf32>
    %z = stablehlo.reshape %s : (tensor<4xf32>) -> tensor<4x1xf32>
    return %z : tensor<4x1xf32>
  }
}

// RUN: split-file %s %t
// RUN: alula-opt %t/pieces.mlir --partition-propagate-shardings --partition-make-local | FileCheck --check-prefix=PIECES %s
// RUN: alula-opt %t/whole.mlir --partition-propagate-shardings --partition-make-local | FileCheck --check-prefix=WHOLE %s
// RUN: alula-opt %t/local.mlir --partition-propagate-shardings --partition-make-local | FileCheck --check-prefix=LOCAL %s
// RUN: alula-opt %t/mixed.mlir --partition-propagate-shardings --partition-make-local | FileCheck --check-prefix=MIXED %s
// RUN: alula-opt %t/order.mlir --partition-propagate-shardings --partition-make-local | FileCheck --check-prefix=ORDER %s
// RUN: alula-opt %t/parts.mlir --partition-propagate-shardings --partition-make-local | FileCheck --check-prefix=PARTS %s
// RUN: alula-opt %t/asked.mlir --partition-propagate-shardings --partition-make-local | FileCheck --check-prefix=ASKED %s
// RUN: alula-opt %t/nested.mlir --partition-propagate-shardings --partition-make-local | FileCheck --check-prefix=NESTED %s
// RUN: not alula-opt %t/uneven.mlir --partition-propagate-shardings --partition-make-local 2>&1 | FileCheck --check-prefix=UNEVEN %s
// RUN: not alula-opt %t/count.mlir --partition-propagate-shardings --partition-make-local 2>&1 | FileCheck --check-prefix=COUNT %s
// RUN: not alula-opt %t/maximum.mlir --partition-propagate-shardings --partition-make-local 2>&1 | FileCheck --check-prefix=MAXIMUM %s

// Pieces go in and come out as they are.
// PIECES-LABEL: module
// PIECES-SAME: mhlo.spmd_output_sharding = "{devices=[2,2]0,1,2,3}"
// PIECES-SAME: mhlo.spmd_parameters_shardings = ["{devices=[2,1,2]0,1,2,3 last_tile_dim_replicate}"]
// PIECES: func.func public @main(%[[A:.*]]: tensor<2x6xf32>) -> tensor<2x3xf32>
// PIECES-NEXT: %[[R:.*]] = stablehlo.slice %[[A]] [0:2, 0:3]
// PIECES-NEXT: return %[[R]]

//--- pieces.mlir
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @m = <["a"=2, "b"=2]>
  func.func public @main(%x: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {}]>}) -> tensor<4x6xf32> {
    %r = sdy.manual_computation(%x) in_shardings=[<@m, [{"a"}, {}]>] out_shardings=[<@m, [{"a"}, {"b"}]>] manual_axes={"a", "b"} (%y: tensor<2x6xf32>) {
      %z = stablehlo.slice %y [0:2, 0:3] : (tensor<2x6xf32>) -> tensor<2x3xf32>
      sdy.return %z : tensor<2x3xf32>
    } : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return %r : tensor<4x6xf32>
  }
}

// An op that needs all of its operand gets it, and every device computes all.
// WHOLE: func.func public @main(%[[A:.*]]: tensor<2xf32>) -> tensor<2xf32>
// WHOLE: stablehlo.partition_id
// WHOLE: %[[G:.*]] = "stablehlo.all_gather"(%[[A]])
// WHOLE-SAME: replica_groups = dense<{{\[\[}}0, 1]]>
// WHOLE: %[[S:.*]] = stablehlo.reverse %[[G]], dims = [0] : tensor<4xf32>
// WHOLE: %[[R:.*]] = stablehlo.dynamic_slice %[[S]]
// WHOLE: return %[[R]] : tensor<2xf32>

//--- whole.mlir
module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @m = <["a"=2]>
  func.func public @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}]>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}]>}) {
    %y = stablehlo.reverse %x, dims = [0] : tensor<4xf32>
    %z = sdy.sharding_constraint %y <@m, [{}]> : tensor<4xf32>
    return %z : tensor<4xf32>
  }
}

// Elementwise ops and transposes are computed on the pieces, also with numbers
// that all elements share; their results lie as the pieces do.
// LOCAL: mhlo.spmd_output_sharding = "{devices=[1,2]0,1}"
// LOCAL: func.func public @main(%[[A:.*]]: tensor<2x2xf32>, %[[B:.*]]: tensor<f32>) -> tensor<2x2xf32>
// LOCAL-NOT: all_gather
// LOCAL-DAG: %[[ONE:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<2x2xf32>
// LOCAL-DAG: %[[ADD:.*]] = stablehlo.add %[[A]], %[[ONE]] : tensor<2x2xf32>
// LOCAL-DAG: %[[LIMITED:.*]] = stablehlo.clamp %[[B]], %[[ADD]], %[[B]] : (tensor<f32>, tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
// LOCAL-DAG: %[[T:.*]] = stablehlo.transpose %[[LIMITED]], dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>
// LOCAL-DAG: %[[S:.*]] = stablehlo.broadcast_in_dim %[[B]], dims = [] : (tensor<f32>) -> tensor<2x2xf32>
// LOCAL: %[[M:.*]] = stablehlo.multiply %[[T]], %[[S]] : tensor<2x2xf32>
// LOCAL: return %[[M]] : tensor<2x2xf32>

//--- local.mlir
module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @m = <["a"=2]>
  func.func public @main(%x: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {}]>}, %b: tensor<f32>) -> tensor<2x4xf32> {
    %one = stablehlo.constant dense<1.0> : tensor<4x2xf32>
    %y = stablehlo.add %x, %one : tensor<4x2xf32>
    %c = stablehlo.clamp %b, %y, %b : (tensor<f32>, tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
    %t = stablehlo.transpose %c, dims = [1, 0] : (tensor<4x2xf32>) -> tensor<2x4xf32>
    %s = stablehlo.broadcast_in_dim %b, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %z = stablehlo.multiply %t, %s : tensor<2x4xf32>
    return %z : tensor<2x4xf32>
  }
}

// An argument that nobody has placed lies as what is computed with it; one that
// lies in another way goes where it is wanted.
// MIXED: func.func public @main(%[[A:.*]]: tensor<2x4xf32>, %[[B:.*]]: tensor<4x2xf32>, %[[C:.*]]: tensor<2x4xf32>)
// MIXED: stablehlo.add %[[A]], %[[C]] : tensor<2x4xf32>
// MIXED: %[[MOVED:.*]] = "stablehlo.all_to_all"(%[[B]])
// MIXED: stablehlo.multiply %[[A]], %[[MOVED]] : tensor<2x4xf32>

//--- mixed.mlir
module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @m = <["a"=2]>
  func.func public @main(%a: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {}]>}, %b: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"a"}]>}, %c: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
    %y = stablehlo.add %a, %c : tensor<4x4xf32>
    %z = stablehlo.multiply %a, %b : tensor<4x4xf32>
    return %y, %z : tensor<4x4xf32>, tensor<4x4xf32>
  }
}

// Devices are numbered as the mesh says; an axis may be used in two parts.
// ORDER: "stablehlo.all_gather"
// ORDER-SAME: replica_groups = dense<{{\[\[}}3, 2], [1, 0]]>

//--- order.mlir
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @m = <["a"=4], device_ids=[3, 2, 1, 0]>
  func.func public @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"a":(2)2}]>}) -> tensor<4xf32> {
    %y = stablehlo.reverse %x, dims = [0] : tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

// Parts that are still to be added up: one device gives the array, the others zeros.
// PARTS: mhlo.spmd_output_sharding = "{devices=[2,2]0,1,2,3 last_tile_dims={unreduced}}"
// PARTS: stablehlo.compare EQ
// PARTS: stablehlo.select

//--- parts.mlir
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @m = <["a"=2, "b"=2]>
  func.func public @main(%x: tensor<4xf32>) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}], unreduced={"b"}>}) {
    return %x : tensor<4xf32>
  }
}

// One body in another, each over its own axes.
// NESTED: func.func public @main(%[[A:.*]]: tensor<2xf32>) -> tensor<1xf32>
// NESTED-NOT: sdy
// NESTED-NOT: all_gather
// NESTED: %[[Y:.*]] = stablehlo.dynamic_slice %[[A]], {{.*}} sizes = [1]
// NESTED: %[[Z:.*]] = stablehlo.negate %[[Y]] : tensor<1xf32>
// NESTED: return %[[Z]]

//--- nested.mlir
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @m = <["a"=2, "b"=2]>
  func.func public @main(%x: tensor<4xf32>) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"a", "b"}]>}) {
    %r = sdy.manual_computation(%x) in_shardings=[<@m, [{"a"}]>] out_shardings=[<@m, [{"a"}]>] manual_axes={"a"} (%y: tensor<2xf32>) {
      %s = sdy.manual_computation(%y) in_shardings=[<@m, [{"b"}]>] out_shardings=[<@m, [{"b"}]>] manual_axes={"b"} (%z: tensor<1xf32>) {
        %n = stablehlo.negate %z : tensor<1xf32>
        sdy.return %n : tensor<1xf32>
      } : (tensor<2xf32>) -> tensor<2xf32>
      sdy.return %s : tensor<2xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
}

// UNEVEN: error: 'func.func' op argument 0 of type 'tensor<3xf32>' can't be divided as {devices=[2]0,1}
//--- uneven.mlir
module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @m = <["a"=2]>
  func.func public @main(%x: tensor<3xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}]>}) -> tensor<3xf32> {
    return %x : tensor<3xf32>
  }
}

// COUNT: error: 'func.func' op the mesh has 4 devices, the program runs on 2
//--- count.mlir
module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @m = <["a"=4]>
  func.func public @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}]>}) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// MAXIMUM: parts of arrays can only be added up yet
//--- maximum.mlir
module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @m = <["a"=2]>
  func.func public @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{}], unreduced=max{"a"}>}) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// Where nothing else is said, a result lies where the program asks for it, if it
// can.
// ASKED-LABEL: module
// ASKED-SAME: mhlo.spmd_output_sharding = "{{[{][{]}}devices=[1,2]0,1}, {replicated}}"
// ASKED: func.func public @main(%{{.*}}: tensor<2x4xf32>, %{{.*}}: tensor<3xf32>) -> (tensor<4x2xf32>, tensor<3xf32>)

//--- asked.mlir
module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @m = <["a"=2]>
  func.func public @main(%x: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {}]>}, %u: tensor<3xf32>) -> (tensor<4x4xf32>, tensor<3xf32>) {
    %y = stablehlo.sine %x : tensor<4x4xf32>
    %z = sdy.sharding_constraint %y <@m, [{}, {"a"}]> : tensor<4x4xf32>
    %v = sdy.sharding_constraint %u <@m, [{"a"}]> : tensor<3xf32>
    return %z, %v : tensor<4x4xf32>, tensor<3xf32>
  }
}

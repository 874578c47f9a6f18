// RUN: split-file %s %t
// RUN: alula-opt %t/slice.mlir --partition-propagate-shardings --partition-make-local | FileCheck --check-prefix=SLICE %s
// RUN: alula-opt %t/update.mlir --partition-propagate-shardings --partition-make-local | FileCheck --check-prefix=UPDATE %s
// RUN: alula-opt %t/most.mlir --partition-propagate-shardings --partition-make-local | FileCheck --check-prefix=MOST %s
// RUN: alula-opt %t/loop.mlir --partition-propagate-shardings --partition-make-local | FileCheck --check-prefix=LOOP %s
// RUN: alula-opt %t/lookup.mlir --partition-propagate-shardings --partition-make-local | FileCheck --check-prefix=LOOKUP %s
// RUN: alula-opt %t/shown.mlir --partition-propagate-shardings --partition-make-local | FileCheck --check-prefix=SHOWN %s

// Each device puts what it has of the slice among what changes no sum.
// SLICE-NOT: all_gather
// SLICE: %[[START:.*]] = stablehlo.clamp %{{.*}}, %arg1, %{{.*}} : tensor<i32>
// SLICE: %[[OWN:.*]] = stablehlo.dynamic_slice %arg0, %{{.*}}, sizes = [3]
// SLICE: %[[NOTHING:.*]] = stablehlo.constant dense<-0.000000e+00> : tensor<f32>
// SLICE: %[[AMONG:.*]] = stablehlo.pad %[[OWN]], %[[NOTHING]], low = [3], high = [3]
// SLICE: %[[PART:.*]] = stablehlo.dynamic_slice %[[AMONG]], %{{.*}}, sizes = [3]
// SLICE: "stablehlo.all_reduce"(%[[PART]])

//--- slice.mlir
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @m = <["a"=4]>
  func.func public @main(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}]>}, %i: tensor<i32>) -> tensor<3xf32> {
    %y = stablehlo.dynamic_slice %x, %i, sizes = [3] : (tensor<16xf32>, tensor<i32>) -> tensor<3xf32>
    return %y : tensor<3xf32>
  }
}

// An update is read, chosen and written back. Small types have no such places.
// UPDATE-NOT: all_gather
// UPDATE-NOT: all_reduce
// UPDATE: stablehlo.convert %arg2 : (tensor<i8>) -> tensor<i32>
// UPDATE: %[[OLD:.*]] = stablehlo.dynamic_slice %arg0, %[[AT:.*]], sizes = [3]
// UPDATE: %[[NEW:.*]] = stablehlo.select %{{.*}}, %{{.*}}, %[[OLD]]
// UPDATE: stablehlo.dynamic_update_slice %arg0, %[[NEW]], %[[AT]] : (tensor<250xf32>, tensor<3xf32>, tensor<i32>)

//--- update.mlir
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @m = <["a"=4]>
  func.func public @main(%x: tensor<1000xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}]>}, %u: tensor<3xf32>, %i: tensor<i8>) -> (tensor<1000xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}]>}) {
    %y = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<1000xf32>, tensor<3xf32>, tensor<i8>) -> tensor<1000xf32>
    return %y : tensor<1000xf32>
  }
}

// Most of an array is moved by gathering it.
// MOST: stablehlo.all_gather
// MOST-NOT: all_reduce

//--- most.mlir
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @m = <["a"=4]>
  func.func public @main(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}]>}, %i: tensor<i32>) -> tensor<9xf32> {
    %y = stablehlo.dynamic_slice %x, %i, sizes = [9] : (tensor<16xf32>, tensor<i32>) -> tensor<9xf32>
    return %y : tensor<9xf32>
  }
}

// A small array is gathered before the loop, a large one in no case.
// LOOP: %[[ALL:.*]] = "stablehlo.all_gather"(%arg0)
// LOOP: stablehlo.while
// LOOP: stablehlo.dynamic_slice %[[ALL]]
// LOOP: stablehlo.dynamic_slice %arg1
// LOOP: "stablehlo.all_reduce"

//--- loop.mlir
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @m = <["a"=4]>
  func.func public @main(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}]>}, %large: tensor<1048576xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}]>}) -> tensor<1xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %ten = stablehlo.constant dense<10> : tensor<i32>
    %sum = stablehlo.constant dense<0.0> : tensor<1xf32>
    %r:2 = stablehlo.while(%i = %zero, %s = %sum) : tensor<i32>, tensor<1xf32>
    cond {
      %c = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %a = stablehlo.dynamic_slice %x, %i, sizes = [1] : (tensor<16xf32>, tensor<i32>) -> tensor<1xf32>
      %b = stablehlo.dynamic_slice %large, %i, sizes = [1] : (tensor<1048576xf32>, tensor<i32>) -> tensor<1xf32>
      %p = stablehlo.multiply %a, %b : tensor<1xf32>
      %t = stablehlo.add %s, %p : tensor<1xf32>
      %n = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %n, %t : tensor<i32>, tensor<1xf32>
    }
    return %r#1 : tensor<1xf32>
  }
}

// Places in a table with padding are clamped to the table.
// LOOKUP-NOT: all_gather
// LOOKUP: stablehlo.constant dense<14> : tensor<i32>
// LOOKUP: "stablehlo.gather"({{.*}} : (tensor<4xf32>, tensor<3x1xi32>) -> tensor<3xf32>
// LOOKUP: "stablehlo.all_reduce"

//--- lookup.mlir
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @m = <["a"=4]>
  func.func public @main(%x: tensor<15xf32>, %i: tensor<3x1xi32>) -> tensor<3xf32> {
    %t = sdy.sharding_constraint %x <@m, [{"a"}]> : tensor<15xf32>
    %e = stablehlo.sine %t : tensor<15xf32>
    %y = "stablehlo.gather"(%e, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<15xf32>, tensor<3x1xi32>) -> tensor<3xf32>
    return %y : tensor<3xf32>
  }
}

// Who asks is told, inside and outside of manual computations; nothing is left.
// SHOWN: alula.shown_shardings = {{\[}}["first", "{devices=[4]0,1,2,3}"], ["second", "{replicated}"], ["third", "{manual}"]]
// SHOWN-NOT: custom_call

//--- shown.mlir
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @m = <["a"=4]>
  func.func public @main(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}]>}, %s: tensor<f32>) -> (tensor<16xf32>, tensor<f32>) {
    %a = stablehlo.custom_call @InspectSharding(%x) {backend_config = "first", has_side_effect = true} : (tensor<16xf32>) -> tensor<16xf32>
    stablehlo.custom_call @InspectSharding(%s) {backend_config = "second", has_side_effect = true} : (tensor<f32>) -> ()
    %y = sdy.manual_computation(%x) in_shardings=[<@m, [{"a"}]>] out_shardings=[<@m, [{"a"}]>] manual_axes={"a"} (%p: tensor<4xf32>) {
      %b = stablehlo.custom_call @InspectSharding(%p) {backend_config = "third", has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>
      sdy.return %p : tensor<4xf32>
    } : (tensor<16xf32>) -> tensor<16xf32>
    return %y, %s : tensor<16xf32>, tensor<f32>
  }
}

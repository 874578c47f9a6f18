// RUN: alula-opt --split-input-file --partition-propagate-shardings %s | FileCheck %s

// Rows of the left side are rows of the product, columns of the right side its
// columns; what is contracted flows to the other side.

// CHECK-LABEL: @products
module @products attributes {mhlo.num_partitions = 8 : i32} {
  sdy.mesh @m = <["x"=4, "y"=2]>
  // CHECK: func.func public @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}
  // CHECK-SAME: %arg1: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}, {}]>}
  // CHECK-SAME: -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>})
  func.func public @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>},
                         %b: tensor<16x8xf32>) -> tensor<8x8xf32> {
    // CHECK: dot_general {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}]>]>}
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}

// -----

// Of two that want the same axis the first one gets it.

// CHECK-LABEL: @tie
module @tie attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @m = <["x"=2]>
  func.func public @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>},
                         %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>}) -> tensor<8x8xf32> {
    // CHECK: stablehlo.add {{.*}}<@m, [{"x"}, {}]>
    %0 = stablehlo.add %a, %b : tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}

// -----

// What is closed stays; arguments that say nothing follow.

// CHECK-LABEL: @backward
module @backward attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @m = <["x"=2]>
  // CHECK: %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{}]>}, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}
  func.func public @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{}]>}, %b: tensor<8xf32>)
      -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) {
    %0 = stablehlo.add %a, %b : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

// A value that is constrained is computed in that way.

// CHECK-LABEL: @constrained
module @constrained attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @m = <["x"=2, "y"=2]>
  func.func public @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> tensor<8x8xf32> {
    // CHECK: stablehlo.sine {{.*}}<@m, [{}, {"y"}]>
    // CHECK: sdy.reshard {{.*}} <@m, [{}, {"y"}]>
    %0 = stablehlo.sine %a : tensor<8x8xf32>
    %1 = sdy.sharding_constraint %0 <@m, [{}, {"y"}]> : tensor<8x8xf32>
    return %1 : tensor<8x8xf32>
  }
}

// -----

// Parts of axes: of 8 devices 4 fit into the first dimension.

// CHECK-LABEL: @parts_of_axes
module @parts_of_axes attributes {mhlo.num_partitions = 8 : i32} {
  sdy.mesh @m = <["x"=8]>
  // CHECK: -> tensor<4x4xf32> {
  func.func public @main(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) -> tensor<4x4xf32> {
    // CHECK: stablehlo.reshape {{.*}}<@m, [{"x":(1)4}, {"x":(4)2}]>
    %0 = stablehlo.reshape %a : (tensor<16xf32>) -> tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
}

// -----

// What doesn't divide is not split by those who are not asked.

// CHECK-LABEL: @uneven
module @uneven attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @m = <["x"=2]>
  func.func public @main(%a: tensor<7x2xf32>, %b: tensor<2x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> tensor<7x4xf32> {
    // CHECK: dot_general
    // CHECK-NOT: sdy.sharding
    // CHECK: return
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<7x2xf32>, tensor<2x4xf32>) -> tensor<7x4xf32>
    return %0 : tensor<7x4xf32>
  }
}

// -----

// What a loop carries is split alike in all rounds.

// CHECK-LABEL: @loop
module @loop attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @m = <["x"=2]>
  func.func public @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}, %n: tensor<i32>) -> tensor<8xf32> {
    // CHECK: stablehlo.while
    // CHECK: sdy.sharding = #sdy.sharding_per_value<[<@m, []>, <@m, [{"x"}]>]>
    // CHECK: stablehlo.sine {{.*}}<@m, [{"x"}]>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %r:2 = stablehlo.while(%i = %zero, %x = %a) : tensor<i32>, tensor<8xf32>
      cond {
        %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %j = stablehlo.add %i, %one : tensor<i32>
        %y = stablehlo.sine %x : tensor<8xf32>
        stablehlo.return %j, %y : tensor<i32>, tensor<8xf32>
      }
    return %r#1 : tensor<8xf32>
  }
}

// -----

// Axes that a computation does not handle by itself flow through it.

// CHECK-LABEL: @manual
module @manual attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @m = <["x"=2, "y"=2]>
  // CHECK: -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>})
  func.func public @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}) -> tensor<8x8xf32> {
    // CHECK: in_shardings=[<@m, [{"x"}, {"y"}]>] out_shardings=[<@m, [{"x"}, {"y"}]>]
    // CHECK: stablehlo.sine {{.*}}<@m, [{}, {"y"}]>
    %0 = sdy.manual_computation(%a) in_shardings=[<@m, [{"x", ?}, {?}]>] out_shardings=[<@m, [{"x", ?}, {?}]>] manual_axes={"x"} (%b: tensor<4x8xf32>) {
      %1 = stablehlo.sine %b : tensor<4x8xf32>
      sdy.return %1 : tensor<4x8xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}

// -----

// Members of a group are split alike, whatever makes them.

// CHECK-LABEL: @group
module @group attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @m = <["x"=2]>
  func.func public @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{}]>}) -> (tensor<8xf32>, tensor<8xf32>) {
    // CHECK: stablehlo.sine {{.*}}<@m, [{"x"}]>
    // CHECK: stablehlo.cosine {{.*}}<@m, [{"x"}]>
    // CHECK-NOT: sharding_group
    %0 = stablehlo.sine %a : tensor<8xf32>
    %1 = stablehlo.cosine %b : tensor<8xf32>
    sdy.sharding_group %0 group_id=0 : tensor<8xf32>
    sdy.sharding_group %1 group_id=0 : tensor<8xf32>
    return %0, %1 : tensor<8xf32>, tensor<8xf32>
  }
}

// -----

// What is more urgent comes first.

// CHECK-LABEL: @priorities
module @priorities attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @m = <["x"=2]>
  func.func public @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}p1, {}]>},
                         %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>}) -> tensor<8x8xf32> {
    // CHECK: stablehlo.add {{.*}}<@m, [{}, {"x"}]>
    %0 = stablehlo.add %a, %b : tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}

// -----

// One device: nothing to say.

// CHECK-LABEL: @one_device
module @one_device {
  func.func public @main(%a: tensor<8xf32>) -> tensor<8xf32> {
    // CHECK-NOT: sdy
    %0 = stablehlo.sine %a : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

// What is sorted lies before and after as it comes, though it is sorted as a
// whole; of which only a few are wanted, they are everywhere, and so is a line.

// CHECK-LABEL: @sorts
module @sorts attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @m = <["x"=2]>
  // CHECK: -> (tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>}, tensor<4x2xf32>, tensor<1x8xf32>)
  func.func public @main(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>},
                         %line: tensor<1x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>}) -> (tensor<4x8xf32>, tensor<4x2xf32>, tensor<1x8xf32>) {
    %all = "stablehlo.sort"(%a) <{dimension = 1 : i64}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %less = stablehlo.compare LT, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
    }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %most = "stablehlo.sort"(%a) <{dimension = 1 : i64}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %less = stablehlo.compare GT, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
    }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %few = stablehlo.slice %most [0:4, 0:2] : (tensor<4x8xf32>) -> tensor<4x2xf32>
    %sorted = "stablehlo.sort"(%line) <{dimension = 1 : i64}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %less = stablehlo.compare LT, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
    }) : (tensor<1x8xf32>) -> tensor<1x8xf32>
    return %all, %few, %sorted : tensor<4x8xf32>, tensor<4x2xf32>, tensor<1x8xf32>
  }
}

// RUN: split-file %s %t
// RUN: alula-opt %t/report.mlir --partition-propagate-shardings --partition-make-local | FileCheck %s
// RUN: alula-compile %t/fact.mlir --target=cpu:x86-64-v2 -o %t.alula
// RUN: alula-inspect %t.alula | FileCheck --check-prefix=FACT %s

// What is moved, for whom, and how the array is split before and after.
// CHECK: alula.partition = [
// CHECK-SAME: "all_gather of 48 bytes for operand 0 of stablehlo.custom_call (report.mlir:[[#]]): [{\22a\22}] to [{}], of which nothing says how it is split"
// CHECK-SAME: "all_reduce of 6 bytes for result 0 of stablehlo.reduce (report.mlir:[[#]]): [] of parts to [], as it is used"
// CHECK-SAME: "collective_broadcast of 4 bytes for result 0 of stablehlo.custom_call (report.mlir:[[#]]), which one device computes"
// CHECK-SAME: "collective_permute of 4 bytes for operand 0 of stablehlo.pad (report.mlir:[[#]]), whose neighbours it reads"
// CHECK: "stablehlo.if"
// The first device does what others see, and all have its result.
// CHECK: stablehlo.custom_call @seen(%{{.*}}) {has_side_effect = true}
// CHECK: "stablehlo.collective_broadcast"

//--- report.mlir

module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @m = <["a"=4]>
  func.func public @main(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}]>}) -> (tensor<f32>, tensor<f32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %begin = stablehlo.slice %x [0:15] : (tensor<16xf32>) -> tensor<15xf32>
    %shifted = stablehlo.pad %x, %zero, low = [1], high = [-1], interior = [0] : (tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
    %product = stablehlo.multiply %x, %shifted : tensor<16xf32>
    %sum = stablehlo.reduce(%product init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<16xf32>, tensor<f32>) -> tensor<f32>
    %seen = stablehlo.custom_call @seen(%x) {has_side_effect = true} : (tensor<16xf32>) -> tensor<f32>
    return %sum, %seen : tensor<f32>, tensor<f32>
  }
}

// What is sent for which line is a fact of the artifact.
// FACT: partition = "all_gather of 48 bytes for operand 0 of stablehlo.sort (fact.mlir:4): [{\"a\"}] to [{}], which it needs whole along a dimension\n"

//--- fact.mlir
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @m = <["a"=4]>
  func.func public @main(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}]>}) -> tensor<16xf32> {
    %sorted = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %less = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
    }) : (tensor<16xf32>) -> tensor<16xf32>
    return %sorted : tensor<16xf32>
  }
}

// What a machine is decides grids and blocks.
// RUN: alula-compile %s --compile-to=kernel -o - | FileCheck %s --check-prefixes=ALL,PORTABLE
// RUN: sed 's/^module/module attributes {dispatch.machine = #dispatch.machine<cpu, cores = 2, l2_bytes = 1048576, l3_bytes = 0>}/' %s > %t.small.mlir
// RUN: alula-compile %t.small.mlir --compile-to=kernel -o - | FileCheck %s --check-prefixes=ALL,SMALL
// RUN: sed 's/^module/module attributes {dispatch.machine = #dispatch.machine<cpu, workgroup_steps = 1048576, line_bytes = 128, l1_bytes = 131072, alignment = 256>}/' %s > %t.other.mlir
// RUN: alula-compile %t.other.mlir --compile-to=kernel -o - | FileCheck %s --check-prefixes=ALL,OTHER

module {
// ALL-LABEL: dispatch.entry @rows_0
// PORTABLE-SAME: workgroups [64, 1, 1]
// SMALL-SAME: workgroups [8, 1, 1]
// OTHER-SAME: workgroups [4, 1, 1]
func.func @rows(%x: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %0 = stablehlo.add %x, %x : tensor<1024x1024xf32>
  return %0 : tensor<1024x1024xf32>
}

// Blocks for all cores, or as large as a product likes them.
// ALL-LABEL: dispatch.entry @product_1
// PORTABLE-SAME: workgroups [16, 1, 1]
// SMALL-SAME: workgroups [2, 1, 1]
func.func @product(%x: tensor<512x512xf32>, %y: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}

// Blocks of columns whose sums stay in the first cache.
// ALL-LABEL: dispatch.entry @columns_2
// PORTABLE-SAME: workgroups [16, 1, 1] scratch 4096
// SMALL-SAME: workgroups [8, 1, 1] scratch 4096
// OTHER-SAME: workgroups [4, 1, 1] scratch 16384
func.func @columns(%x: tensor<512x16384xf32>) -> tensor<16384xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %y = stablehlo.abs %x : tensor<512x16384xf32>
  %0 = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<512x16384xf32>, tensor<f32>) -> tensor<16384xf32>
  return %0 : tensor<16384xf32>
}
}

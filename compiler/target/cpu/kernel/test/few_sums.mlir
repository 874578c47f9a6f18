// Without vectors, sums of products are in registers, four at a time; with them, in a row of memory.
// RUN: sed 's/^module/module attributes {dispatch.machine = #dispatch.machine<cpu, vector_registers = 0, call_steps = 1099511627776>}/' %s > %t.small.mlir
// RUN: alula-compile %t.small.mlir --compile-to=kernel -o - | FileCheck %s --check-prefixes=ALL,SMALL
// RUN: sed 's/^module/module attributes {dispatch.machine = #dispatch.machine<cpu, vector_registers = 16, call_steps = 1099511627776>}/' %s > %t.other.mlir
// RUN: alula-compile %t.other.mlir --compile-to=kernel -o - | FileCheck %s --check-prefixes=ALL,VECTORS

module {
// ALL-LABEL: func.func @product_0(
// Six columns are four and two.
// SMALL: scf.for {{.*}} iter_args({{.*}}) -> (f32, f32, f32, f32)
// SMALL-NOT: memref.store
// SMALL-COUNT-4: arith.mulf
// SMALL-NOT: memref.store
// SMALL: scf.yield
// SMALL-COUNT-4: memref.store
// SMALL: scf.for {{.*}} iter_args({{.*}}) -> (f32, f32)
// SMALL-COUNT-2: arith.mulf
// SMALL-COUNT-2: memref.store
// VECTORS-NOT: iter_args
// ALL: return
func.func @product(%x: tensor<8x40xf32>, %y: tensor<40x6xf32>) -> tensor<8x6xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<8x40xf32>, tensor<40x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// ALL-LABEL: func.func @convolution_1(
// Whether an element is inside is asked outside of the loop over its features.
// SMALL: scf.if {{.*}} -> (f32, f32, f32, f32)
// SMALL: scf.for {{.*}} iter_args({{.*}}) -> (f32, f32, f32, f32)
// SMALL-COUNT-4: arith.mulf
// VECTORS-NOT: -> (f32, f32, f32, f32)
// ALL: return
func.func @convolution(%x: tensor<1x6x6x3xf32>, %w: tensor<3x3x3x8xf32>) -> tensor<1x6x6x8xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x6x6x3xf32>, tensor<3x3x3x8xf32>) -> tensor<1x6x6x8xf32>
  return %0 : tensor<1x6x6x8xf32>
}
}

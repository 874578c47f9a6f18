// Many rows times integers of few bits, which may be rounded to bytes: where vectors of 64 bytes are multiplied in fours.
// RUN: sed 's/^module/module attributes {dispatch.machine = #dispatch.machine<cpu, vector_bytes = 64, int8_dot = 1, block_rows = 256, block_columns = 256, cores = 1>}/' %s > %t.fours.mlir
// RUN: alula-compile %t.fours.mlir --accuracy=i8-activations --compile-to=kernel -o - | FileCheck %s --check-prefix=FOURS
// RUN: alula-compile %t.fours.mlir --compile-to=kernel -o - | FileCheck %s --check-prefix=FLOATS
// RUN: sed 's/^module/module attributes {dispatch.machine = #dispatch.machine<cpu, vector_bytes = 32, int8_dot = 1, block_rows = 256, block_columns = 256, cores = 1>}/' %s > %t.short.mlir
// RUN: alula-compile %t.short.mlir --accuracy=i8-activations --compile-to=kernel -o - | FileCheck %s --check-prefix=FLOATS

// FOURS: call @alula_rounded_block_i4
// FLOATS-NOT: alula_rounded
// FLOATS: call @alula_product_f32
module {
  func.func @main(%x: tensor<40x640xf32>, %w: tensor<640x130xi4>, %s: tensor<20x130xf32>) -> tensor<40x130xf32> {
    %0 = stablehlo.convert %w : (tensor<640x130xi4>) -> tensor<640x130xf32>
    %1 = stablehlo.reshape %0 : (tensor<640x130xf32>) -> tensor<20x32x130xf32>
    %2 = stablehlo.broadcast_in_dim %s, dims = [0, 2] : (tensor<20x130xf32>) -> tensor<20x32x130xf32>
    %3 = stablehlo.multiply %1, %2 : tensor<20x32x130xf32>
    %4 = stablehlo.reshape %3 : (tensor<20x32x130xf32>) -> tensor<640x130xf32>
    %5 = stablehlo.dot_general %x, %4, contracting_dims = [1] x [0] : (tensor<40x640xf32>, tensor<640x130xf32>) -> tensor<40x130xf32>
    return %5 : tensor<40x130xf32>
  }
}

// Files that nobody named a target for have levels for products of bytes where
// a kernel multiplies bytes.
// RUN: split-file %s %t
// RUN: alula-compile %t/bytes.mlir -o - | alula-inspect - | FileCheck %s --check-prefix=BYTES
// BYTES: variant 0 "x86-64-v4-bf16"
// BYTES: variant 1 "x86-64-v4-vnni"
// BYTES: variant 2 "x86-64-v4"
// BYTES: variant 3 "x86-64-v3-vnni"
// BYTES: variant 4 "x86-64-v3"
// BYTES: variant 5 "x86-64-v2"
// RUN: alula-compile %t/floats.mlir -o - | alula-inspect - | FileCheck %s --check-prefix=FLOATS
// FLOATS: variant 0 "x86-64-v4-bf16"
// FLOATS: variant 1 "x86-64-v4"
// FLOATS: variant 2 "x86-64-v3"
// FLOATS: variant 3 "x86-64-v2"
// FLOATS-NOT: variant 4
// Whoever names targets has no others.
// RUN: alula-compile %t/bytes.mlir --target=cpu:x86-64-v4 --target=cpu:x86-64-v3 -o - | alula-inspect - | FileCheck %s --check-prefix=NAMED
// NAMED: variant 0 "x86-64-v4"
// NAMED: variant 1 "x86-64-v3"
// NAMED-NOT: variant 2
// A program that goes on from a dump has them too.
// RUN: alula-compile %t/bytes.mlir --compile-to=dispatch -o %t/stage.mlir
// RUN: alula-compile %t/stage.mlir --compile-from=auto -o - | alula-inspect - | FileCheck %s --check-prefix=BYTES

//--- bytes.mlir
func.func @main(%a: tensor<128x512xi8>, %b: tensor<512x256xi8>) -> tensor<128x256xi32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<128x512xi8>, tensor<512x256xi8>) -> tensor<128x256xi32>
  return %0 : tensor<128x256xi32>
}

//--- floats.mlir
func.func @main(%a: tensor<128x512xf32>, %b: tensor<512x256xf32>, %c: tensor<128x256xi8>)
    -> (tensor<128x256xf32>, tensor<128x256xi8>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<128x512xf32>, tensor<512x256xf32>) -> tensor<128x256xf32>
  %1 = stablehlo.add %c, %c : tensor<128x256xi8>
  return %0, %1 : tensor<128x256xf32>, tensor<128x256xi8>
}

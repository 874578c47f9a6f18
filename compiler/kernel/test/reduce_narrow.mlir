// Extremes of narrow floats are carried in f32: no element waits for the
// rounding of the one before.
// RUN: alula-compile %s --target=cpu:x86-64-v3 --compile-to=kernel -o - | FileCheck %s
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (f32)
// CHECK-NOT: arith.truncf
// CHECK: arith.maximumf {{.*}} : f32
// CHECK-NOT: arith.truncf
// CHECK: scf.yield {{.*}} : f32
func.func @main(%x: tensor<64x300xbf16>) -> tensor<64xbf16> {
  %init = stablehlo.constant dense<0xFF80> : tensor<bf16>
  %0 = stablehlo.reduce(%x init: %init) applies stablehlo.maximum across dimensions = [1] : (tensor<64x300xbf16>, tensor<bf16>) -> tensor<64xbf16>
  return %0 : tensor<64xbf16>
}

// Halves of heads of 128 numbers, turned as positions are encoded: places are
// sums whose parts share no bits, and neighbours stay neighbours.
// RUN: rm -rf %t && alula-compile %s --target=cpu:x86-64-v4 -o - --dump-executable-intermediates-to=%t > /dev/null
// RUN: cat %t/*.s | FileCheck %s
// CHECK-NOT: {{gather|scatter}}
// CHECK: vmulps
// CHECK-NOT: {{gather|scatter}}
func.func @main(%x: tensor<512x1024xf32>, %c: tensor<512xf32>) -> tensor<512x8x128xf32> {
  %0 = stablehlo.reshape %x : (tensor<512x1024xf32>) -> tensor<512x8x128xf32>
  %1 = stablehlo.slice %0 [0:512, 0:8, 0:64] : (tensor<512x8x128xf32>) -> tensor<512x8x64xf32>
  %2 = stablehlo.slice %0 [0:512, 0:8, 64:128] : (tensor<512x8x128xf32>) -> tensor<512x8x64xf32>
  %3 = stablehlo.broadcast_in_dim %c, dims = [0] : (tensor<512xf32>) -> tensor<512x8x64xf32>
  %4 = stablehlo.multiply %1, %3 : tensor<512x8x64xf32>
  %5 = stablehlo.multiply %2, %3 : tensor<512x8x64xf32>
  %6 = stablehlo.subtract %4, %5 : tensor<512x8x64xf32>
  %7 = stablehlo.add %4, %5 : tensor<512x8x64xf32>
  %8 = stablehlo.concatenate %6, %7, dim = 2 : (tensor<512x8x64xf32>, tensor<512x8x64xf32>) -> tensor<512x8x128xf32>
  return %8 : tensor<512x8x128xf32>
}

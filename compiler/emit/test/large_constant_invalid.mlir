// RUN: not alula-compile %s -o %t.alula 2>&1 | FileCheck %s
// CHECK: error: 'stablehlo.constant': no native code: one value for all of 'tensor<2147483648xf32>' takes 8589934592 bytes of the artifact, more than 4294967296
func.func @main() -> tensor<2147483648xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2147483648xf32>
  return %1 : tensor<2147483648xf32>
}

// RUN: not alula-compile --target=cpu:host %s -o %t.alula 2>&1 | FileCheck %s

// CHECK: 'stablehlo.remainder': no native code: for elements of type complex<f32>
func.func @main(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %0 = stablehlo.remainder %x, %x : tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}

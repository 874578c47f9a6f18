// RUN: not alula-compile %s -o %t.alula 2>&1 | FileCheck %s

// CHECK: 'stablehlo.custom_call': no native code: without the flag 'lower'
func.func @main(%x: tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3xf32>) {
  %0:2 = stablehlo.custom_call @alula.eigh(%x) : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3xf32>)
  return %0#0, %0#1 : tensor<3x3xf32>, tensor<3xf32>
}

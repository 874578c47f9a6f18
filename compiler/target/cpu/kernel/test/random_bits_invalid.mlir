// RUN: not alula-compile --target=cpu:host %s -o %t.alula 2>&1 | FileCheck %s

// CHECK: 'stablehlo.rng_bit_generator': no native code: for a state of 32 bytes
func.func @main(%state: tensor<4xui64>) -> (tensor<4xui64>, tensor<2xui32>) {
  %next, %0 = stablehlo.rng_bit_generator %state, algorithm = DEFAULT : (tensor<4xui64>) -> (tensor<4xui64>, tensor<2xui32>)
  return %next, %0 : tensor<4xui64>, tensor<2xui32>
}

// RUN: alula-opt %s -dispatch-form-kernels -allow-unregistered-dialect -verify-diagnostics

// expected-error @+1 {{'func.func': must have one block: @branches has 2}}
func.func @branches(%a: tensor<4xf32>) -> tensor<4xf32> {
  "cf.br"()[^bb1] : () -> ()
^bb1:
  return %a : tensor<4xf32>
}

// RUN: alula-opt %s '--pass-pipeline=builtin.module(dispatch.executable(kernel-convert-stablehlo-to-loops))' -verify-diagnostics

dispatch.executable @e {
  dispatch.entry @bits bindings([#dispatch<access write>]) constants 2 workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @bits(%n: index) -> tensor<?xui32> {
      %state = stablehlo.constant dense<7> : tensor<2xui64>
      %l = dispatch.pack %n : tensor<1xi32>
      // expected-error @+1 {{'stablehlo.custom_call': no native code: for such operands}}
      %0:2 = stablehlo.custom_call @stablehlo.dynamic_rng_bit_generator(%state, %l) : (tensor<2xui64>, tensor<1xi32>) -> (tensor<2xui64>, tensor<?xui32>)
      return %0#1 : tensor<?xui32>
    }
  }
}

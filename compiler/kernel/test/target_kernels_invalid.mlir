// RUN: alula-opt --verify-diagnostics --pass-pipeline='builtin.module(dispatch.executable(kernel-convert-stablehlo-to-loops))' %s

module attributes {dispatch.machine = #dispatch.machine<abacus>} {
  // expected-error @+1 {{'dispatch.executable': no target makes kernels for machines of kind 'abacus'}}
  dispatch.executable @e {
    dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
    builtin.module {
      func.func @k(%x: tensor<4xf32>) -> tensor<4xf32> {
        %0 = stablehlo.abs %x : tensor<4xf32>
        return %0 : tensor<4xf32>
      }
    }
  }
}

// RUN: alula-opt %s --pass-pipeline='builtin.module(dispatch.executable(kernel-convert-stablehlo-to-loops))' --split-input-file --verify-diagnostics

dispatch.executable @e {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    // expected-error @below {{'func.func': an import must return tensors or one number: @f}}
    func.func private @f(tensor<8xf32>) -> (tensor<8xf32>, i32) attributes {dispatch.import = "static"}
    func.func @k(%a: tensor<8xf32>) -> tensor<8xf32> {
      %0:2 = func.call @f(%a) : (tensor<8xf32>) -> (tensor<8xf32>, i32)
      return %0#0 : tensor<8xf32>
    }
  }
}

// -----

dispatch.executable @e {
  dispatch.entry @k bindings([#dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    // expected-error @below {{'func.func': an import must return tensors or one number: @f}}
    func.func private @f() -> memref<8xf32> attributes {dispatch.import = "static"}
    func.func @k(%a: memref<f32>) {
      %0 = func.call @f() : () -> memref<8xf32>
      return
    }
  }
}

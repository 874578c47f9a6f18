// RUN: alula-opt --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(dispatch.executable(kernel-convert-stablehlo-to-loops))' %s

dispatch.executable @type {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: tensor<4x!quant.uniform<i8:f32, 0.5>>) -> tensor<4x!quant.uniform<i8:f32, 0.5>> {
      // expected-error @+1 {{'stablehlo.abs': no native code: for values of type 'tensor<4x!quant.uniform<i8:f32, 5.000000e-01>>'}}
      %0 = stablehlo.abs %x : tensor<4x!quant.uniform<i8:f32, 0.5>>
      return %0 : tensor<4x!quant.uniform<i8:f32, 0.5>>
    }
  }
}

// -----

dispatch.executable @inner_type {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: tensor<4xf32>) -> tensor<4xf32> {
      // expected-error @+1 {{'stablehlo.uniform_quantize': no native code: for values of type tensor<4x!quant.uniform<i8:f32, 5.000000e-01>>}}
      %0 = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.5>>
      %1 = stablehlo.uniform_dequantize %0 : (tensor<4x!quant.uniform<i8:f32, 0.5>>) -> tensor<4xf32>
      return %1 : tensor<4xf32>
    }
  }
}

// -----

dispatch.executable @op {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: tensor<4xf32>) -> tensor<4xf32> {
      // expected-error @+1 {{'stablehlo.all_gather': no native code: for this op}}
      %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
  }
}

// -----

dispatch.executable @call {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: tensor<4xf32>) -> tensor<4xf32> {
      // expected-error @+1 {{'stablehlo.custom_call': no native code: for a call of 'mine'}}
      %0 = stablehlo.custom_call @mine(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
  }
}

// -----

dispatch.executable @constant {
  dispatch.entry @k bindings([#dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k() -> tensor<2xcomplex<f32>> {
      // expected-error @+1 {{'stablehlo.constant': no native code: for a constant of type tensor<2xcomplex<f32>> in a kernel}}
      %0 = stablehlo.constant dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f32>>
      return %0 : tensor<2xcomplex<f32>>
    }
  }
}

// -----

dispatch.executable @random_size {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: tensor<f32>, %shape: tensor<1xi64>) -> tensor<?xf32> {
      // expected-error @+1 {{'stablehlo.rng': no native code: for a size that is not known}}
      %0 = stablehlo.rng %x, %x, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<?xf32>
      return %0 : tensor<?xf32>
    }
  }
}

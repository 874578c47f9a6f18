// RUN: alula-opt --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(dispatch.executable(kernel-convert-stablehlo-to-loops))' %s

dispatch.executable @flag {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%a0: tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3xf32>) {
      // expected-error @+1 {{'stablehlo.custom_call': no native code: without the flag 'lower'}}
      %0:2 = stablehlo.custom_call @alula.eigh(%a0) : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3xf32>)
      return %0#0, %0#1 : tensor<3x3xf32>, tensor<3xf32>
    }
  }
}

// -----

dispatch.executable @operands {
  dispatch.entry @k bindings([#dispatch<access write>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k() -> (tensor<3x3xf32>, tensor<3xf32>) {
      // expected-error @+1 {{'stablehlo.custom_call': no native code: for a call of 'Qr' that is not T*mn -> T*mn, T*k}}
      %0:2 = stablehlo.custom_call @Qr() : () -> (tensor<3x3xf32>, tensor<3xf32>)
      return %0#0, %0#1 : tensor<3x3xf32>, tensor<3xf32>
    }
  }
}

// -----

dispatch.executable @element {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%a0: tensor<3x3xi32>) -> (tensor<3x3xi32>, tensor<3xi32>) {
      // expected-error @+1 {{'stablehlo.custom_call': no native code: for a call of 'Qr' that is not T*mn -> T*mn, T*k}}
      %0:2 = stablehlo.custom_call @Qr(%a0) : (tensor<3x3xi32>) -> (tensor<3x3xi32>, tensor<3xi32>)
      return %0#0, %0#1 : tensor<3x3xi32>, tensor<3xi32>
    }
  }
}

// -----

dispatch.executable @rank {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%a0: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
      // expected-error @+1 {{'stablehlo.custom_call': no native code: for a call of 'Qr' that is not T*mn -> T*mn, T*k}}
      %0:2 = stablehlo.custom_call @Qr(%a0) : (tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
      return %0#0, %0#1 : tensor<3xf32>, tensor<3xf32>
    }
  }
}

// -----

dispatch.executable @small {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%a0: tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<2xf32>) {
      // expected-error @+1 {{'stablehlo.custom_call': no native code: for a call of 'Qr' that is not T*mn -> T*mn, T*k}}
      %0:2 = stablehlo.custom_call @Qr(%a0) : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<2xf32>)
      return %0#0, %0#1 : tensor<3x3xf32>, tensor<2xf32>
    }
  }
}

// -----

dispatch.executable @batch {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%a0: tensor<2x3x3xf64>) -> (tensor<2x3x3xf64>, tensor<1x2xf64>) {
      // expected-error @+1 {{'stablehlo.custom_call': no native code: for a call of 'alula.hessenberg' that is not T*nn -> T*nn, T*e}}
      %0:2 = stablehlo.custom_call @alula.hessenberg(%a0) : (tensor<2x3x3xf64>) -> (tensor<2x3x3xf64>, tensor<1x2xf64>)
      return %0#0, %0#1 : tensor<2x3x3xf64>, tensor<1x2xf64>
    }
  }
}

// -----

dispatch.executable @real {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%a0: tensor<3x2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
      // expected-error @+1 {{'stablehlo.custom_call': no native code: for a call of 'alula.svd' that is not T*mn -> R*k}}
      %0 = stablehlo.custom_call @alula.svd(%a0) {mhlo.backend_config = {full_matrices = false, compute_uv = false}} : (tensor<3x2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
      return %0 : tensor<2xcomplex<f32>>
    }
  }
}

// -----

dispatch.executable @count {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%a0: tensor<3x3xf32>) -> tensor<3xcomplex<f32>> {
      // expected-error @+1 {{'stablehlo.custom_call': no native code: for a call of 'alula.eig' that is not T*nn -> C*n, C*nn}}
      %0 = stablehlo.custom_call @alula.eig(%a0) {mhlo.backend_config = {left = true, right = false}} : (tensor<3x3xf32>) -> tensor<3xcomplex<f32>>
      return %0 : tensor<3xcomplex<f32>>
    }
  }
}

// -----

dispatch.executable @more {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%a0: tensor<3x2xf32>, %a1: tensor<3xf32>) -> tensor<3x2xf32> {
      // expected-error @+1 {{'stablehlo.custom_call': no native code: for a call of 'alula.householder_product' that is not T*mn, T*p -> T*mn}}
      %0 = stablehlo.custom_call @alula.householder_product(%a0, %a1) : (tensor<3x2xf32>, tensor<3xf32>) -> tensor<3x2xf32>
      return %0 : tensor<3x2xf32>
    }
  }
}

// -----

dispatch.executable @pivots {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%a0: tensor<4xi32>) -> tensor<3xi32> {
      // expected-error @+1 {{'stablehlo.custom_call': no native code: for a call of 'alula.lu_pivots_to_permutation' that is not i*p -> i*q}}
      %0 = stablehlo.custom_call @alula.lu_pivots_to_permutation(%a0) : (tensor<4xi32>) -> tensor<3xi32>
      return %0 : tensor<3xi32>
    }
  }
}

// -----

// Lists of pairs, of numbers that the library has.
dispatch.executable @sparse {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access read>, #dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%a0: tensor<5xf32>, %a1: tensor<5x3xi32>, %a2: tensor<4x2xf32>) -> tensor<3x2xf32> {
      // expected-error @+1 {{'stablehlo.custom_call': no native code: for a call of 'alula.sparse_product' that is not T*s, i*su, T*an -> T*bn}}
      %0 = stablehlo.custom_call @alula.sparse_product(%a0, %a1, %a2) : (tensor<5xf32>, tensor<5x3xi32>, tensor<4x2xf32>) -> tensor<3x2xf32>
      return %0 : tensor<3x2xf32>
    }
  }
}

// -----

// One start for each row, and the end of the last one.
dispatch.executable @sparse_rows {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access read>, #dispatch<access read>, #dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%a0: tensor<5xf32>, %a1: tensor<3xi32>, %a2: tensor<5xi32>, %a3: tensor<4x2xf32>) -> tensor<3x2xf32> {
      // expected-error @+1 {{'stablehlo.custom_call': no native code: for a call of 'alula.sparse_rows_product' that is not T*s, i*r, i*s, T*an -> T*bn}}
      %0 = stablehlo.custom_call @alula.sparse_rows_product(%a0, %a1, %a2, %a3) : (tensor<5xf32>, tensor<3xi32>, tensor<5xi32>, tensor<4x2xf32>) -> tensor<3x2xf32>
      return %0 : tensor<3x2xf32>
    }
  }
}

// -----

dispatch.executable @sparse_complex {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access read>, #dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%a0: tensor<4x2xcomplex<f32>>, %a1: tensor<3x2xcomplex<f32>>, %a2: tensor<5x2xi32>) -> tensor<5xcomplex<f32>> {
      // expected-error @+1 {{'stablehlo.custom_call': no native code: for a call of 'alula.sparse_sampled' that is not T*mp, T*np, i*su -> T*s}}
      %0 = stablehlo.custom_call @alula.sparse_sampled(%a0, %a1, %a2) : (tensor<4x2xcomplex<f32>>, tensor<3x2xcomplex<f32>>, tensor<5x2xi32>) -> tensor<5xcomplex<f32>>
      return %0 : tensor<5xcomplex<f32>>
    }
  }
}

// -----

dispatch.executable @groups {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access read>, #dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%a0: tensor<8x4xf32>, %a1: tensor<2x4x3xf32>, %a2: tensor<3xi32>) -> tensor<8x3xf32> {
      // expected-error @+1 {{'stablehlo.custom_call': no native code: for a call of 'alula.ragged_rows_product' that is not T*rs, T*gsc, i*g -> S*rc}}
      %0 = stablehlo.custom_call @alula.ragged_rows_product(%a0, %a1, %a2) : (tensor<8x4xf32>, tensor<2x4x3xf32>, tensor<3xi32>) -> tensor<8x3xf32>
      return %0 : tensor<8x3xf32>
    }
  }
}

// -----

dispatch.executable @halves {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access read>, #dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%a0: tensor<8x4xf16>, %a1: tensor<8x3xf16>, %a2: tensor<2xi32>) -> tensor<2x4x3xf16> {
      // expected-error @+1 {{'stablehlo.custom_call': no native code: for a call of 'alula.ragged_sums_product' that is not T*rs, T*rc, i*g -> S*gsc}}
      %0 = stablehlo.custom_call @alula.ragged_sums_product(%a0, %a1, %a2) : (tensor<8x4xf16>, tensor<8x3xf16>, tensor<2xi32>) -> tensor<2x4x3xf16>
      return %0 : tensor<2x4x3xf16>
    }
  }
}

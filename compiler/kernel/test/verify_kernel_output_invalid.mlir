// RUN: alula-opt --verify-diagnostics -split-input-file --pass-pipeline='builtin.module(dispatch.executable(kernel-verify-output))' %s

dispatch.executable @none {
  // expected-error@+1 {{'dispatch.entry': has no body: @k}}
  dispatch.entry @k bindings([#dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
  }
}

// -----

dispatch.executable @tensors {
  dispatch.entry @k bindings([#dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    // expected-error@+1 {{'func.func': a kernel must take buffers and sizes and return nothing}}
    func.func @k(%x: tensor<2xf32>) {
      return
    }
  }
}

// -----

dispatch.executable @ops {
  dispatch.entry @k bindings([#dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: memref<f32>) {
      // expected-error@+1 {{'stablehlo.constant': kernels must be loops over buffers}}
      %0 = stablehlo.constant dense<1.0> : tensor<f32>
      return
    }
  }
}

// -----

dispatch.executable @memory {
  dispatch.entry @k bindings([#dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: memref<f32>) {
      // expected-error@+1 {{'memref.alloc': temporaries must be in the scratch}}
      %0 = memref.alloc() : memref<2xf32>
      return
    }
  }
}

// -----

dispatch.executable @calls {
  dispatch.entry @k bindings([#dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    // expected-error@+1 {{'func.func': what a kernel calls must be of its library}}
    func.func private @expf(f32) -> f32
    func.func @k(%x: memref<f32>) {
      return
    }
  }
}

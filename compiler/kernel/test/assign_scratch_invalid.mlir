// RUN: alula-opt --verify-diagnostics --pass-pipeline='builtin.module(dispatch.executable(kernel-assign-scratch))' %s

dispatch.executable @temporary {
  dispatch.entry @k bindings([#dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: memref<f32>, %n: index) attributes {kernel.bindings = 1 : i64, kernel.constants = 1 : i64} {
      // expected-error @+1 {{'memref.alloc': size of a temporary must be known: 'memref<?xf32>'}}
      %0 = memref.alloc(%n) : memref<?xf32>
      return
    }
  }
}

// RUN: alula-opt %s -kernel-place-temporaries -verify-diagnostics

func.func @main(%a: tensor<4xi64>) -> tensor<4xf32> {
  %0 = dispatch.launch @e::@k(%a) : (tensor<4xi64>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

dispatch.executable @e {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%a: memref<i64>, %r: memref<f32>) attributes {kernel.bindings = 2 : i64} {
      %size = memref.load %a[] : memref<i64>
      %n = arith.index_cast %size : i64 to index
      // expected-error @+1 {{'memref.alloc': size of a temporary must follow from the sizes of inputs and results: 'memref<?xf32>'}}
      %0 = memref.alloc(%n) : memref<?xf32>
      return
    }
  }
}

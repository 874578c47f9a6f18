// RUN: alula-opt %s -kernel-form-launches -canonicalize | FileCheck %s

module attributes {dispatch.machine = #dispatch.machine<cuda, block_threads = 256, alignment = 256>} {

// What a library is to compute is asked for where the last part is, which gets
// all operands; the others have nothing to do then.
// CHECK-LABEL: func.func @main
// CHECK: %[[t:.*]] = dispatch.launch @k::@k_part0(%arg0) : (tensor<4096xf32>) -> tensor<16384xi8>
// CHECK: dispatch.launch @k::@k_part1(%[[t]], %arg0) : (tensor<16384xi8>, tensor<4096xf32>) -> tensor<4096xf32>
func.func @main(%x: tensor<4096xf32>) -> tensor<4096xf32> {
  %0 = dispatch.launch @k::@k(%x) : (tensor<4096xf32>) -> tensor<4096xf32>
  return %0 : tensor<4096xf32>
}

// CHECK: dispatch.entry @k_part0 bindings([#dispatch<access read>, #dispatch<access write>]) {{.*}}dispatch.call = {bindings = array<i64>, text = "other x"}
// CHECK: dispatch.entry @k_part1 bindings([#dispatch<access read>, #dispatch<access read>, #dispatch<access write>]) {{.*}}dispatch.call = {bindings = array<i64: 1, 2>, text = "other x"}
// CHECK: func.func @k_part1(%arg0: memref<i8>, %arg1: memref<f32>, %arg2: memref<f32>)
dispatch.executable @k {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0 {dispatch.call = {bindings = array<i64: 0, 1>, text = "other x"}}
  builtin.module {
    func.func @k(%x: memref<f32>, %y: memref<f32>) attributes {kernel.bindings = 2 : i64} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4095 = arith.constant 4095 : index
      %c4096 = arith.constant 4096 : index
      %in = memref.reinterpret_cast %x to offset: [0], sizes: [4096], strides: [1] : memref<f32> to memref<4096xf32>
      %out = memref.reinterpret_cast %y to offset: [0], sizes: [4096], strides: [1] : memref<f32> to memref<4096xf32>
      %t = memref.alloc() : memref<4096xf32>
      scf.parallel (%i) = (%c0) to (%c4096) step (%c1) {
        %v = memref.load %in[%i] : memref<4096xf32>
        %s = arith.addf %v, %v : f32
        memref.store %s, %t[%i] : memref<4096xf32>
      }
      scf.parallel (%i) = (%c0) to (%c4096) step (%c1) {
        %j = arith.subi %c4095, %i : index
        %v = memref.load %t[%j] : memref<4096xf32>
        memref.store %v, %out[%i] : memref<4096xf32>
      }
      return
    }
  }
}

// One part has its operands already.
// CHECK: dispatch.entry @one {{.*}}dispatch.call = {bindings = array<i64: 0, 1>, required, text = "other y"}
dispatch.executable @one {
  dispatch.entry @one bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0 {dispatch.call = {bindings = array<i64: 0, 1>, required, text = "other y"}}
  builtin.module {
    func.func @one(%x: memref<f32>, %y: memref<f32>) attributes {kernel.bindings = 2 : i64} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4096 = arith.constant 4096 : index
      %in = memref.reinterpret_cast %x to offset: [0], sizes: [4096], strides: [1] : memref<f32> to memref<4096xf32>
      %out = memref.reinterpret_cast %y to offset: [0], sizes: [4096], strides: [1] : memref<f32> to memref<4096xf32>
      scf.parallel (%i) = (%c0) to (%c4096) step (%c1) {
        %v = memref.load %in[%i] : memref<4096xf32>
        memref.store %v, %out[%i] : memref<4096xf32>
      }
      return
    }
  }
}
}

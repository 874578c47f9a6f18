// RUN: alula-opt %s -kernel-split-steps | FileCheck %s

// What one loop leaves to another is a result of the first launch, and is changed
// in place by the next.
// CHECK-LABEL: func.func @main
// CHECK: %[[a:.*]] = dispatch.launch @k::@k_step0(%arg0) : (tensor<64xf32>) -> tensor<64xf32>
// CHECK: %[[b:.*]] = dispatch.launch @k::@k_step1(%[[a]]) : (tensor<64xf32>) -> tensor<64xf32>
// CHECK: return %[[b]]
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = dispatch.launch @k::@k(%x) : (tensor<64xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// CHECK: dispatch.entry @k_step0 bindings([#dispatch<access read>, #dispatch<access write>])
// CHECK: dispatch.entry @k_step1 bindings([#dispatch<access read>, #dispatch<access write>])
// CHECK: func.func @k_step0(%arg0: memref<f32>, %arg1: memref<f32>)
// CHECK-NOT: memref.alloc
// CHECK: scf.parallel
// CHECK: func.func @k_step1(%arg0: memref<f32>, %arg1: memref<f32>)
// CHECK-NOT: kernel.step
// CHECK: scf.parallel
dispatch.executable @k {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @k(%x: memref<f32>, %y: memref<f32>) attributes {kernel.bindings = 2 : i64} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c63 = arith.constant 63 : index
      %c64 = arith.constant 64 : index
      %in = memref.reinterpret_cast %x to offset: [0], sizes: [64], strides: [1] : memref<f32> to memref<64xf32>
      %out = memref.reinterpret_cast %y to offset: [0], sizes: [64], strides: [1] : memref<f32> to memref<64xf32>
      %t = memref.alloc() : memref<64xf32>
      scf.parallel (%i) = (%c0) to (%c64) step (%c1) {
        %v = memref.load %in[%i] : memref<64xf32>
        %s = arith.addf %v, %v : f32
        memref.store %s, %t[%i] : memref<64xf32>
      } {kernel.step = 0 : i64}
      scf.parallel (%i) = (%c0) to (%c64) step (%c1) {
        %j = arith.subi %c63, %i : index
        %v = memref.load %t[%j] : memref<64xf32>
        memref.store %v, %out[%i] : memref<64xf32>
      } {kernel.step = 1 : i64}
      return
    }
  }
}

// What several steps write, the later ones change.
// CHECK: dispatch.entry @twice_step0 bindings([#dispatch<access write>])
// CHECK: dispatch.entry @twice_step1 bindings([#dispatch<access read_write>])
dispatch.executable @twice {
  dispatch.entry @twice bindings([#dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @twice(%y: memref<f32>) attributes {kernel.bindings = 1 : i64} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %zero = arith.constant 0.0 : f32
      %out = memref.reinterpret_cast %y to offset: [0], sizes: [64], strides: [1] : memref<f32> to memref<64xf32>
      scf.parallel (%i) = (%c0) to (%c64) step (%c1) {
        memref.store %zero, %out[%i] : memref<64xf32>
      } {kernel.step = 0 : i64}
      scf.parallel (%i) = (%c0) to (%c64) step (%c1) {
        %v = memref.load %out[%i] : memref<64xf32>
        memref.store %v, %out[%i] : memref<64xf32>
      } {kernel.step = 1 : i64}
      return
    }
  }
}

// CHECK-LABEL: func.func @change
// CHECK: %[[c:.*]] = dispatch.launch @twice::@twice_step0() : () -> tensor<64xf32>
// CHECK: %[[d:.*]] = dispatch.launch @twice::@twice_step1(%[[c]]) in_place [0] : (tensor<64xf32>) -> tensor<64xf32>
// CHECK: return %[[d]]
func.func @change() -> tensor<64xf32> {
  %0 = dispatch.launch @twice::@twice() : () -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// Something else is written: one kernel.
// CHECK: dispatch.entry @one bindings
dispatch.executable @one {
  dispatch.entry @one bindings([#dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @one(%y: memref<f32>) attributes {kernel.bindings = 1 : i64} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %zero = arith.constant 0.0 : f32
      %out = memref.reinterpret_cast %y to offset: [0], sizes: [64], strides: [1] : memref<f32> to memref<64xf32>
      %t = memref.alloc() : memref<64xf32>
      memref.store %zero, %t[%c0] : memref<64xf32>
      scf.parallel (%i) = (%c0) to (%c64) step (%c1) {
        memref.store %zero, %t[%i] : memref<64xf32>
      } {kernel.step = 0 : i64}
      scf.parallel (%i) = (%c0) to (%c64) step (%c1) {
        %v = memref.load %t[%i] : memref<64xf32>
        memref.store %v, %out[%i] : memref<64xf32>
      } {kernel.step = 1 : i64}
      return
    }
  }
}

func.func @other() -> tensor<64xf32> {
  %0 = dispatch.launch @one::@one() : () -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// RUN: alula-opt %s -kernel-form-launches -canonicalize | FileCheck %s

module attributes {dispatch.machine = #dispatch.machine<cuda, block_threads = 256, alignment = 256>} {

// A long loop is a grid; what it leaves to the next is memory of the host.
// CHECK-LABEL: func.func @main
// CHECK: %[[t:.*]] = dispatch.launch @k::@k_part0(%arg0) : (tensor<4096xf32>) -> tensor<16384xi8>
// CHECK: %[[y:.*]] = dispatch.launch @k::@k_part1(%[[t]]) : (tensor<16384xi8>) -> tensor<4096xf32>
// CHECK: return %[[y]]
func.func @main(%x: tensor<4096xf32>) -> tensor<4096xf32> {
  %0 = dispatch.launch @k::@k(%x) : (tensor<4096xf32>) -> tensor<4096xf32>
  return %0 : tensor<4096xf32>
}

// CHECK: dispatch.entry @k_part0 bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [16, 1, 1] scratch 0 {workgroup_size = array<i64: 256, 1, 1>}
// CHECK: dispatch.entry @k_part1 bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [16, 1, 1]
// CHECK: func.func @k_part0(%arg0: memref<f32>, %arg1: memref<i8>)
// CHECK-DAG: %[[threads:.*]] = call @alula_grid_threads()
// CHECK-DAG: %[[thread:.*]] = call @alula_grid_thread()
// CHECK: scf.for %{{.*}} = %[[thread]] to %c4096 step %[[threads]]
// CHECK-NOT: alula_block_wait
// CHECK: func.func @k_part1
dispatch.executable @k {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
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

// Control flow is one block: all threads share the loop and wait, the first one
// stores.
// CHECK: dispatch.entry @steps bindings({{.*}}) workgroups [1, 1, 1]
// CHECK: func.func @steps
// CHECK: %[[thread:.*]] = call @alula_block_thread()
// CHECK: scf.for
// CHECK: call @alula_block_wait()
// CHECK-NEXT: scf.for %{{.*}} = %[[thread]] to
// CHECK: call @alula_block_wait()
// CHECK: call @alula_block_wait()
// CHECK-NEXT: arith.cmpi eq, %[[thread]]
// CHECK-NEXT: scf.if
// CHECK-NEXT: memref.store
// CHECK-NEXT: }
// CHECK-NEXT: call @alula_block_wait()
dispatch.executable @steps {
  dispatch.entry @steps bindings([#dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @steps(%y: memref<f32>) attributes {kernel.bindings = 1 : i64} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %one = arith.constant 1.0 : f32
      %out = memref.reinterpret_cast %y to offset: [0], sizes: [64], strides: [1] : memref<f32> to memref<64xf32>
      scf.for %k = %c0 to %c64 step %c1 {
        scf.parallel (%i) = (%c0) to (%c64) step (%c1) {
          memref.store %one, %out[%i] : memref<64xf32>
        }
        memref.store %one, %out[%k] : memref<64xf32>
      }
      return
    }
  }
}

// Loops with nothing but a loop are one; a large temporary of each iteration is
// memory for each thread.
// CHECK: dispatch.entry @rows bindings([#dispatch<access write>, #dispatch<access write>]) workgroups [4, 1, 1]
// CHECK: func.func @rows(%arg0: memref<f32>, %arg1: memref<i8>)
// CHECK: %[[offset:.*]] = arith.muli %{{.*}}, %c1024
// CHECK: memref.view %{{.*}}[%[[offset]]][]
// CHECK: arith.remui
// CHECK: memref.store
dispatch.executable @rows {
  dispatch.entry @rows bindings([#dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @rows(%y: memref<f32>) attributes {kernel.bindings = 1 : i64} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c32 = arith.constant 32 : index
      %one = arith.constant 1.0 : f32
      %out = memref.reinterpret_cast %y to offset: [0], sizes: [32, 32], strides: [32, 1] : memref<f32> to memref<32x32xf32>
      %t = memref.alloc() : memref<256xf32>
      scf.parallel (%i) = (%c0) to (%c32) step (%c1) {
        scf.parallel (%j) = (%c0) to (%c32) step (%c1) {
          memref.store %one, %t[%j] : memref<256xf32>
          %v = memref.load %t[%j] : memref<256xf32>
          memref.store %v, %out[%i, %j] : memref<32x32xf32>
        }
      }
      return
    }
  }
}

// A loop of workgroups: each iteration is done by one, whose threads share the
// loops inside.
// CHECK: dispatch.entry @tiles bindings([#dispatch<access write>]) workgroups [6, 1, 1]
// CHECK: func.func @tiles
// CHECK-DAG: %[[thread:.*]] = call @alula_block_thread()
// CHECK-DAG: %[[number:.*]] = call @alula_block()
// CHECK-DAG: %[[count:.*]] = call @alula_blocks()
// CHECK: scf.for %[[tile:.*]] = %[[number]] to %c6 step %[[count]]
// CHECK: call @alula_block_wait()
// CHECK-NEXT: scf.for %{{.*}} = %[[thread]] to %c64 step %c256
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[tile]], %{{.*}}]
dispatch.executable @tiles {
  dispatch.entry @tiles bindings([#dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func private @alula_block_wait()
    func.func @tiles(%y: memref<f32>) attributes {kernel.bindings = 1 : i64} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c6 = arith.constant 6 : index
      %c64 = arith.constant 64 : index
      %one = arith.constant 1.0 : f32
      %out = memref.reinterpret_cast %y to offset: [0], sizes: [6, 64], strides: [64, 1] : memref<f32> to memref<6x64xf32>
      scf.parallel (%i) = (%c0) to (%c6) step (%c1) {
        func.call @alula_block_wait() : () -> ()
        scf.parallel (%j) = (%c0) to (%c64) step (%c1) {
          memref.store %one, %out[%i, %j] : memref<6x64xf32>
        }
      } {kernel.for_workgroups = 256 : i64}
      return
    }
  }
}

// Workgroups of other threads than the machine's.
// CHECK-LABEL: dispatch.executable @wide_tiles
// CHECK: dispatch.entry @wide_tiles {{.*}} workgroups [6, 1, 1] scratch 0 {workgroup_size = array<i64: 384, 1, 1>}
// CHECK: scf.for
dispatch.executable @wide_tiles {
  dispatch.entry @wide_tiles bindings([#dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @wide_tiles(%y: memref<f32>) attributes {kernel.bindings = 1 : i64} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c6 = arith.constant 6 : index
      %one = arith.constant 1.0 : f32
      %out = memref.reinterpret_cast %y to offset: [0], sizes: [6], strides: [1] : memref<f32> to memref<6xf32>
      scf.parallel (%i) = (%c0) to (%c6) step (%c1) {
        memref.store %one, %out[%i] : memref<6xf32>
      } {kernel.for_workgroups = 384 : i64}
      return
    }
  }
}
}

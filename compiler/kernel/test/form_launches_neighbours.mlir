// RUN: alula-opt %s -kernel-form-launches -canonicalize | FileCheck %s

module attributes {dispatch.machine = #dispatch.machine<cuda, cores = 2, lanes = 32, block_threads = 256, alignment = 256, vector_bytes = 16>} {

// Rows that are not told apart are one; a thread has four neighbours, whose
// loads and stores stand together, and some have one of the rest.
// CHECK: dispatch.entry @map bindings({{.*}}) workgroups [3, 1, 1]
// CHECK: func.func @map
// CHECK-DAG: %[[thread:.*]] = call @alula_grid_thread()
// CHECK-DAG: %[[threads:.*]] = call @alula_grid_threads()
// CHECK: scf.for %[[k:.*]] = %[[thread]] to %c750 step %[[threads]]
// CHECK: %[[first:.*]] = arith.muli %[[k]], %c4
// CHECK-DAG: memref.load %{{.*}}[%[[first]]] : memref<3003xf32>
// CHECK-DAG: memref.load %{{.*}}[%[[first]]] : memref<3003xf32, strided<[1], offset: 1>>
// CHECK-DAG: memref.load %{{.*}}[%[[first]]] : memref<3003xf32, strided<[1], offset: 2>>
// CHECK-DAG: memref.load %{{.*}}[%[[first]]] : memref<3003xf32, strided<[1], offset: 3>>
// CHECK-COUNT-4: arith.addf
// CHECK-COUNT-4: memref.store %{{.*}}, %{{.*}}[%[[first]]]
// CHECK: scf.for %[[k:.*]] = %[[thread]] to %c3 step %[[threads]]
// CHECK: %[[last:.*]] = arith.addi %[[k]], %c3000
// CHECK: memref.load %{{.*}}[%[[last]]]
// CHECK: arith.addf
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[last]]]
dispatch.executable @map {
  dispatch.entry @map bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @map(%x: memref<f32>, %y: memref<f32>) attributes {kernel.bindings = 2 : i64} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c1001 = arith.constant 1001 : index
      %c3 = arith.constant 3 : index
      %in = memref.reinterpret_cast %x to offset: [0], sizes: [1001, 3], strides: [3, 1] : memref<f32> to memref<1001x3xf32>
      %out = memref.reinterpret_cast %y to offset: [0], sizes: [1001, 3], strides: [3, 1] : memref<f32> to memref<1001x3xf32>
      scf.parallel (%i, %j) = (%c0, %c0) to (%c1001, %c3) step (%c1, %c1) {
        %v = memref.load %in[%i, %j] : memref<1001x3xf32>
        %s = arith.addf %v, %v : f32
        memref.store %s, %out[%i, %j] : memref<1001x3xf32>
      }
      return
    }
  }
}

// What all neighbours have is loaded once. Rows whose length is no multiple
// begin anywhere: no neighbours.
// CHECK: dispatch.entry @broadcast bindings({{.*}}) workgroups [2, 1, 1]
// CHECK: func.func @broadcast
// CHECK: scf.for
// CHECK-COUNT-1: memref.load
// CHECK-NOT: memref.load
// CHECK-COUNT-4: memref.store
// CHECK: dispatch.entry @odd bindings({{.*}}) workgroups [9, 1, 1]
// CHECK: func.func @odd
// CHECK-COUNT-1: memref.store
// CHECK-NOT: memref.store
dispatch.executable @broadcast {
  dispatch.entry @broadcast bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @broadcast(%x: memref<f32>, %y: memref<f32>) attributes {kernel.bindings = 2 : i64} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c256 = arith.constant 256 : index
      %c8 = arith.constant 8 : index
      %in = memref.reinterpret_cast %x to offset: [0], sizes: [256], strides: [1] : memref<f32> to memref<256xf32>
      %out = memref.reinterpret_cast %y to offset: [0], sizes: [256, 8], strides: [8, 1] : memref<f32> to memref<256x8xf32>
      scf.parallel (%i, %j) = (%c0, %c0) to (%c256, %c8) step (%c1, %c1) {
        %v = memref.load %in[%i] : memref<256xf32>
        memref.store %v, %out[%i, %j] : memref<256x8xf32>
      }
      return
    }
  }
}

dispatch.executable @odd {
  dispatch.entry @odd bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @odd(%x: memref<f32>, %y: memref<f32>) attributes {kernel.bindings = 2 : i64} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c256 = arith.constant 256 : index
      %c9 = arith.constant 9 : index
      %in = memref.reinterpret_cast %x to offset: [0], sizes: [256], strides: [1] : memref<f32> to memref<256xf32>
      %out = memref.reinterpret_cast %y to offset: [0], sizes: [256, 9], strides: [9, 1] : memref<f32> to memref<256x9xf32>
      scf.parallel (%i, %j) = (%c0, %c0) to (%c256, %c9) step (%c1, %c1) {
        %v = memref.load %in[%i] : memref<256xf32>
        memref.store %v, %out[%i, %j] : memref<256x9xf32>
      }
      return
    }
  }
}

// Those that lie elsewhere are shared by many threads; so is memory that a
// thread has for itself.
// CHECK: dispatch.entry @transpose bindings({{.*}}) workgroups [8, 1, 1]
// CHECK: func.func @transpose
// CHECK-COUNT-1: memref.store
// CHECK-NOT: memref.store
// CHECK: dispatch.entry @private bindings({{.*}}) workgroups [8, 1, 1]
dispatch.executable @transpose {
  dispatch.entry @transpose bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @transpose(%x: memref<f32>, %y: memref<f32>) attributes {kernel.bindings = 2 : i64} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c256 = arith.constant 256 : index
      %c8 = arith.constant 8 : index
      %in = memref.reinterpret_cast %x to offset: [0], sizes: [8, 256], strides: [256, 1] : memref<f32> to memref<8x256xf32>
      %out = memref.reinterpret_cast %y to offset: [0], sizes: [256, 8], strides: [8, 1] : memref<f32> to memref<256x8xf32>
      scf.parallel (%i, %j) = (%c0, %c0) to (%c256, %c8) step (%c1, %c1) {
        %v = memref.load %in[%j, %i] : memref<8x256xf32>
        memref.store %v, %out[%i, %j] : memref<256x8xf32>
      }
      return
    }
  }
}

dispatch.executable @private {
  dispatch.entry @private bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @private(%x: memref<f32>, %y: memref<f32>) attributes {kernel.bindings = 2 : i64} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2048 = arith.constant 2048 : index
      %in = memref.reinterpret_cast %x to offset: [0], sizes: [2048], strides: [1] : memref<f32> to memref<2048xf32>
      %out = memref.reinterpret_cast %y to offset: [0], sizes: [2048], strides: [1] : memref<f32> to memref<2048xf32>
      %own = memref.alloc() : memref<1xf32>
      scf.parallel (%i) = (%c0) to (%c2048) step (%c1) {
        %v = memref.load %in[%i] : memref<2048xf32>
        memref.store %v, %own[%c0] : memref<1xf32>
        %w = memref.load %own[%c0] : memref<1xf32>
        memref.store %w, %out[%i] : memref<2048xf32>
      }
      return
    }
  }
}
}

// RUN: alula-opt %s -kernel-form-launches -canonicalize | FileCheck %s

module attributes {dispatch.machine = #dispatch.machine<cuda, cores = 2, lanes = 32, shared_bytes = 49152, block_threads = 256, alignment = 256, vector_bytes = 16>} {

// What lies across is copied as it lies to the memory of a workgroup, four
// neighbours at once, and read there for four neighbours of the result.
// CHECK: dispatch.entry @across bindings({{.*}}) workgroups [9, 1, 1]
// CHECK: func.func @across
// CHECK: call @alula_block_wait()
// CHECK: scf.for
// CHECK-COUNT-4: memref.load %{{.*}} : memref<192x192xf32>
// CHECK-COUNT-4: call @alula_tile_put_4_of_17(
// CHECK: call @alula_block_wait()
// CHECK: scf.for
// CHECK-COUNT-4: call @alula_tile_get_4_of_17(
// CHECK-NOT: memref.load
// CHECK-COUNT-4: memref.store
// CHECK-NOT: memref.store
dispatch.executable @across {
  dispatch.entry @across bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @across(%x: memref<f32>, %y: memref<f32>) attributes {kernel.bindings = 2 : i64} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c192 = arith.constant 192 : index
      %in = memref.reinterpret_cast %x to offset: [0], sizes: [192, 192], strides: [192, 1] : memref<f32> to memref<192x192xf32>
      %out = memref.reinterpret_cast %y to offset: [0], sizes: [192, 192], strides: [192, 1] : memref<f32> to memref<192x192xf32>
      scf.parallel (%i, %j) = (%c0, %c0) to (%c192, %c192) step (%c1, %c1) {
        %v = memref.load %in[%j, %i] : memref<192x192xf32>
        memref.store %v, %out[%i, %j] : memref<192x192xf32>
      }
      return
    }
  }
}

// Not what the loop writes itself, what all neighbours share, or what is not
// worth a tile.
// CHECK: func.func @stays
// CHECK-NOT: alula_tile
// CHECK-NOT: alula_block_wait
dispatch.executable @stays {
  dispatch.entry @stays bindings([#dispatch<access read>, #dispatch<access read_write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @stays(%x: memref<f32>, %y: memref<f32>) attributes {kernel.bindings = 2 : i64} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %c192 = arith.constant 192 : index
      %line = memref.reinterpret_cast %x to offset: [0], sizes: [192], strides: [1] : memref<f32> to memref<192xf32>
      %low = memref.reinterpret_cast %x to offset: [0], sizes: [8, 192], strides: [192, 1] : memref<f32> to memref<8x192xf32>
      %all = memref.reinterpret_cast %y to offset: [0], sizes: [192, 192], strides: [192, 1] : memref<f32> to memref<192x192xf32>
      %thin = memref.reinterpret_cast %y to offset: [0], sizes: [192, 8], strides: [8, 1] : memref<f32> to memref<192x8xf32>
      scf.parallel (%i, %j) = (%c0, %c0) to (%c192, %c192) step (%c1, %c1) {
        %v = memref.load %line[%i] : memref<192xf32>
        %w = memref.load %all[%j, %i] : memref<192x192xf32>
        %s = arith.addf %v, %w : f32
        memref.store %s, %all[%i, %j] : memref<192x192xf32>
      }
      scf.parallel (%i, %j) = (%c0, %c0) to (%c192, %c8) step (%c1, %c1) {
        %v = memref.load %low[%j, %i] : memref<8x192xf32>
        memref.store %v, %thin[%i, %j] : memref<192x8xf32>
      }
      return
    }
  }
}
}

// RUN: alula-opt %s -kernel-form-launches -canonicalize | FileCheck %s

module attributes {dispatch.machine = #dispatch.machine<cuda, lanes = 32, block_threads = 256, alignment = 256>} {

// A loop of warps: each iteration is done by one, whose lanes share the loops
// inside. Eight warps are a workgroup.
// CHECK: dispatch.entry @rows bindings([#dispatch<access write>]) workgroups [3, 1, 1]
// CHECK: func.func @rows
// CHECK-DAG: %[[thread:.*]] = call @alula_grid_thread()
// CHECK-DAG: %[[threads:.*]] = call @alula_grid_threads()
// CHECK-DAG: %[[number:.*]] = arith.divui %[[thread]], %c32
// CHECK-DAG: %[[count:.*]] = arith.divui %[[threads]], %c32
// CHECK-DAG: %[[lane:.*]] = arith.remui %[[thread]], %c32
// CHECK: scf.for %[[row:.*]] = %[[number]] to %c20 step %[[count]]
// CHECK: scf.for %[[number:.*]] = %c0 to %c2 step %c1
// CHECK: %[[group:.*]] = arith.muli %[[number]], %c32
// CHECK: arith.addi %[[group]], %[[lane]]
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[row]], %{{.*}}]
dispatch.executable @rows {
  dispatch.entry @rows bindings([#dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @rows(%y: memref<f32>) attributes {kernel.bindings = 1 : i64} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c20 = arith.constant 20 : index
      %c64 = arith.constant 64 : index
      %one = arith.constant 1.0 : f32
      %out = memref.reinterpret_cast %y to offset: [0], sizes: [20, 64], strides: [64, 1] : memref<f32> to memref<20x64xf32>
      scf.parallel (%i) = (%c0) to (%c20) step (%c1) {
        scf.parallel (%j) = (%c0) to (%c64) step (%c1) {
          memref.store %one, %out[%i, %j] : memref<20x64xf32>
        }
      } {kernel.for_warps}
      return
    }
  }
}

// In control flow, the warps of the one workgroup share it.
// CHECK: dispatch.entry @steps bindings([#dispatch<access write>]) workgroups [1, 1, 1]
// CHECK: func.func @steps
// CHECK: %[[thread:.*]] = call @alula_block_thread()
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c1
// CHECK: call @alula_block_wait()
// CHECK: %[[warp:.*]] = arith.divui %[[thread]], %c32
// CHECK: scf.for %{{.*}} = %[[warp]] to %c20
// CHECK: call @alula_block_wait()
dispatch.executable @steps {
  dispatch.entry @steps bindings([#dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @steps(%y: memref<f32>) attributes {kernel.bindings = 1 : i64} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c20 = arith.constant 20 : index
      %c64 = arith.constant 64 : index
      %one = arith.constant 1.0 : f32
      %out = memref.reinterpret_cast %y to offset: [0], sizes: [20, 64], strides: [64, 1] : memref<f32> to memref<20x64xf32>
      scf.for %k = %c0 to %c64 step %c1 {
        scf.parallel (%i) = (%c0) to (%c20) step (%c1) {
          scf.parallel (%j) = (%c0) to (%c64) step (%c1) {
            memref.store %one, %out[%i, %j] : memref<20x64xf32>
          }
        } {kernel.for_warps}
      }
      return
    }
  }
}
}

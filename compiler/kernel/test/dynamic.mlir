// RUN: alula-opt %s '--pass-pipeline=builtin.module(dispatch.executable(kernel-convert-stablehlo-to-loops,canonicalize,cse))' | FileCheck %s

// After the bindings come the sizes of inputs, of results, then numbers.
// CHECK: func.func @broadcast(%[[A:.*]]: memref<f32>, %[[R:.*]]: memref<f32>, %[[N:.*]]: index, %[[R0:.*]]: index, %[[R1:.*]]: index, %[[M:.*]]: index)
// CHECK-SAME: kernel.bindings = 2 : i64, kernel.constants = 4 : i64
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : index
// CHECK-DAG: memref.reinterpret_cast %[[A]] to offset: [0], sizes: [%[[N]]]
// CHECK-DAG: memref.reinterpret_cast %[[R]] to offset: [0], sizes: [%[[R0]], %[[R1]]], strides: [%[[R1]], 1]
// A dimension of size 1 is repeated.
// CHECK-DAG: arith.cmpi eq, %[[N]], %[[ONE]]
dispatch.executable @e {
  dispatch.entry @broadcast bindings([#dispatch<access read>, #dispatch<access write>]) constants 4 workgroups [1, 1, 1] scratch 0
  dispatch.entry @slice bindings([#dispatch<access read>, #dispatch<access write>]) constants 4 workgroups [1, 1, 1] scratch 0
  dispatch.entry @data bindings([#dispatch<access write>]) constants 2 workgroups [1, 1, 1] scratch 0
  dispatch.entry @update bindings([#dispatch<access read_write>, #dispatch<access read>]) constants 0 workgroups [1, 1, 1] scratch 0
  dispatch.entry @resized bindings([#dispatch<access read>, #dispatch<access write>]) constants 3 workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @broadcast(%a: tensor<?xf32>, %m: index) -> tensor<?x?xf32> {
      %two = arith.constant 2 : index
      %l = dispatch.pack %m, %two : tensor<2xi32>
      %0 = stablehlo.dynamic_broadcast_in_dim %a, %l, dims = [1] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
      return %0 : tensor<?x?xf32>
    }

    // Edges of a slice are numbers.
    // CHECK: func.func @slice(%{{.*}}: memref<f32>, %{{.*}}: memref<f32>, %{{.*}}: index, %{{.*}}: index, %[[START:.*]]: index, %[[STRIDE:.*]]: index)
    // CHECK: scf.parallel (%[[I:.*]]) =
    // CHECK: %[[S:.*]] = arith.muli %[[I]], %[[STRIDE]]
    // CHECK: arith.addi %[[START]], %[[S]]
    func.func @slice(%a: tensor<?xf32>, %start: index, %stride: index) -> tensor<?xf32> {
      %s = dispatch.pack %start : tensor<1xi64>
      %d = dispatch.pack %stride : tensor<1xi64>
      %0 = stablehlo.real_dynamic_slice %a, %s, %s, %d : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
      return %0 : tensor<?xf32>
    }

    // Numbers as data.
    // CHECK: func.func @data(%[[R:.*]]: memref<i32>, %[[N:.*]]: index, %[[M:.*]]: index)
    // CHECK: scf.parallel (%[[I:.*]]) =
    // CHECK: %[[IS:.*]] = arith.cmpi eq, %[[I]],
    // CHECK: %[[V:.*]] = arith.select %[[IS]], %[[M]], %[[N]] : index
    // CHECK: arith.index_cast %[[V]] : index to i32
    func.func @data(%n: index, %m: index) -> tensor<2xi32> {
      %0 = dispatch.pack %n, %m : tensor<2xi32>
      return %0 : tensor<2xi32>
    }

    // A result in place has no memory of its own, and only the part is written.
    // CHECK: func.func @update(%[[A:.*]]: memref<f32>, %[[U:.*]]: memref<f32>)
    // CHECK-SAME: kernel.bindings = 2 : i64
    // CHECK: %[[OLD:.*]] = memref.reinterpret_cast %[[A]] {{.*}} to memref<100xf32>
    // CHECK: scf.parallel (%{{.*}}) = (%{{.*}}) to (%c3)
    // CHECK: memref.store %{{.*}}, %[[OLD]]
    // CHECK-NOT: memref.store
    // CHECK: return
    func.func @update(%a: tensor<100xf32>, %u: tensor<3xf32>) -> tensor<100xf32> attributes {dispatch.in_place = array<i64: 0>} {
      %i = stablehlo.constant dense<5> : tensor<i32>
      %0 = stablehlo.dynamic_update_slice %a, %u, %i : (tensor<100xf32>, tensor<3xf32>, tensor<i32>) -> tensor<100xf32>
      return %0 : tensor<100xf32>
    }

    // CHECK: func.func @resized(%{{.*}}: memref<f32>, %{{.*}}: memref<f32>, %{{.*}}: index, %[[R:.*]]: index, %{{.*}}: index)
    // CHECK: scf.parallel (%[[I:.*]]) = (%{{.*}}) to (%[[R]])
    // CHECK: memref.load %{{.*}}[%[[I]]]
    func.func @resized(%a: tensor<?xf32>, %n: index) -> tensor<?xf32> {
      %s = dispatch.pack %n : tensor<i32>
      %0 = stablehlo.set_dimension_size %a, %s, dim = 0 : (tensor<?xf32>, tensor<i32>) -> tensor<?xf32>
      return %0 : tensor<?xf32>
    }
  }
}

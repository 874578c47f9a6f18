// RUN: alula-opt --kernel-hoist-constants %s | FileCheck %s

// Data that is a resource becomes an input of each launch, behind the others and
// before results; numbers of inputs that results are computed in stay.
// CHECK-LABEL: func.func @main
// CHECK: %[[PLAN:.*]] = stablehlo.constant dense_resource<plan> : tensor<8xi8>
// CHECK: dispatch.launch @k::@k(%{{.*}}, %{{.*}}, %[[PLAN]]) in_place [1]
// CHECK-SAME: (tensor<4xf32>, tensor<4xf32>, tensor<8xi8>) -> tensor<4xf32>
// CHECK: %[[AGAIN:.*]] = stablehlo.constant dense_resource<plan> : tensor<8xi8>
// CHECK: dispatch.launch @k::@k(%{{.*}}, %{{.*}}, %[[AGAIN]]) in_place [1]
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = dispatch.launch @k::@k(%x, %y) in_place [1] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = dispatch.launch @k::@k(%x, %0) in_place [1] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: dispatch.executable @k
// CHECK: bindings([#dispatch<access read>, #dispatch<access read_write>, #dispatch<access read>])
// CHECK-NOT: dense_resource
// CHECK: memref.global "private" constant @few
// CHECK: func.func @k(%{{.*}}: memref<f32>, %{{.*}}: memref<f32>, %[[BYTES:.*]]: memref<i8>) attributes {kernel.bindings = 3
// CHECK: memref.reinterpret_cast %[[BYTES]] to offset: [0], sizes: [8], strides: [1]
// CHECK: memref.get_global @few
// CHECK: memref.reinterpret_cast %[[BYTES]]
dispatch.executable @k {
  dispatch.entry @k bindings([#dispatch<access read>, #dispatch<access read_write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    memref.global "private" constant @plan : memref<8xi8> = dense_resource<plan>
    memref.global "private" constant @few : memref<2xi8> = dense<[1, 2]>
    func.func private @read(memref<8xi8>, memref<2xi8>, memref<8xi8>)
    func.func @k(%x: memref<f32>, %y: memref<f32>) attributes {kernel.bindings = 2 : i64, kernel.constants = 0 : i64} {
      %plan = memref.get_global @plan : memref<8xi8>
      %few = memref.get_global @few : memref<2xi8>
      %again = memref.get_global @plan : memref<8xi8>
      call @read(%plan, %few, %again) : (memref<8xi8>, memref<2xi8>, memref<8xi8>) -> ()
      return
    }
  }
}

// A grid that somebody has chosen keeps what it is launched with.
// CHECK-LABEL: dispatch.executable @pinned
// CHECK: memref.global "private" constant @plan
// CHECK: memref.get_global @plan
func.func @of_pinned() -> tensor<4xf32> {
  %0 = dispatch.launch @pinned::@k() : () -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
dispatch.executable @pinned {
  dispatch.entry @k bindings([#dispatch<access write>]) workgroups [1, 1, 1] scratch 0 {pinned}
  builtin.module {
    memref.global "private" constant @plan : memref<8xi8> = dense_resource<plan>
    func.func private @read(memref<8xi8>)
    func.func @k(%x: memref<f32>) attributes {kernel.bindings = 1 : i64, kernel.constants = 0 : i64} {
      %plan = memref.get_global @plan : memref<8xi8>
      call @read(%plan) : (memref<8xi8>) -> ()
      return
    }
  }
}

{-#
  dialect_resources: {
    builtin: {
      plan: "0x080000000102030405060708"
    }
  }
#-}

// RUN: alula-opt %s | alula-opt | FileCheck %s

// CHECK: dispatch.entry @grow bindings({{.*}}) constants 2 workgroups [1, 1, 1] scratch 0
dispatch.executable @kernels {
  dispatch.entry @grow bindings([#dispatch<access read>, #dispatch<access write>]) constants 2 workgroups [1, 1, 1] scratch 0
  dispatch.entry @update bindings([#dispatch<access read_write>, #dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 64
  builtin.module {}
}

// Sizes of the call, a grid of the call, sizes of the result.
// CHECK-LABEL: func.func @dynamic
// CHECK: dispatch.launch @kernels::@grow(%arg0) [%arg1, %arg2] workgroups(%arg1, %arg2, %arg2) result_dims(%arg1) : (tensor<?xf32>) -> tensor<?xf32>
func.func @dynamic(%x: tensor<?xf32>, %n: index, %m: index) -> tensor<?xf32> {
  %0 = dispatch.launch @kernels::@grow(%x)[%n, %m] workgroups(%n, %m, %m) result_dims(%n) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// One binding is read and written.
// CHECK-LABEL: func.func @in_place
// CHECK: dispatch.launch @kernels::@update(%arg0, %arg1) in_place [0, -1] : (tensor<4xf32>, tensor<i32>) -> (tensor<4xf32>, tensor<i32>)
func.func @in_place(%x: tensor<4xf32>, %i: tensor<i32>) -> (tensor<4xf32>, tensor<i32>) {
  %0:2 = dispatch.launch @kernels::@update(%x, %i) in_place [0, -1] : (tensor<4xf32>, tensor<i32>) -> (tensor<4xf32>, tensor<i32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<i32>
}

// CHECK-LABEL: func.func @view
// CHECK: dispatch.view %arg0 result_dims(%arg1) : tensor<2x?xf32> -> tensor<?xi32>
func.func @view(%x: tensor<2x?xf32>, %n: index) -> tensor<?xi32> {
  %0 = dispatch.view %x result_dims(%n) : tensor<2x?xf32> -> tensor<?xi32>
  return %0 : tensor<?xi32>
}

// CHECK-LABEL: func.func @numbers
// CHECK: dispatch.assert %arg1, "size is {0}"(%arg0)
// CHECK: dispatch.assert %arg1, "no"{{$}}
// CHECK: dispatch.pack %arg0, %arg0 : tensor<2xi32>
func.func @numbers(%n: index, %p: i1) -> tensor<2xi32> {
  dispatch.assert %p, "size is {0}"(%n)
  dispatch.assert %p, "no"
  %0 = dispatch.pack %n, %n : tensor<2xi32>
  return %0 : tensor<2xi32>
}

// CHECK-LABEL: func.func @panels
// CHECK: dispatch.from_panels %arg0 rows = [1] columns = [0, 2] : tensor<2x5x32xf32> -> tensor<3x5x16xf32>
func.func @panels(%p: tensor<2x5x32xf32>) -> tensor<3x5x16xf32> {
  %0 = dispatch.from_panels %p rows = [1] columns = [0, 2] : tensor<2x5x32xf32> -> tensor<3x5x16xf32>
  return %0 : tensor<3x5x16xf32>
}

// Groups of four rows of bytes, of the other sign.
// CHECK-LABEL: func.func @groups
// CHECK: dispatch.from_panels %arg0 rows = [0] columns = [1] : tensor<2x2x32x4xui8> -> tensor<5x40xi8>
func.func @groups(%p: tensor<2x2x32x4xui8>) -> tensor<5x40xi8> {
  %0 = dispatch.from_panels %p rows = [0] columns = [1] : tensor<2x2x32x4xui8> -> tensor<5x40xi8>
  return %0 : tensor<5x40xi8>
}

// Code from elsewhere, and no body.
// CHECK: dispatch.executable @external attributes {objects = [#dispatch.object<target = "cpu:x86_64", path = "a.o", entry = "f", tool = "cc", sha256 = "00", data = "\7FELF">, #dispatch.object<path = "b.o">]}
dispatch.executable @external attributes {objects = [#dispatch.object<target = "cpu:x86_64", path = "a.o", entry = "f", tool = "cc", sha256 = "00", data = "\7FELF">, #dispatch.object<path = "b.o">]} {
  dispatch.entry @outside bindings([#dispatch<access write>]) workgroups [1, 1, 1] scratch 0
}

// CHECK: dispatch.has_import @"?fast" : tensor<i1>
dispatch.executable @optional {
  dispatch.entry @maybe bindings([#dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func private @"?fast"() attributes {dispatch.import = "dynamic"}
    func.func @maybe() -> tensor<i1> {
      %0 = dispatch.has_import @"?fast" : tensor<i1>
      return %0 : tensor<i1>
    }
  }
}

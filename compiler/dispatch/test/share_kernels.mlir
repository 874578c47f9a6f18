// RUN: alula-opt %s --split-input-file --dispatch-form-kernels --dispatch-share-kernels | FileCheck %s

// Products are too large to be one kernel; both are one and the same.

// CHECK-LABEL: func.func @layers
// CHECK: %[[h:.*]] = dispatch.launch @layers_0::@layers_0(%arg0, %arg1)
// CHECK: dispatch.launch @layers_0::@layers_0(%[[h]], %arg2)
// CHECK: dispatch.executable {{.*}}@layers_0
// CHECK-NOT: dispatch.executable
func.func @layers(%x: tensor<256x256xf32>, %w: tensor<256x256xf32>, %v: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %0 = stablehlo.dot %x, %w : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %1 = stablehlo.tanh %0 : tensor<256x256xf32>
  %2 = stablehlo.dot %1, %v : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %3 = stablehlo.tanh %2 : tensor<256x256xf32>
  return %3 : tensor<256x256xf32>
}

// -----

// Functions of a program share theirs.

// CHECK-LABEL: func.func @first
// CHECK: dispatch.launch @first_0::@first_0(
// CHECK-LABEL: func.func @second
// CHECK: dispatch.launch @first_0::@first_0(
// CHECK: dispatch.executable {{.*}}@first_0
// CHECK-NOT: dispatch.executable
func.func @first(%x: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = stablehlo.sine %x : tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}
func.func @second(%x: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = stablehlo.sine %x : tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}

// -----

// Many that differ in a number are given it.

// CHECK-LABEL: func.func @many_rates
// CHECK: %[[N0:.*]] = stablehlo.constant dense<1.500000e+00> : tensor<f32>
// CHECK: %[[L0:.*]] = dispatch.launch @[[K:many_rates.*]]::@[[K]](%arg0, %arg1, %[[N0]])
// CHECK: %[[N1:.*]] = stablehlo.constant dense<2.500000e+00> : tensor<f32>
// CHECK: %[[L1:.*]] = dispatch.launch @[[K]]::@[[K]](%[[L0]], %arg1, %[[N1]])
// CHECK: %[[L2:.*]] = dispatch.launch @[[K]]::@[[K]](%[[L1]], %arg1, %{{.*}})
// CHECK: %[[L3:.*]] = dispatch.launch @[[K]]::@[[K]](%[[L2]], %arg1, %{{.*}})
// CHECK: %[[N4:.*]] = stablehlo.constant dense<1.500000e+00> : tensor<f32>
// CHECK: dispatch.launch @[[K]]::@[[K]](%[[L3]], %arg1, %[[N4]])
// CHECK: dispatch.executable {{.*}}@[[K]]
// CHECK: bindings([#dispatch<access read>, #dispatch<access read>, #dispatch<access read>, #dispatch<access write>])
// CHECK: func.func @[[K]](%arg0: tensor<256x256xf32>, %arg1: tensor<256x256xf32>, %[[N:.*]]: tensor<f32>)
// CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim %[[N]], dims = []
// CHECK: stablehlo.multiply %{{.*}}, %[[B]]
// CHECK-NOT: dispatch.executable
func.func @many_rates(%x: tensor<256x256xf32>, %w: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %c0 = stablehlo.constant dense<1.5> : tensor<256x256xf32>
  %p0 = stablehlo.dot %x, %w : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %m0 = stablehlo.multiply %p0, %c0 : tensor<256x256xf32>
  %c1 = stablehlo.constant dense<2.5> : tensor<256x256xf32>
  %p1 = stablehlo.dot %m0, %w : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %m1 = stablehlo.multiply %p1, %c1 : tensor<256x256xf32>
  %c2 = stablehlo.constant dense<3.5> : tensor<256x256xf32>
  %p2 = stablehlo.dot %m1, %w : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %m2 = stablehlo.multiply %p2, %c2 : tensor<256x256xf32>
  %c3 = stablehlo.constant dense<4.5> : tensor<256x256xf32>
  %p3 = stablehlo.dot %m2, %w : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %m3 = stablehlo.multiply %p3, %c3 : tensor<256x256xf32>
  %c4 = stablehlo.constant dense<1.5> : tensor<256x256xf32>
  %p4 = stablehlo.dot %m3, %w : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %m4 = stablehlo.multiply %p4, %c4 : tensor<256x256xf32>
  return %m4 : tensor<256x256xf32>
}

// -----

// Few keep it: two of these are equal.

// CHECK-LABEL: func.func @few_rates
// CHECK-COUNT-3: dispatch.executable
// CHECK-NOT: dispatch.executable
func.func @few_rates(%x: tensor<256x256xf32>, %w: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %c0 = stablehlo.constant dense<1.5> : tensor<256x256xf32>
  %p0 = stablehlo.dot %x, %w : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %m0 = stablehlo.multiply %p0, %c0 : tensor<256x256xf32>
  %c1 = stablehlo.constant dense<2.5> : tensor<256x256xf32>
  %p1 = stablehlo.dot %m0, %w : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %m1 = stablehlo.multiply %p1, %c1 : tensor<256x256xf32>
  %c2 = stablehlo.constant dense<3.5> : tensor<256x256xf32>
  %p2 = stablehlo.dot %m1, %w : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %m2 = stablehlo.multiply %p2, %c2 : tensor<256x256xf32>
  %c3 = stablehlo.constant dense<2.5> : tensor<256x256xf32>
  %p3 = stablehlo.dot %m2, %w : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %m3 = stablehlo.multiply %p3, %c3 : tensor<256x256xf32>
  return %m3 : tensor<256x256xf32>
}

// -----

// A division of integers is faster by a number that is known.

// CHECK-LABEL: func.func @integers
// CHECK-COUNT-4: dispatch.executable
// CHECK-NOT: dispatch.executable
func.func @integers(%x: tensor<256x256xi32>, %w: tensor<256x256xi32>) -> tensor<256x256xi32> {
  %c0 = stablehlo.constant dense<3> : tensor<256x256xi32>
  %p0 = stablehlo.dot %x, %w : (tensor<256x256xi32>, tensor<256x256xi32>) -> tensor<256x256xi32>
  %m0 = stablehlo.divide %p0, %c0 : tensor<256x256xi32>
  %c1 = stablehlo.constant dense<5> : tensor<256x256xi32>
  %p1 = stablehlo.dot %m0, %w : (tensor<256x256xi32>, tensor<256x256xi32>) -> tensor<256x256xi32>
  %m1 = stablehlo.divide %p1, %c1 : tensor<256x256xi32>
  %c2 = stablehlo.constant dense<6> : tensor<256x256xi32>
  %p2 = stablehlo.dot %m1, %w : (tensor<256x256xi32>, tensor<256x256xi32>) -> tensor<256x256xi32>
  %m2 = stablehlo.divide %p2, %c2 : tensor<256x256xi32>
  %c3 = stablehlo.constant dense<7> : tensor<256x256xi32>
  %p3 = stablehlo.dot %m2, %w : (tensor<256x256xi32>, tensor<256x256xi32>) -> tensor<256x256xi32>
  %m3 = stablehlo.divide %p3, %c3 : tensor<256x256xi32>
  return %m3 : tensor<256x256xi32>
}

// -----

// One is computed in place, the others are not. What others may ask for stays.

// CHECK-LABEL: func.func @places
// CHECK: dispatch.launch @a::@a(
// CHECK: dispatch.launch @b::@b({{.*}}) in_place [0]
// CHECK: dispatch.launch @a::@a(
// CHECK: dispatch.launch @d::@d(
func.func @places(%x: tensor<9xf32>) -> tensor<9xf32> {
  %0 = dispatch.launch @a::@a(%x) : (tensor<9xf32>) -> tensor<9xf32>
  %1 = dispatch.launch @b::@b(%0) in_place [0] : (tensor<9xf32>) -> tensor<9xf32>
  %2 = dispatch.launch @c::@c(%1) : (tensor<9xf32>) -> tensor<9xf32>
  %3 = dispatch.launch @d::@d(%2) : (tensor<9xf32>) -> tensor<9xf32>
  return %3 : tensor<9xf32>
}
dispatch.executable @a attributes {sym_visibility = "private"} {
  dispatch.entry @a bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @a(%x: tensor<9xf32>) -> tensor<9xf32> {
      %0 = stablehlo.negate %x : tensor<9xf32>
      return %0 : tensor<9xf32>
    }
  }
}
dispatch.executable @b attributes {sym_visibility = "private"} {
  dispatch.entry @b bindings([#dispatch<access read_write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @b(%x: tensor<9xf32>) -> tensor<9xf32> attributes {dispatch.in_place = array<i64: 0>} {
      %0 = stablehlo.negate %x : tensor<9xf32>
      return %0 : tensor<9xf32>
    }
  }
}
dispatch.executable @c attributes {sym_visibility = "private"} {
  dispatch.entry @c bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @c(%x: tensor<9xf32>) -> tensor<9xf32> {
      %0 = stablehlo.negate %x : tensor<9xf32>
      return %0 : tensor<9xf32>
    }
  }
}
dispatch.executable @d {
  dispatch.entry @d bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [1, 1, 1] scratch 0
  builtin.module {
    func.func @d(%x: tensor<9xf32>) -> tensor<9xf32> {
      %0 = stablehlo.negate %x : tensor<9xf32>
      return %0 : tensor<9xf32>
    }
  }
}

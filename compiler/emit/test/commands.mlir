// RUN: alula-compile --target=cpu:host %s --compile-from=kernel --compile-to=schedule -o %t.mlir
// RUN: alula-compile --target=cpu:host %t.mlir --compile-from=target --override-recorded -o %t.alula
// RUN: alula-inspect %t.alula | FileCheck %s

dispatch.executable @e {
  dispatch.entry @step bindings([#dispatch<access read>, #dispatch<access write>]) workgroups [2, 1, 1] scratch 64
  dispatch.entry @grow bindings([#dispatch<access read>, #dispatch<access write>]) constants 1 workgroups [1, 1, 1] scratch 0
  builtin.module {}
}
// CHECK: kernel 0 @step: 2 bindings, 0 constants, 64 scratch bytes
// CHECK: kernel 1 @grow: 2 bindings, 1 constants, 0 scratch bytes

// Callees stand before their callers; bounds are ranges; tokens have no bytes.
// CHECK: {{^}}function @callee("": ?xf32) -> ("": ?xf32)
// CHECK: r0 = argument_dim 0, 0
// CHECK: bind_result 0, r0
// CHECK: dispatch @grow grid(1, 1, 1) bindings(read %{{.}}, write %{{.}}) constants(r0)
// CHECK: exported function @caller("": ?xf32
// CHECK: call @callee
func.func @caller(%a: tensor<?xf32, #stablehlo.bounds<8>>, %t: !stablehlo.token) -> (tensor<?xf32>, !stablehlo.token) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32, #stablehlo.bounds<8>>
  %0 = dispatch.view %a result_dims(%n) : tensor<?xf32, #stablehlo.bounds<8>> -> tensor<?xf32>
  %1 = func.call @callee(%0) : (tensor<?xf32>) -> tensor<?xf32>
  return %1, %t : tensor<?xf32>, !stablehlo.token
}

func.func private @callee(%a: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %0 = dispatch.launch @e::@grow(%a)[%n] result_dims(%n) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK: exported function @loop
// CHECK: while ^1, r{{[0-9]+}}, ^2
// CHECK: ^1:
// CHECK: r[[F:[0-9]+]] = load i1, %{{[0-9]+}}, 0
// CHECK: ^2:
// CHECK: dispatch @grow grid(r[[K:[0-9]+]], 2, 2)
// CHECK: swap
// CHECK: free
// CHECK: r[[K]] = move
func.func @loop(%a: tensor<?xf32>, %p: tensor<i1>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %two = arith.constant 2 : index
  %r = stablehlo.while(%x = %a) : tensor<?xf32>
  cond {
    stablehlo.return %p : tensor<i1>
  } do {
    %k = tensor.dim %x, %c0 : tensor<?xf32>
    %k2 = arith.muli %k, %two : index
    %y = dispatch.launch @e::@grow(%x)[%k2] workgroups(%k, %two, %two) result_dims(%k2) : (tensor<?xf32>) -> tensor<?xf32>
    stablehlo.return %y : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// CHECK: exported function @case
// CHECK: case r{{[0-9]+}}, ^1, ^2
// CHECK: assert r{{[0-9]+}}, "the index is small"
func.func @case(%i: tensor<i32>, %a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %n = tensor.extract %i[] : tensor<i32>
  %three = arith.constant 3 : i32
  %small = arith.cmpi slt, %n, %three : i32
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %a : tensor<4xf32>
  }, {
    stablehlo.return %b : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  cf.assert %small, "the index is small"
  return %0 : tensor<4xf32>
}

// CHECK: exported function @donated("": 4xf32) -> ("": 4xf32 in argument 0)
func.func @donated(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

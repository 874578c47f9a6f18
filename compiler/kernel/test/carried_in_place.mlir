// RUN: alula-compile --target=cpu:host %s --compile-to=kernel -o - | FileCheck %s
// RUN: alula-compile --target=cpu:host %s -o %t.alula
// RUN: alula-run %t.alula --function=elementwise --input=4xf32=1,2,3,4 --input=4xf32=0,1,0,1 --expected_output=4xf32=3,9,9,15 --expected_output=4xf32=6,18,18,30
// RUN: alula-run %t.alula --function=fibonacci --input=2xi32=0,1 --input=2xi32=1,1 --expected_output=2xi32=5,8 --expected_output=2xi32=8,13
// RUN: alula-run %t.alula --function=turned --input=2x2xi32=1,2,3,4 --input=4xi32=0,0,0,0 --expected_output=2x2xi32=6,14,16,24 --expected_output=4xi32=4,8,12,16

// What reads old values at its own place only is written there, in one loop.
// CHECK-LABEL: func.func @elementwise_0(
// CHECK: scf.while
// CHECK: scf.parallel
// CHECK-COUNT-2: memref.store
// CHECK-NOT: scf.parallel
// CHECK: return
module {
func.func @elementwise(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %r:3 = stablehlo.while(%i = %zero, %x = %a, %y = %b) : tensor<i32>, tensor<4xf32>, tensor<4xf32>
    cond {
      %p = stablehlo.compare NE, %i, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.add %i, %one : tensor<i32>
      %u = stablehlo.add %x, %y : tensor<4xf32>
      %v = stablehlo.add %u, %u : tensor<4xf32>
      stablehlo.return %j, %u, %v : tensor<i32>, tensor<4xf32>, tensor<4xf32>
    }
  return %r#1, %r#2 : tensor<4xf32>, tensor<4xf32>
}

// An old value that is passed on is saved before it is overwritten.
func.func @fibonacci(%a: tensor<2xi32>, %b: tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %five = stablehlo.constant dense<5> : tensor<i32>
  %r:3 = stablehlo.while(%i = %zero, %x = %a, %y = %b) : tensor<i32>, tensor<2xi32>, tensor<2xi32>
    cond {
      %p = stablehlo.compare NE, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.add %i, %one : tensor<i32>
      %z = stablehlo.add %x, %y : tensor<2xi32>
      stablehlo.return %j, %y, %z : tensor<i32>, tensor<2xi32>, tensor<2xi32>
    }
  return %r#1, %r#2 : tensor<2xi32>, tensor<2xi32>
}

// Does not fire: other elements are read, in another order or shape.
func.func @turned(%a: tensor<2x2xi32>, %b: tensor<4xi32>) -> (tensor<2x2xi32>, tensor<4xi32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %r:3 = stablehlo.while(%i = %zero, %x = %a, %y = %b) : tensor<i32>, tensor<2x2xi32>, tensor<4xi32>
    cond {
      %p = stablehlo.compare NE, %i, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.add %i, %one : tensor<i32>
      %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x2xi32>) -> tensor<2x2xi32>
      %s = stablehlo.reshape %y : (tensor<4xi32>) -> tensor<2x2xi32>
      %d = stablehlo.add %t, %t : tensor<2x2xi32>
      %e = stablehlo.add %d, %s : tensor<2x2xi32>
      %f = stablehlo.reshape %d : (tensor<2x2xi32>) -> tensor<4xi32>
      stablehlo.return %j, %e, %f : tensor<i32>, tensor<2x2xi32>, tensor<4xi32>
    }
  return %r#1, %r#2 : tensor<2x2xi32>, tensor<4xi32>
}
}

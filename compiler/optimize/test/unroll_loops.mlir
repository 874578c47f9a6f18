// RUN: alula-opt %s -split-input-file -optimize-unroll-loops | FileCheck %s

// 1, 3 and 5 are below 6.
// CHECK-LABEL: func.func @three
// CHECK-NOT: while
// CHECK: %[[A:.*]] = stablehlo.sine %arg0
// CHECK: %[[B:.*]] = stablehlo.sine %[[A]]
// CHECK: %[[C:.*]] = stablehlo.sine %[[B]]
// CHECK-NOT: stablehlo.sine
// CHECK: return %[[B]], %[[C]]
func.func @three(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %six = stablehlo.constant dense<6> : tensor<i32>
  // What was there before comes out behind.
  %0:3 = stablehlo.while(%i = %one, %was = %x, %v = %x) : tensor<i32>, tensor<4xf32>, tensor<4xf32>
    cond {
      %c = stablehlo.compare LT, %i, %six : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %y = stablehlo.sine %v : tensor<4xf32>
      %j = stablehlo.add %two, %i : tensor<i32>
      stablehlo.return %j, %v, %y : tensor<i32>, tensor<4xf32>, tensor<4xf32>
    }
  return %0#1, %0#2 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A loop that never runs gives what it was given; one round is no loop,
// whatever it does.
// CHECK-LABEL: func.func @few
// CHECK-NOT: while
// CHECK: %[[D:.*]] = stablehlo.dot_general %arg0, %arg0
// CHECK: return %arg0, %[[D]]
func.func @few(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<ui8>
  %one = stablehlo.constant dense<1> : tensor<ui8>
  %0:2 = stablehlo.while(%i = %one, %v = %x) : tensor<ui8>, tensor<2x2xf32>
    cond {
      %c = stablehlo.compare LT, %i, %one : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %y = stablehlo.sine %v : tensor<2x2xf32>
      %j = stablehlo.add %i, %one : tensor<ui8>
      stablehlo.return %j, %y : tensor<ui8>, tensor<2x2xf32>
    }
  %1:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<ui8>, tensor<2x2xf32>
    cond {
      %c = stablehlo.compare LT, %i, %one : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %y = stablehlo.dot_general %v, %v, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
      %j = stablehlo.add %i, %one : tensor<ui8>
      stablehlo.return %j, %y : tensor<ui8>, tensor<2x2xf32>
    }
  return %0#1, %1#1 : tensor<2x2xf32>, tensor<2x2xf32>
}

// -----

// Many rounds, rounds that do much, and those whose number is not known, or
// whose counter wraps around, stay.
// CHECK-LABEL: func.func @stay
// CHECK-COUNT-4: stablehlo.while
func.func @stay(%x: tensor<2x2xf32>, %n: tensor<i8>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i8>
  %one = stablehlo.constant dense<1> : tensor<i8>
  %three = stablehlo.constant dense<3> : tensor<i8>
  %nine = stablehlo.constant dense<9> : tensor<i8>
  %late = stablehlo.constant dense<120> : tensor<i8>
  %last = stablehlo.constant dense<127> : tensor<i8>
  %0:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i8>, tensor<2x2xf32>
    cond {
      %c = stablehlo.compare LT, %i, %nine : (tensor<i8>, tensor<i8>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %y = stablehlo.sine %v : tensor<2x2xf32>
      %j = stablehlo.add %i, %one : tensor<i8>
      stablehlo.return %j, %y : tensor<i8>, tensor<2x2xf32>
    }
  %1:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i8>, tensor<2x2xf32>
    cond {
      %c = stablehlo.compare LT, %i, %three : (tensor<i8>, tensor<i8>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %y = stablehlo.dot_general %v, %v, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
      %j = stablehlo.add %i, %one : tensor<i8>
      stablehlo.return %j, %y : tensor<i8>, tensor<2x2xf32>
    }
  %2:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i8>, tensor<2x2xf32>
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<i8>, tensor<i8>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %y = stablehlo.sine %v : tensor<2x2xf32>
      %j = stablehlo.add %i, %one : tensor<i8>
      stablehlo.return %j, %y : tensor<i8>, tensor<2x2xf32>
    }
  %3:2 = stablehlo.while(%i = %late, %v = %x) : tensor<i8>, tensor<2x2xf32>
    cond {
      %c = stablehlo.compare LT, %i, %last : (tensor<i8>, tensor<i8>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %y = stablehlo.sine %v : tensor<2x2xf32>
      %j = stablehlo.add %i, %three : tensor<i8>
      stablehlo.return %j, %y : tensor<i8>, tensor<2x2xf32>
    }
  return %0#1, %1#1, %2#1, %3#1 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}

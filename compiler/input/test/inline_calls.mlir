// RUN: alula-opt --split-input-file --input-inline-calls --symbol-dce %s | FileCheck %s

// Calls of calls, twice of one function, in a region.

// CHECK-LABEL: func.func @main
// CHECK-NOT: call
// CHECK: stablehlo.sine
// CHECK-NEXT: %[[A:.*]] = stablehlo.tanh
// CHECK-NEXT: %[[W:.*]] = stablehlo.while(%[[I:.*]] = %[[A]])
// CHECK: do
// CHECK-NEXT: stablehlo.sine %[[I]]
// CHECK-NEXT: stablehlo.tanh
// CHECK: return %[[W]]
// CHECK-NOT: func.func
func.func @main(%x: tensor<f32>, %c: tensor<i1>) -> tensor<f32> {
  %0 = call @outer(%x) : (tensor<f32>) -> tensor<f32>
  %1 = stablehlo.while(%i = %0) : tensor<f32> cond {
    stablehlo.return %c : tensor<i1>
  } do {
    %2 = func.call @outer(%i) : (tensor<f32>) -> tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }
  return %1 : tensor<f32>
}
func.func private @outer(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @inner(%x) : (tensor<f32>) -> tensor<f32>
  %1 = stablehlo.tanh %0 : tensor<f32>
  return %1 : tensor<f32>
}
func.func private @inner(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.sine %x : tensor<f32>
  return %0 : tensor<f32>
}

// -----

// Functions that somebody calls from outside, and what a composite names, keep
// what they do.

// CHECK-LABEL: func.func @main
// CHECK-NEXT: composite
// CHECK-LABEL: func.func private @named
// CHECK-NEXT: stablehlo.sine
// CHECK-LABEL: func.func @inner
// CHECK-NEXT: stablehlo.sine
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.composite "a.b" %x {decomposition = @named} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @named(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @inner(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @inner(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.sine %x : tensor<f32>
  return %0 : tensor<f32>
}

// -----

// Functions that call themselves, or have no body, are called.

// CHECK-LABEL: func.func @main
// CHECK-NEXT: call @odd
// CHECK-NEXT: call @outside
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @odd(%x) : (tensor<f32>) -> tensor<f32>
  %1 = call @outside(%0) : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
func.func private @even(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @odd(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @odd(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @even(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @outside(tensor<f32>) -> tensor<f32>

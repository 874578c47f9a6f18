// RUN: alula-opt %s -split-input-file -dispatch-form-kernels | FileCheck %s

// A chain of maps is one kernel.
// CHECK-LABEL: func.func @chain
// CHECK: %[[R:.*]] = dispatch.launch @chain_0::@chain_0(%arg0, %arg1)
// CHECK-NEXT: return %[[R]]
// CHECK: dispatch.executable @chain_0
// CHECK: stablehlo.add
// CHECK: stablehlo.multiply
func.func @chain(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  %1 = stablehlo.multiply %0, %b : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// A product takes its epilogue, and a splat constant is copied into the kernel.
// CHECK-LABEL: func.func @epilogue
// CHECK: dispatch.launch @epilogue_0::@epilogue_0(%arg0, %arg1)
// CHECK-NOT: dispatch.launch
// CHECK: stablehlo.dot_general
// CHECK: stablehlo.constant dense<0.000000e+00>
// CHECK: stablehlo.maximum
func.func @epilogue(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<2x4xf32>
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %1 = stablehlo.maximum %0, %zero : tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// -----

// Does not fire: a value with another reader keeps a kernel of its own.
// CHECK-LABEL: func.func @shared
// CHECK: %[[S:.*]] = dispatch.launch @shared_0::@shared_0(%arg0)
// CHECK: %[[T:.*]] = dispatch.launch @shared_1::@shared_1(%[[S]])
// CHECK: return %[[S]], %[[T]]
func.func @shared(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.negate %a : tensor<4xf32>
  %1 = stablehlo.abs %0 : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Two products never share a kernel.
// CHECK-LABEL: func.func @two
// CHECK-COUNT-2: dispatch.launch
func.func @two(%a: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = stablehlo.dot_general %0, %a, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}

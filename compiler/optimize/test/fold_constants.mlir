// RUN: alula-opt %s -split-input-file -optimize-fold-constants -canonicalize | FileCheck %s

// CHECK-LABEL: func.func @numbers
// CHECK-DAG: %[[A:.*]] = stablehlo.constant dense<[3, 8]> : tensor<2xi32>
// CHECK-DAG: %[[B:.*]] = stablehlo.constant dense<11> : tensor<i32>
// CHECK: return %[[A]], %[[B]]
func.func @numbers() -> (tensor<2xi32>, tensor<i32>) {
  %a = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %b = stablehlo.constant dense<[3, 4]> : tensor<2xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.multiply %a, %b : tensor<2xi32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2xi32>, tensor<i32>) -> tensor<i32>
  return %0, %1 : tensor<2xi32>, tensor<i32>
}

// -----

// A splat is one number, however large the tensor.
// CHECK-LABEL: func.func @splat
// CHECK-NEXT: %[[A:.*]] = stablehlo.constant dense<3.000000e+00> : tensor<1000x1000xf32>
// CHECK-NEXT: return %[[A]]
func.func @splat() -> tensor<1000x1000xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %two = stablehlo.constant dense<2.0> : tensor<1000x1000xf32>
  %0 = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<f32>) -> tensor<1000x1000xf32>
  %1 = stablehlo.add %0, %two : tensor<1000x1000xf32>
  return %1 : tensor<1000x1000xf32>
}

// -----

// CHECK-LABEL: func.func @moved
// CHECK-NEXT: %[[A:.*]] = stablehlo.constant dense<{{\[\[}}1, 3], [2, 4]]> : tensor<2x2xi8>
// CHECK-NEXT: return %[[A]]
func.func @moved() -> tensor<2x2xi8> {
  %a = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi8>
  %0 = stablehlo.reshape %a : (tensor<4xi8>) -> tensor<2x2xi8>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x2xi8>) -> tensor<2x2xi8>
  return %1 : tensor<2x2xi8>
}

// -----

// Functions that keep their name as well.
// CHECK-LABEL: func.func @named
// CHECK-DAG: stablehlo.constant dense<0.276326388> : tensor<2xf32>
// CHECK-DAG: stablehlo.constant dense<[1.000000e+00, 0.15729920705028513]> : tensor<2xf64>
func.func @named() -> (tensor<2xf32>, tensor<2xf64>) {
  %a = stablehlo.constant dense<0.25> : tensor<2xf32>
  %b = stablehlo.constant dense<[0.0, 1.0]> : tensor<2xf64>
  %0 = chlo.erf %a : tensor<2xf32> -> tensor<2xf32>
  %1 = chlo.erfc %b : tensor<2xf64> -> tensor<2xf64>
  return %0, %1 : tensor<2xf32>, tensor<2xf64>
}

// -----

// A product takes a row for each element of its result, not all of its operands.
// CHECK-LABEL: func.func @product
// CHECK-NEXT: stablehlo.constant dense<180> : tensor<30x30xi32>
// CHECK-NEXT: return
func.func @product() -> tensor<30x30xi32> {
  %a = stablehlo.constant dense<2> : tensor<30x30xi32>
  %b = stablehlo.constant dense<3> : tensor<30x30xi32>
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<30x30xi32>, tensor<30x30xi32>) -> tensor<30x30xi32>
  return %0 : tensor<30x30xi32>
}

// -----

// Does not fire: what grows, what takes long, random numbers of the host, and
// what is not all constant.
// CHECK-LABEL: func.func @left
// CHECK: stablehlo.iota
// CHECK: stablehlo.broadcast_in_dim
// CHECK: stablehlo.dot_general
// CHECK: stablehlo.rng
// CHECK: stablehlo.add
func.func @left(%x: tensor<2xi32>) -> (tensor<2048xi32>, tensor<1024x2xi32>, tensor<512x512xi32>, tensor<f32>, tensor<2xi32>) {
  %a = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %f = stablehlo.constant dense<1.0> : tensor<f32>
  %n = stablehlo.constant dense<> : tensor<0xi64>
  %m = stablehlo.constant dense<3> : tensor<512x512xi32>
  %0 = stablehlo.iota dim = 0 : tensor<2048xi32>
  %1 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<2xi32>) -> tensor<1024x2xi32>
  %2 = stablehlo.dot_general %m, %m, contracting_dims = [1] x [0] : (tensor<512x512xi32>, tensor<512x512xi32>) -> tensor<512x512xi32>
  %3 = stablehlo.rng %f, %f, %n, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<0xi64>) -> tensor<f32>
  %4 = stablehlo.add %a, %x : tensor<2xi32>
  return %0, %1, %2, %3, %4 : tensor<2048xi32>, tensor<1024x2xi32>, tensor<512x512xi32>, tensor<f32>, tensor<2xi32>
}

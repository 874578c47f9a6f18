// RUN: alula-opt %s | FileCheck %s
// RUN: alula-opt %s --emit=generic | alula-opt | FileCheck %s

// CHECK-LABEL: @constants
func.func @constants() {
  // CHECK: %c = stablehlo.constant dense<[1, -2]> : tensor<2xi64>
  %0 = stablehlo.constant dense<[1, -2]> : tensor<2xi64>
  // CHECK: %cst = stablehlo.constant {note = 1 : i32} dense<1.000000e+00> : tensor<2xf32>
  %1 = stablehlo.constant {note = 1 : i32} dense<1.0> : tensor<2xf32>
  // CHECK: stablehlo.constant() <{value = dense<[1, 2]> : tensor<2xi8>}> : () -> tensor<2x!quant.uniform<i8:f32, 2.000000e+00:15>>
  %2 = stablehlo.constant() {value = dense<[1, 2]> : tensor<2xi8>} : () -> tensor<2x!quant.uniform<i8:f32, 2.0:15>>
  // CHECK: stablehlo.constant() <{value = dense<3> : tensor<1xi8>}> {note = 1 : i32} : () -> tensor<1x!quant.uniform<i8:f32, 2.000000e+00:15>>
  %3 = stablehlo.constant() <{value = dense<3> : tensor<1xi8>}> {note = 1 : i32} : () -> tensor<1x!quant.uniform<i8:f32, 2.0:15>>
  // CHECK: stablehlo.constant dense<(1.000000e+00,2.000000e+00)> : tensor<complex<f32>>
  %4 = stablehlo.constant dense<(1.0, 2.0)> : tensor<complex<f32>>
  // CHECK: stablehlo.constant dense<[1.000000e+00, 5.000000e-01]> : tensor<2xf4E2M1FN>
  %5 = stablehlo.constant dense<[1.0, 0.5]> : tensor<2xf4E2M1FN>
  // CHECK: stablehlo.constant dense<true> : tensor<i1>
  %6 = stablehlo.constant dense<true> : tensor<i1>
  return
}

// CHECK-LABEL: @attributes_say_the_shape
func.func @attributes_say_the_shape(%a: tensor<2x3xf32>, %s: tensor<f32>, %n: tensor<i32>) {
  // CHECK: stablehlo.iota dim = 1 : tensor<2x3xi32>
  %0 = stablehlo.iota dim = 1 : tensor<2x3xi32>
  // CHECK: stablehlo.broadcast %{{.*}}, sizes = [4] : (tensor<2x3xf32>) -> tensor<4x2x3xf32>
  %1 = stablehlo.broadcast %a, sizes = [4] : (tensor<2x3xf32>) -> tensor<4x2x3xf32>
  // CHECK: stablehlo.broadcast_in_dim %{{.*}}, dims = [2, 0] : (tensor<2x3xf32>) -> tensor<3x4x2xf32>
  %2 = stablehlo.broadcast_in_dim %a, dims = [2, 0] : (tensor<2x3xf32>) -> tensor<3x4x2xf32>
  // CHECK: stablehlo.concatenate %{{.*}}, %{{.*}}, dim = 1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  %3 = stablehlo.concatenate %a, %a, dim = 1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  // CHECK: stablehlo.pad %{{.*}}, %{{.*}}, low = [1, -1], high = [0, 0], interior = [0, 2] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x6xf32>
  %4 = stablehlo.pad %a, %s, low = [1, -1], high = [0, 0], interior = [0, 2] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x6xf32>
  // CHECK: stablehlo.reshape %{{.*}} : (tensor<2x3xf32>) -> tensor<6xf32>
  %5 = stablehlo.reshape %a : (tensor<2x3xf32>) -> tensor<6xf32>
  // CHECK: stablehlo.reverse %{{.*}}, dims = [1] : tensor<2x3xf32>
  %6 = stablehlo.reverse %a, dims = [1] : tensor<2x3xf32>
  // CHECK: stablehlo.transpose %{{.*}}, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %7 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // CHECK: stablehlo.bitcast_convert %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3x4xi8>
  %8 = stablehlo.bitcast_convert %a : (tensor<2x3xf32>) -> tensor<2x3x4xi8>
  // CHECK: stablehlo.get_dimension_size %{{.*}}, dim = 1 : (tensor<2x3xf32>) -> tensor<i32>
  %9 = stablehlo.get_dimension_size %a, dim = 1 : (tensor<2x3xf32>) -> tensor<i32>
  // CHECK: stablehlo.set_dimension_size %{{.*}}, %{{.*}}, dim = 1 : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x?xf32, #stablehlo.bounds<?, 3>>
  %10 = stablehlo.set_dimension_size %a, %n, dim = 1 : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x?xf32, #stablehlo.type_extensions<bounds = [?, 3]>>
  return
}

// CHECK-LABEL: @operands_say_the_shape
func.func @operands_say_the_shape(%a: tensor<?xf32>, %n: tensor<2xindex>, %m: tensor<1xi32>, %s: tensor<f32>) {
  // CHECK: stablehlo.dynamic_broadcast_in_dim %{{.*}}, %{{.*}}, dims = [1] {known_expanding_dimensions = array<i64: 0>} : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %n, dims = [1] {known_expanding_dimensions = array<i64: 0>} : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  // CHECK: stablehlo.dynamic_iota %{{.*}}, dim = 0 : (tensor<2xindex>) -> tensor<?x?xi32>
  %1 = stablehlo.dynamic_iota %n, dim = 0 : (tensor<2xindex>) -> tensor<?x?xi32>
  // CHECK: stablehlo.dynamic_pad %{{.*}} : (tensor<?xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  %2 = stablehlo.dynamic_pad %a, %s, %m, %m, %m : (tensor<?xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  // CHECK: stablehlo.dynamic_reshape %{{.*}}, %{{.*}} : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  %3 = stablehlo.dynamic_reshape %a, %n : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  return
}

// CHECK-LABEL: @quantization_moves
func.func @quantization_moves(%a: tensor<2x3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) {
  // CHECK: tensor<3x2x!quant.uniform<i8:f32:1, {1.000000e+00,2.000000e+00}>>
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<3x2x!quant.uniform<i8:f32:1, {1.0, 2.0}>>
  %1 = stablehlo.reshape %a : (tensor<2x3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<1x2x3x!quant.uniform<i8:f32:1, {1.0, 2.0}>>
  return
}

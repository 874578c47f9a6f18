// RUN: alula-opt %s | FileCheck %s
// RUN: alula-opt %s --emit=generic | alula-opt | FileCheck %s

// CHECK-LABEL: @quantize
func.func @quantize(%f: tensor<2xf32>) {
  // CHECK: stablehlo.uniform_quantize %{{.*}} : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 1.000000e+00:3>>
  %0 = stablehlo.uniform_quantize %f : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 1.0:3>>
  // CHECK: stablehlo.uniform_quantize %{{.*}} : (tensor<2x!quant.uniform<i8:f32, 1.000000e+00:3>>) -> tensor<2x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>
  %1 = stablehlo.uniform_quantize %0 : (tensor<2x!quant.uniform<i8:f32, 1.0:3>>) -> tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
  // CHECK: stablehlo.uniform_dequantize %{{.*}} : (tensor<2x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>) -> tensor<2xf32>
  %2 = stablehlo.uniform_dequantize %1 : (tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<2xf32>
  // CHECK: stablehlo.add %{{.*}}, %{{.*}} : (tensor<2x!quant.uniform<i8:f32, 1.000000e+00:3>>, tensor<2x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>)
  %3 = stablehlo.add %0, %1 : (tensor<2x!quant.uniform<i8:f32, 1.0:3>>, tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<2x!quant.uniform<i8:f32:0, {3.0, 2.0}>>
  return
}

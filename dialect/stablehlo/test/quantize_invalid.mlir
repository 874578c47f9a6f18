// RUN: alula-opt %s -split-input-file -verify-diagnostics

func.func @quantize_expressed(%a: tensor<2xf64>) {
  // expected-error@+1 {{'stablehlo.uniform_quantize': result must express the operand's type: operand has 'f64', result has '!quant.uniform<i8:f32, 1.000000e+00>'}}
  %0 = stablehlo.uniform_quantize %a : (tensor<2xf64>) -> tensor<2x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @quantize_shape(%a: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.uniform_quantize': shapes must be compatible: operand 0 is 'tensor<2xf32>', result 0 is 'tensor<3x!quant.uniform<i8:f32, 1.000000e+00>>'}}
  %0 = stablehlo.uniform_quantize %a : (tensor<2xf32>) -> tensor<3x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @dequantize_expressed(%a: tensor<2x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1 {{'stablehlo.uniform_dequantize': result must have the type that the operand expresses: operand has '!quant.uniform<i8:f32, 1.000000e+00>', result has 'f64'}}
  %0 = stablehlo.uniform_dequantize %a : (tensor<2x!quant.uniform<i8:f32, 1.0>>) -> tensor<2xf64>
  return
}

// -----

func.func @axis_out_of_rank(%a: tensor<2x!quant.uniform<i8:f32:1, {1.0, 2.0}>>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of}}
  %0 = stablehlo.uniform_dequantize %a : (tensor<2x!quant.uniform<i8:f32:1, {1.0, 2.0}>>) -> tensor<2xf32>
  return
}

// -----

func.func @axis_size(%a: tensor<3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of}}
  %0 = stablehlo.uniform_dequantize %a : (tensor<3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<3xf32>
  return
}

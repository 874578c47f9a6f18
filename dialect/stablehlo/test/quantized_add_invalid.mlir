// RUN: alula-opt %s -split-input-file -verify-diagnostics

func.func @lost(%x: tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) {
  // expected-error@+1 {{'stablehlo.add': result must be quantized per axis if and only if an operand is: lhs is '!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>', rhs is }}
  %0 = "stablehlo.add"(%x, %x)
      : (tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>, tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>)
      -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @moved(%x: tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) {
  // expected-error@+1 {{'stablehlo.add': quantization dimensions must be equal: lhs is '!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>', rhs is }}
  %0 = "stablehlo.add"(%x, %x)
      : (tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>, tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>)
      -> tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 0.25}>>
  return
}

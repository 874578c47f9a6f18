// RUN: alula-opt --split-input-file --verify-diagnostics --input-lower-quantized %s

// expected-error@+1 {{'func.func': quantized types must be uniform, stored in 2, 4, 8, 16 or 32 bits and fit their tensor: has 'tensor<2x!quant.any<i8:f32>>'}}
func.func @any(%x: tensor<2x!quant.any<i8:f32>>) {
  return
}

// -----

// expected-error@+1 {{quantized types must be uniform, stored in 2, 4, 8, 16 or 32 bits and fit their tensor: has 'tensor<2x!quant.uniform<i7:f32, 5.000000e-01>>'}}
func.func @storage(%x: tensor<2x!quant.uniform<i7:f32, 0.5>>) {
  return
}

// -----

// expected-error@+1 {{and fit their tensor: has 'tensor<2x!quant.uniform<i8:f32:0, {5.000000e-01,1.000000e+00,2.000000e+00}>>'}}
func.func @axis(%x: tuple<tensor<2x!quant.uniform<i8:f32:0, {0.5, 1.0, 2.0}>>>) {
  return
}

// -----

// expected-error@+1 {{'func.func': tensors quantized in blocks must have a static shape: has 'tensor<?x}}
func.func @blocks(%x: tensor<?x4x!quant.uniform<i8:f32:{1:2}, {{1.0, 2.0}}>>) {
  return
}

// -----

func.func @deprecated(%x: tensor<2x3x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error@+1 {{'stablehlo.unary_einsum': op has no meaning on quantized types that can be lowered: has 'tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01>>'}}
  %0 = stablehlo.unary_einsum %x, config = "ab->ba" : (tensor<2x3x!quant.uniform<i8:f32, 0.5>>) -> tensor<3x2x!quant.uniform<i8:f32, 0.5>>
  return
}

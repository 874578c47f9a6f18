// RUN: alula-opt --split-input-file --verify-diagnostics --input-lower-deprecated %s

func.func @main(%x: tensor<3xf32>, %i: tensor<1xi32>) {
  // expected-error@+1 {{'stablehlo.real_dynamic_slice': start, limit and strides must be constant: start is not}}
  %0 = stablehlo.real_dynamic_slice %x, %i, %i, %i
      : (tensor<3xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>)
      -> tensor<?xf32>
  return
}

// -----

func.func @main(%x: tensor<?xf32>) {
  // expected-error@+1 {{'stablehlo.unary_einsum': shapes must be static: has 'tensor<?xf32>'}}
  %0 = stablehlo.unary_einsum %x, config = "a->"
      : (tensor<?xf32>) -> tensor<f32>
  return
}

// -----

func.func @main(%x: tensor<2x3x!quant.uniform<i8:f32, 0.5>>,
                %y: tensor<3x4x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error@+1 {{'stablehlo.einsum': quantized elements are not supported: result is 'tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01>>'}}
  %0 = stablehlo.einsum %x, %y, config = "ab,bc->ac"
      : (tensor<2x3x!quant.uniform<i8:f32, 0.5>>,
         tensor<3x4x!quant.uniform<i8:f32, 0.5>>)
      -> tensor<2x4x!quant.uniform<i8:f32, 0.5>>
  return
}

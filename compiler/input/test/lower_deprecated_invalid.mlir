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

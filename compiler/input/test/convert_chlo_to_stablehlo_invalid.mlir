// RUN: alula-opt --split-input-file --verify-diagnostics --input-convert-chlo-to-stablehlo %s

func.func @main(%x: tensor<2xcomplex<f32>>) {
  // expected-error@+1 {{'chlo.top_k': elements must have an order: operand is 'tensor<2xcomplex<f32>>'}}
  %0:2 = chlo.top_k(%x, k = 1)
      : tensor<2xcomplex<f32>> -> (tensor<1xcomplex<f32>>, tensor<1xi32>)
  return
}

// -----

func.func @main(%x: tensor<2xf8E4M3FNUZ>) {
  // expected-error@+1 {{'chlo.next_after': element type has no order of bits: 'f8E4M3FNUZ'}}
  %0 = chlo.next_after %x, %x : tensor<2xf8E4M3FNUZ>, tensor<2xf8E4M3FNUZ>
      -> tensor<2xf8E4M3FNUZ>
  return
}

// -----

func.func @main(%x: tensor<?x5xf32>, %y: tensor<3x5x7xf32>,
                %n: tensor<3xi32>) {
  // expected-error@+1 {{'chlo.ragged_dot': shapes must be static: operands are 'tensor<?x5xf32>', 'tensor<3x5x7xf32>', 'tensor<3xi32>', result is 'tensor<?x7xf32>'}}
  %0 = "chlo.ragged_dot"(%x, %y, %n) <{
      ragged_dot_dimension_numbers = #chlo.ragged_dot<
          lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],
          lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}>
      : (tensor<?x5xf32>, tensor<3x5x7xf32>, tensor<3xi32>) -> tensor<?x7xf32>
  return
}

// -----

func.func @main(%x: tensor<?xf32>, %c: tensor<f32>) {
  // expected-error@+1 {{'chlo.scan': shapes must be static: type is '(tensor<?xf32>, tensor<f32>) -> tensor<f32>'}}
  %0 = chlo.scan(%x) inits (%c) dimension=0 {
  ^bb0(%input: tensor<f32>, %carry: tensor<f32>):
    stablehlo.return %input : tensor<f32>
  } : (tensor<?xf32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @main(%x: tensor<2x!quant.uniform<i8:f32, 0.5>>, %c: tensor<f32>) {
  // expected-error@+1 {{'chlo.scan': outputs can't be quantized: type is 'tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>'}}
  %0:2 = chlo.scan(%x) inits (%c) dimension=0 {
  ^bb0(%input: tensor<!quant.uniform<i8:f32, 0.5>>, %carry: tensor<f32>):
    stablehlo.return %input, %carry
        : tensor<!quant.uniform<i8:f32, 0.5>>, tensor<f32>
  } : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<f32>)
      -> (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<f32>)
  return
}

// -----

func.func @main(%x: tensor<2xf32>) {
  // expected-error@+1 {{'chlo.constant_like': value must be a number of the element type: "one" : f32 for 'f32'}}
  %0 = "chlo.constant_like"(%x) <{value = "one" : f32}>
      : (tensor<2xf32>) -> tensor<2xf32>
  return
}

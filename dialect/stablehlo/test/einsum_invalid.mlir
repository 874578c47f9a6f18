// RUN: alula-opt %s -split-input-file -verify-diagnostics

func.func @no_arrow(%l: tensor<2x3xf32>, %r: tensor<3x4xf32>) {
  // expected-error@+1 {{'stablehlo.einsum': einsum_config must have the form 'operands->result': is "ab,bc"}}
  %0 = stablehlo.einsum %l, %r, config = "ab,bc" : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @one_operand(%l: tensor<2x3xf32>, %r: tensor<3x4xf32>) {
  // expected-error@+1 {{'stablehlo.einsum': einsum_config must name 2 operands: is "ab->ab"}}
  %0 = stablehlo.einsum %l, %r, config = "ab->ab" : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @rank_differs(%l: tensor<2x3xf32>, %r: tensor<3x4xf32>) {
  // expected-error@+1 {{'stablehlo.einsum': einsum_config must name each dimension of operand 1 of rank 2: is "ab,b->a"}}
  %0 = stablehlo.einsum %l, %r, config = "ab,b->a" : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @ellipsis_too_long(%l: tensor<3xf32>, %r: tensor<3x4xf32>) {
  // expected-error@+1 {{'stablehlo.einsum': einsum_config must name each dimension of operand 0 of rank 1: is "...ab,bc->...ac"}}
  %0 = stablehlo.einsum %l, %r, config = "...ab,bc->...ac" : (tensor<3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @no_letter(%l: tensor<2x3xf32>, %r: tensor<3x4xf32>) {
  // expected-error@+1 {{'stablehlo.einsum': einsum_config must consist of letters and one '...' for each operand: is "a1,bc->ac"}}
  %0 = stablehlo.einsum %l, %r, config = "a1,bc->ac" : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @result_no_letter(%l: tensor<2x3xf32>, %r: tensor<3x4xf32>) {
  // expected-error@+1 {{'stablehlo.einsum': einsum_config must have a result of letters and at most one '...': is "ab,bc->a1"}}
  %0 = stablehlo.einsum %l, %r, config = "ab,bc->a1" : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @result_letter_unknown(%l: tensor<2x3xf32>, %r: tensor<3x4xf32>) {
  // expected-error@+1 {{'stablehlo.einsum': einsum_config must have each letter of the result once and in an operand: is "ab,bc->ad"}}
  %0 = stablehlo.einsum %l, %r, config = "ab,bc->ad" : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @result_letter_twice(%l: tensor<2x3xf32>, %r: tensor<3x4xf32>) {
  // expected-error@+1 {{'stablehlo.einsum': einsum_config must have each letter of the result once and in an operand: is "ab,bc->aa"}}
  %0 = stablehlo.einsum %l, %r, config = "ab,bc->aa" : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @sizes_differ(%l: tensor<2x3xf32>, %r: tensor<5x4xf32>) {
  // expected-error@+1 {{'stablehlo.einsum': sizes of dimensions of one letter must be equal: 3 and 5 in "ab,bc->ac"}}
  %0 = stablehlo.einsum %l, %r, config = "ab,bc->ac" : (tensor<2x3xf32>, tensor<5x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @wrong_result(%l: tensor<2x3xf32>, %r: tensor<3x4xf32>) {
  // expected-error@+1 {{'stablehlo.einsum': result shape must be [2, 4]: result is 'tensor<2x5xf32>'}}
  %0 = stablehlo.einsum %l, %r, config = "ab,bc->ac" : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @kinds_differ(%l: tensor<2x3xf32>, %r: tensor<3x4xi32>) {
  // expected-error@+1 {{'stablehlo.einsum': element types of lhs and rhs must be of one kind: lhs is 'f32', rhs is 'i32'}}
  %0 = stablehlo.einsum %l, %r, config = "ab,bc->ac" : (tensor<2x3xf32>, tensor<3x4xi32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @unary_result(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.unary_einsum': result shape must be [3, 2]: result is 'tensor<2x3xf32>'}}
  %0 = stablehlo.unary_einsum %x, config = "ab->ba" : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

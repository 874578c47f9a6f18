// RUN: alula-opt %s -split-input-file -verify-diagnostics

func.func @reshape_rank(%a: tensor<6xf32>, %s: tensor<2xi32>) {
  // expected-error@+1 {{'stablehlo.dynamic_reshape': output_shape must have a size for each dimension of the result: has 2, result is 'tensor<?xf32>'}}
  %0 = stablehlo.dynamic_reshape %a, %s : (tensor<6xf32>, tensor<2xi32>) -> tensor<?xf32>
  return
}

// -----

func.func @reshape_negative(%a: tensor<6xf32>) {
  %s = stablehlo.constant dense<[-1, 3]> : tensor<2xi32>
  // expected-error@+1 {{'stablehlo.dynamic_reshape': output_shape must not be negative: is -1 in dimension 0}}
  %0 = stablehlo.dynamic_reshape %a, %s : (tensor<6xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @reshape_shape(%a: tensor<6xf32>) {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
  // expected-error@+1 {{'stablehlo.dynamic_reshape': output_shape must give the shape of the result: gives 3 in dimension 1, result is 'tensor<?x2xf32>'}}
  %0 = stablehlo.dynamic_reshape %a, %s : (tensor<6xf32>, tensor<2xi32>) -> tensor<?x2xf32>
  return
}

// -----

func.func @reshape_count(%a: tensor<6xf32>) {
  %s = stablehlo.constant dense<[2, 4]> : tensor<2xi32>
  // expected-error@+1 {{'stablehlo.dynamic_reshape': number of elements must stay: operand 'tensor<6xf32>' has 6, output_shape [2, 4] has 8}}
  %0 = stablehlo.dynamic_reshape %a, %s : (tensor<6xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @reshape_overflow(%a: tensor<6xf32>) {
  %s = stablehlo.constant dense<[4611686018427387904, 4]> : tensor<2xi64>
  // expected-error@+1 {{'stablehlo.dynamic_reshape': number of elements must fit 64 bits: operand is 'tensor<6xf32>', output_shape is [4611686018427387904, 4]}}
  %0 = stablehlo.dynamic_reshape %a, %s : (tensor<6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @iota_dimension(%s: tensor<1xi64>) {
  // expected-error@+1 {{'stablehlo.dynamic_iota': iota_dimension must be in range [0, 1): 1 is not}}
  %0 = stablehlo.dynamic_iota %s, dim = 1 : (tensor<1xi64>) -> tensor<?xi32>
  return
}

// -----

func.func @iota_shape(%s: tensor<2xi64>) {
  // expected-error@+1 {{'stablehlo.dynamic_iota': output_shape must have a size for each dimension of the result: has 2, result is 'tensor<?xi32>'}}
  %0 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<2xi64>) -> tensor<?xi32>
  return
}

// -----

func.func @broadcast_rank(%a: tensor<?xf32>, %s: tensor<1xi64>) {
  // expected-error@+1 {{'stablehlo.dynamic_broadcast_in_dim': output_dimensions must have a size for each dimension of the result: has 1, result is 'tensor<?x?xf32>'}}
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [1] : (tensor<?xf32>, tensor<1xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @broadcast_size(%a: tensor<2xf32>, %s: tensor<2xi64>) {
  // expected-error@+1 {{'stablehlo.dynamic_broadcast_in_dim': size must be 1 or that of the result: dimension 0 of the operand is 2, dimension 1 of the result is 3}}
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [1] : (tensor<2xf32>, tensor<2xi64>) -> tensor<?x3xf32>
  return
}

// -----

func.func @broadcast_constant(%a: tensor<2xf32>) {
  %s = stablehlo.constant dense<[5, 3]> : tensor<2xi64>
  // expected-error@+1 {{'stablehlo.dynamic_broadcast_in_dim': size must be 1 or that of the result: dimension 0 of the operand is 2, output_dimensions give 3 for dimension 1}}
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [1] : (tensor<2xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @broadcast_hint_range(%a: tensor<?xf32>, %s: tensor<1xi64>) {
  // expected-error@+1 {{'stablehlo.dynamic_broadcast_in_dim': known_expanding_dimensions must be in range [0, 1): 1 is not}}
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [0] {known_expanding_dimensions = array<i64: 1>} : (tensor<?xf32>, tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @broadcast_hint_negative(%a: tensor<?xf32>, %s: tensor<1xi64>) {
  // expected-error@+1 {{'stablehlo.dynamic_broadcast_in_dim': known_nonexpanding_dimensions must be in range [0, 1): -1 is not}}
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [0] {known_nonexpanding_dimensions = array<i64: -1>} : (tensor<?xf32>, tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @broadcast_hint_twice(%a: tensor<?xf32>, %s: tensor<1xi64>) {
  // expected-error@+1 {{'stablehlo.dynamic_broadcast_in_dim': known_expanding_dimensions and known_nonexpanding_dimensions must be unique: 0 is repeated}}
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [0] {known_expanding_dimensions = array<i64: 0>, known_nonexpanding_dimensions = array<i64: 0>} : (tensor<?xf32>, tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @pad_elements(%a: tensor<?xf32>, %p: tensor<f64>, %s: tensor<1xi64>) {
  // expected-error@+1 {{'stablehlo.dynamic_pad': element types must be equal: operand is 'tensor<?xf32>', padding_value is 'tensor<f64>', result is 'tensor<?xf32>'}}
  %0 = stablehlo.dynamic_pad %a, %p, %s, %s, %s : (tensor<?xf32>, tensor<f64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @pad_rank(%a: tensor<?xf32>, %p: tensor<f32>, %s: tensor<1xi64>) {
  // expected-error@+1 {{'stablehlo.dynamic_pad': result must have the operand's rank: operand is 'tensor<?xf32>', result is 'tensor<?x?xf32>'}}
  %0 = stablehlo.dynamic_pad %a, %p, %s, %s, %s : (tensor<?xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @pad_entries(%a: tensor<?xf32>, %p: tensor<f32>, %s: tensor<1xi64>, %t: tensor<2xi64>) {
  // expected-error@+1 {{'stablehlo.dynamic_pad': edge_padding_high must have an entry for each dimension of the operand: has 2, operand is 'tensor<?xf32>'}}
  %0 = stablehlo.dynamic_pad %a, %p, %s, %t, %s : (tensor<?xf32>, tensor<f32>, tensor<1xi64>, tensor<2xi64>, tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @pad_interior(%a: tensor<?xf32>, %p: tensor<f32>, %s: tensor<1xi64>) {
  %i = stablehlo.constant dense<-1> : tensor<1xi64>
  // expected-error@+1 {{'stablehlo.dynamic_pad': interior_padding must not be negative: is -1 in dimension 0}}
  %0 = stablehlo.dynamic_pad %a, %p, %s, %s, %i : (tensor<?xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @pad_result(%a: tensor<3xf32>, %p: tensor<f32>) {
  %i = stablehlo.constant dense<1> : tensor<1xi64>
  // expected-error@+1 {{'stablehlo.dynamic_pad': result must have the padded size: is 6 in dimension 0, padded size is 7}}
  %0 = stablehlo.dynamic_pad %a, %p, %i, %i, %i : (tensor<3xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<6xf32>
  return
}

// -----

func.func @pad_to_negative(%a: tensor<1xf32>, %p: tensor<f32>) {
  %i = stablehlo.constant dense<-1> : tensor<1xi64>
  %z = stablehlo.constant dense<0> : tensor<1xi64>
  // expected-error@+1 {{'stablehlo.dynamic_pad': padded size must not be negative: is -1 in dimension 0}}
  %0 = stablehlo.dynamic_pad %a, %p, %i, %i, %z : (tensor<1xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @pad_overflow(%a: tensor<3xf32>, %p: tensor<f32>) {
  %i = stablehlo.constant dense<9223372036854775807> : tensor<1xi64>
  // expected-error@+1 {{'stablehlo.dynamic_pad': padded size must fit 64 bits: dimension 0 does not}}
  %0 = stablehlo.dynamic_pad %a, %p, %i, %i, %i : (tensor<3xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return
}

// RUN: alula-opt %s -split-input-file -verify-diagnostics

func.func @constant_type() {
  // expected-error@+1 {{'stablehlo.constant': result types must agree with the inferred ones: inferred 'tensor<2xf32>', got 'tensor<3xf32>'}}
  %0 = "stablehlo.constant"() {value = dense<1.0> : tensor<2xf32>} : () -> tensor<3xf32>
  return
}

// -----

func.func @constant_storage() {
  // expected-error@+1 {{'stablehlo.constant': result types must agree with the inferred ones}}
  %0 = "stablehlo.constant"() {value = dense<1> : tensor<2xi16>} : () -> tensor<2x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @iota_dimension() {
  // expected-error@+1 {{'stablehlo.iota': iota_dimension must be in range [0, 1): 1 is not}}
  %0 = stablehlo.iota dim = 1 : tensor<4xi32>
  return
}

// -----

func.func @iota_negative() {
  // expected-error@+1 {{'stablehlo.iota': iota_dimension must be in range [0, 1): -1 is not}}
  %0 = stablehlo.iota dim = -1 : tensor<4xi32>
  return
}

// -----

func.func @iota_scalar() {
  // expected-error@+1 {{'stablehlo.iota': iota_dimension must be in range [0, 0): 0 is not}}
  %0 = stablehlo.iota dim = 0 : tensor<i32>
  return
}

// -----

func.func @broadcast_size(%a: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.broadcast': broadcast_sizes must not be negative: is -3 at 1}}
  %0 = stablehlo.broadcast %a, sizes = [1, -3] : (tensor<2xf32>) -> tensor<1x3x2xf32>
  return
}

// -----

func.func @concatenate_scalars(%a: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.concatenate': dimension must be in range [0, 0): 0 is not}}
  %0 = stablehlo.concatenate %a, %a, dim = 0 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @concatenate_nothing() {
  // expected-error@+1 {{'stablehlo.concatenate': operand 0 must be a ranked tensor: is not}}
  %0 = stablehlo.concatenate dim = 0 : () -> tensor<2xf32>
  return
}

// -----

func.func @concatenate_ranks(%a: tensor<2xf32>, %b: tensor<1x2xf32>) {
  // expected-error@+1 {{'stablehlo.concatenate': operands must have one rank: operand 0 is 'tensor<2xf32>', operand 1 is 'tensor<1x2xf32>'}}
  %0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<2xf32>, tensor<1x2xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @concatenate_sizes(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) {
  // expected-error@+1 {{'stablehlo.concatenate': sizes must agree but in dimension 0: operand 0 is 'tensor<2x3xf32>', operand 1 is 'tensor<2x4xf32>'}}
  %0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @concatenate_sizes_of_later(%a: tensor<1x?xf32>, %b: tensor<1x4xf32>, %c: tensor<1x5xf32>) {
  // expected-error@+1 {{'stablehlo.concatenate': sizes must agree but in dimension 0: operands are 'tensor<1x?xf32>', 'tensor<1x4xf32>', 'tensor<1x5xf32>'}}
  %0 = stablehlo.concatenate %a, %b, %c, dim = 0 : (tensor<1x?xf32>, tensor<1x4xf32>, tensor<1x5xf32>) -> tensor<3x?xf32>
  return
}

// -----

func.func @concatenate_scales(%a: tensor<2x!quant.uniform<i8:f32, 1.0>>, %b: tensor<2x!quant.uniform<i8:f32, 2.0>>) {
  // expected-error@+1 {{'stablehlo.concatenate': quantized element types must be equal: operand 0 has '!quant.uniform<i8:f32, 1.000000e+00>', operand 1 has '!quant.uniform<i8:f32, 2.000000e+00>'}}
  %0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<2x!quant.uniform<i8:f32, 1.0>>, tensor<2x!quant.uniform<i8:f32, 2.0>>) -> tensor<4x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @pad_entries(%a: tensor<2xf32>, %p: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.pad': paddings must have an entry for each dimension of the operand: low has 1, high has 2, interior has 1, operand is 'tensor<2xf32>'}}
  %0 = stablehlo.pad %a, %p, low = [0], high = [0, 0], interior = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @pad_interior(%a: tensor<2xf32>, %p: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.pad': interior_padding must not be negative: is -1 in dimension 0}}
  %0 = stablehlo.pad %a, %p, low = [0], high = [0], interior = [-1] : (tensor<2xf32>, tensor<f32>) -> tensor<1xf32>
  return
}

// -----

func.func @pad_to_negative(%a: tensor<2xf32>, %p: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.pad': padded size must not be negative: is -1 in dimension 0}}
  %0 = stablehlo.pad %a, %p, low = [-2], high = [-1], interior = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<0xf32>
  return
}

// -----

func.func @pad_overflow(%a: tensor<2xf32>, %p: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.pad': padded size must fit 64 bits: dimension 0 does not}}
  %0 = stablehlo.pad %a, %p, low = [9223372036854775807], high = [1], interior = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<?xf32>
  return
}

// -----

func.func @reverse_repeated(%a: tensor<2x2xf32>) {
  // expected-error@+1 {{'stablehlo.reverse': dimensions must be unique: 1 is repeated}}
  %0 = stablehlo.reverse %a, dims = [1, 1] : tensor<2x2xf32>
  return
}

// -----

func.func @reverse_range(%a: tensor<2x2xf32>) {
  // expected-error@+1 {{'stablehlo.reverse': dimensions must be in range [0, 2): -1 is not}}
  %0 = stablehlo.reverse %a, dims = [-1] : tensor<2x2xf32>
  return
}

// -----

func.func @transpose_entries(%a: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.transpose': permutation must have an entry for each dimension: has 1, operand is 'tensor<2x3xf32>'}}
  %0 = stablehlo.transpose %a, dims = [0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @transpose_range(%a: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.transpose': permutation must be in range [0, 2): 2 is not}}
  %0 = stablehlo.transpose %a, dims = [2, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @transpose_repeated(%a: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.transpose': permutation must be unique: 0 is repeated}}
  %0 = stablehlo.transpose %a, dims = [0, 0] : (tensor<2x3xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @transpose_axis(%a: tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) {
  // expected-error@+1 {{'stablehlo.transpose': quantization dimension must move with its dimension: operand has 0, result has 0 which was 1}}
  %0 = "stablehlo.transpose"(%a) {permutation = array<i64: 1, 0>} : (tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
  return
}

// -----

func.func @transpose_scales(%a: tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) {
  // expected-error@+1 {{'stablehlo.transpose': result must have the operand's element type}}
  %0 = "stablehlo.transpose"(%a) {permutation = array<i64: 1, 0>} : (tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<2x2x!quant.uniform<i8:f32:1, {1.0, 3.0}>>
  return
}

// -----

func.func @get_dimension(%a: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.get_dimension_size': dimension must be in range [0, 2): 2 is not}}
  %0 = stablehlo.get_dimension_size %a, dim = 2 : (tensor<2x3xf32>) -> tensor<i32>
  return
}

// -----

func.func @set_dimension(%a: tensor<2x3xf32>, %s: tensor<i32>) {
  // expected-error@+1 {{'stablehlo.set_dimension_size': dimension must be in range [0, 2): -1 is not}}
  %0 = stablehlo.set_dimension_size %a, %s, dim = -1 : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @set_dimension_size(%a: tensor<2x3xf32>, %s: tensor<1xi32>) {
  // expected-error@+1 {{'stablehlo.set_dimension_size': size must be a scalar: is 'tensor<1xi32>'}}
  %0 = stablehlo.set_dimension_size %a, %s, dim = 0 : (tensor<2x3xf32>, tensor<1xi32>) -> tensor<2x3xf32>
  return
}

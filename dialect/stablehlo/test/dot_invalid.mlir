// RUN: alula-opt %s -split-input-file -verify-diagnostics

func.func @batching_counts(%l: tensor<2x3x4xf32>, %r: tensor<2x4x5xf32>) {
  // expected-error@+1 {{'stablehlo.dot_general': number of batching dimensions must be equal: lhs has 1, rhs has 0}}
  %0 = stablehlo.dot_general %l, %r, batching_dims = [0] x [], contracting_dims = [2] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @contracting_counts(%l: tensor<2x3x4xf32>, %r: tensor<2x4x5xf32>) {
  // expected-error@+1 {{'stablehlo.dot_general': number of contracting dimensions must be equal: lhs has 1, rhs has 0}}
  %0 = stablehlo.dot_general %l, %r, batching_dims = [0] x [0], contracting_dims = [2] x [] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @lhs_repeated(%l: tensor<2x3x4xf32>, %r: tensor<2x2x5xf32>) {
  // expected-error@+1 {{'stablehlo.dot_general': lhs_batching_dimensions and lhs_contracting_dimensions must be unique: 0 is repeated}}
  %0 = stablehlo.dot_general %l, %r, batching_dims = [0] x [0], contracting_dims = [0] x [1] : (tensor<2x3x4xf32>, tensor<2x2x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @rhs_repeated(%l: tensor<2x3x2xf32>, %r: tensor<2x4x5xf32>) {
  // expected-error@+1 {{'stablehlo.dot_general': rhs_batching_dimensions and rhs_contracting_dimensions must be unique: 0 is repeated}}
  %0 = stablehlo.dot_general %l, %r, batching_dims = [0] x [0], contracting_dims = [2] x [0] : (tensor<2x3x2xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @lhs_batching_dimensions_range(%l: tensor<2x3x4xf32>, %r: tensor<2x4x5xf32>) {
  // expected-error@+1 {{'stablehlo.dot_general': lhs_batching_dimensions must be in range [0, 3): 3 is not}}
  %0 = stablehlo.dot_general %l, %r, batching_dims = [3] x [0], contracting_dims = [2] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @rhs_batching_dimensions_range(%l: tensor<2x3x4xf32>, %r: tensor<2x4x5xf32>) {
  // expected-error@+1 {{'stablehlo.dot_general': rhs_batching_dimensions must be in range [0, 3): -1 is not}}
  %0 = stablehlo.dot_general %l, %r, batching_dims = [0] x [-1], contracting_dims = [2] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @lhs_contracting_dimensions_range(%l: tensor<2x3x4xf32>, %r: tensor<2x4x5xf32>) {
  // expected-error@+1 {{'stablehlo.dot_general': lhs_contracting_dimensions must be in range [0, 3): -1 is not}}
  %0 = stablehlo.dot_general %l, %r, batching_dims = [0] x [0], contracting_dims = [-1] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @rhs_contracting_dimensions_range(%l: tensor<2x3x4xf32>, %r: tensor<2x4x5xf32>) {
  // expected-error@+1 {{'stablehlo.dot_general': rhs_contracting_dimensions must be in range [0, 3): 3 is not}}
  %0 = stablehlo.dot_general %l, %r, batching_dims = [0] x [0], contracting_dims = [2] x [3] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @batching_sizes(%l: tensor<2x3x4xf32>, %r: tensor<7x4x5xf32>) {
  // expected-error@+1 {{'stablehlo.dot_general': batching dimension sizes must be equal: lhs dim 0 is 2, rhs dim 0 is 7}}
  %0 = stablehlo.dot_general %l, %r, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x3x4xf32>, tensor<7x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @contracting_sizes(%l: tensor<2x3x4xf32>, %r: tensor<2x8x5xf32>) {
  // expected-error@+1 {{'stablehlo.dot_general': contracting dimension sizes must be equal: lhs dim 2 is 4, rhs dim 1 is 8}}
  %0 = stablehlo.dot_general %l, %r, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x3x4xf32>, tensor<2x8x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @result_shape(%l: tensor<2x3x4xf32>, %r: tensor<2x4x5xf32>) {
  // expected-error@+1 {{'stablehlo.dot_general': result shape must be [2, 3, 5]: result is 'tensor<2x3x6xf32>'}}
  %0 = stablehlo.dot_general %l, %r, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x6xf32>
  return
}

// -----

func.func @result_rank(%l: tensor<2x3x4xf32>, %r: tensor<2x4x5xf32>) {
  // expected-error@+1 {{'stablehlo.dot_general': result shape must be [2, 3, 5]: result is 'tensor<2x3xf32>'}}
  %0 = stablehlo.dot_general %l, %r, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @precision_of_three(%l: tensor<2x3x4xf32>, %r: tensor<2x4x5xf32>) {
  // expected-error@+1 {{'stablehlo.dot_general': precision_config must have at most 2 entries: has 3}}
  %0 = stablehlo.dot_general %l, %r, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT, DEFAULT] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @precision_with_algorithm(%l: tensor<2x3x4xf32>, %r: tensor<2x4x5xf32>) {
  // expected-error@+1 {{'stablehlo.dot_general': precision_config must be DEFAULT if there is an algorithm: is [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]}}
  %0 = stablehlo.dot_general %l, %r, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGH, DEFAULT], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @kinds_differ(%l: tensor<2x3x4xf32>, %r: tensor<2x4x5xi32>) {
  // expected-error@+1 {{'stablehlo.dot_general': element types of lhs and rhs must be of one kind: lhs is 'f32', rhs is 'i32'}}
  %0 = stablehlo.dot_general %l, %r, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xi32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @only_lhs_quantized(%l: tensor<2x2x!quant.uniform<i8:f32, 1.0>>, %r: tensor<2x2xf32>) {
  // expected-error@+1 {{'stablehlo.dot_general': rhs must be quantized, and lhs and result both or neither: lhs is '!quant.uniform<i8:f32, 1.000000e+00>', rhs is 'f32', result is '!quant.uniform<i8:f32, 1.000000e+00>'}}
  %0 = stablehlo.dot_general %l, %r, contracting_dims = [1] x [0] : (tensor<2x2x!quant.uniform<i8:f32, 1.0>>, tensor<2x2xf32>) -> tensor<2x2x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @result_not_quantized(%l: tensor<2x2x!quant.uniform<i8:f32, 1.0>>, %r: tensor<2x2x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1 {{'stablehlo.dot_general': rhs must be quantized, and lhs and result both or neither: lhs is '!quant.uniform<i8:f32, 1.000000e+00>', rhs is '!quant.uniform<i8:f32, 1.000000e+00>', result is 'f32'}}
  %0 = stablehlo.dot_general %l, %r, contracting_dims = [1] x [0] : (tensor<2x2x!quant.uniform<i8:f32, 1.0>>, tensor<2x2x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x2xf32>
  return
}

// -----

func.func @zero_point(%l: tensor<2x2x!quant.uniform<i8:f32, 1.0>>, %r: tensor<2x2x!quant.uniform<i8:f32, 1.0:3>>) {
  // expected-error@+1 {{'stablehlo.dot_general': zero points of rhs must be 0: rhs is '!quant.uniform<i8:f32, 1.000000e+00:3>'}}
  %0 = stablehlo.dot_general %l, %r, contracting_dims = [1] x [0] : (tensor<2x2x!quant.uniform<i8:f32, 1.0>>, tensor<2x2x!quant.uniform<i8:f32, 1.0:3>>) -> tensor<2x2x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @axis_zero_point(%l: tensor<2x2x!quant.uniform<i8:f32, 1.0>>, %r: tensor<2x2x!quant.uniform<i8:f32:1, {1.0, 1.0:2}>>) {
  // expected-error@+1 {{'stablehlo.dot_general': zero points of rhs must be 0: rhs is '!quant.uniform<i8:f32:1, {1.000000e+00,1.000000e+00:2}>'}}
  %0 = stablehlo.dot_general %l, %r, contracting_dims = [1] x [0] : (tensor<2x2x!quant.uniform<i8:f32, 1.0>>, tensor<2x2x!quant.uniform<i8:f32:1, {1.0, 1.0:2}>>) -> tensor<2x2x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @contracted_axis(%l: tensor<2x2x!quant.uniform<i8:f32, 1.0>>, %r: tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) {
  // expected-error@+1 {{'stablehlo.dot_general': quantization dimension of rhs must not be contracted: is 0, rhs_contracting_dimensions is [0]}}
  %0 = stablehlo.dot_general %l, %r, contracting_dims = [1] x [0] : (tensor<2x2x!quant.uniform<i8:f32, 1.0>>, tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<2x2x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @storage_types(%l: tensor<2x2x!quant.uniform<i8:f32, 1.0>>, %r: tensor<2x2x!quant.uniform<i4:f32, 1.0>>) {
  // expected-error@+1 {{'stablehlo.dot_general': storage types of lhs and rhs must be equal: lhs is '!quant.uniform<i8:f32, 1.000000e+00>', rhs is '!quant.uniform<i4:f32, 1.000000e+00>'}}
  %0 = stablehlo.dot_general %l, %r, contracting_dims = [1] x [0] : (tensor<2x2x!quant.uniform<i8:f32, 1.0>>, tensor<2x2x!quant.uniform<i4:f32, 1.0>>) -> tensor<2x2x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @storage_signs(%l: tensor<2x2x!quant.uniform<i8:f32, 1.0>>, %r: tensor<2x2x!quant.uniform<u8:f32, 1.0>>) {
  // expected-error@+1 {{'stablehlo.dot_general': storage types of lhs and rhs must be equal: lhs is '!quant.uniform<i8:f32, 1.000000e+00>', rhs is '!quant.uniform<u8:f32, 1.000000e+00>'}}
  %0 = stablehlo.dot_general %l, %r, contracting_dims = [1] x [0] : (tensor<2x2x!quant.uniform<i8:f32, 1.0>>, tensor<2x2x!quant.uniform<u8:f32, 1.0>>) -> tensor<2x2x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @expressed_types(%l: tensor<2x2x!quant.uniform<i8:f32, 1.0>>, %r: tensor<2x2x!quant.uniform<i8:f16, 1.0>>) {
  // expected-error@+1 {{'stablehlo.dot_general': expressed types must be equal: lhs is '!quant.uniform<i8:f32, 1.000000e+00>', rhs is '!quant.uniform<i8:f16, 1.000000e+00>', result is '!quant.uniform<i8:f32, 1.000000e+00>'}}
  %0 = stablehlo.dot_general %l, %r, contracting_dims = [1] x [0] : (tensor<2x2x!quant.uniform<i8:f32, 1.0>>, tensor<2x2x!quant.uniform<i8:f16, 1.0>>) -> tensor<2x2x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @finer_result(%l: tensor<2x2x!quant.uniform<i8:f32, 1.0>>, %r: tensor<2x2x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1 {{'stablehlo.dot_general': result must be quantized per tensor if rhs is: rhs is '!quant.uniform<i8:f32, 1.000000e+00>', result is '!quant.uniform<i8:f32:1, {1.000000e+00,2.000000e+00}>'}}
  %0 = stablehlo.dot_general %l, %r, contracting_dims = [1] x [0] : (tensor<2x2x!quant.uniform<i8:f32, 1.0>>, tensor<2x2x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x2x!quant.uniform<i8:f32:1, {1.0, 2.0}>>
  return
}

// -----

func.func @hybrid_types(%l: tensor<2x2xf16>, %r: tensor<2x2x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1 {{'stablehlo.dot_general': element types of lhs and result must be the expressed type of rhs: lhs is 'f16', rhs is '!quant.uniform<i8:f32, 1.000000e+00>', result is 'f16'}}
  %0 = stablehlo.dot_general %l, %r, contracting_dims = [1] x [0] : (tensor<2x2xf16>, tensor<2x2x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x2xf16>
  return
}

// -----

func.func @dot_of_rank_3(%l: tensor<2x3x4xf32>, %r: tensor<4x5xf32>) {
  // expected-error@+1 {{'stablehlo.dot': operands must be of rank 1 or 2: lhs is 'tensor<2x3x4xf32>', rhs is 'tensor<4x5xf32>'}}
  %0 = stablehlo.dot %l, %r : (tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @dot_sizes(%l: tensor<3x4xf32>, %r: tensor<5x6xf32>) {
  // expected-error@+1 {{'stablehlo.dot': contracting dimension sizes must be equal: lhs dim 1 is 4, rhs dim 0 is 5}}
  %0 = stablehlo.dot %l, %r : (tensor<3x4xf32>, tensor<5x6xf32>) -> tensor<3x6xf32>
  return
}

// -----

func.func @dot_result(%l: tensor<3x4xf32>, %r: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.dot': result shape must be [3]: result is 'tensor<4xf32>'}}
  %0 = stablehlo.dot %l, %r : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// RUN: alula-opt %s -split-input-file -verify-diagnostics

func.func @count(%a: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.reshape': number of elements must stay: operand 'tensor<2x3xf32>' has 6, result 'tensor<5xf32>' has 5}}
  %0 = stablehlo.reshape %a : (tensor<2x3xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @element(%a: tensor<2x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1 {{'stablehlo.reshape': result must have the operand's element type: operand has '!quant.uniform<i8:f32, 1.000000e+00>', result has '!quant.uniform<i8:f32, 2.000000e+00>'}}
  %0 = stablehlo.reshape %a : (tensor<2x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x1x!quant.uniform<i8:f32, 2.0>>
  return
}

// -----

func.func @axis_size(%a: tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) {
  // expected-error@+1 {{'stablehlo.reshape': sizes before the quantization dimension must have the same product: operand is 'tensor<2x2x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00}>>', result is 'tensor<2x2x!quant.uniform<i8:f32:1, {1.000000e+00,2.000000e+00}>>'}}
  %0 = stablehlo.reshape %a : (tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<2x2x!quant.uniform<i8:f32:1, {1.0, 2.0}>>
  return
}

// -----

func.func @two_bounded(%a: tensor<6xf32>) {
  // expected-error@+1 {{result #0 must be statically shaped tensor or one with a single, bounded dynamic dimension}}
  %0 = stablehlo.reshape %a : (tensor<6xf32>) -> tensor<?x?xf32, #stablehlo.bounds<2, 3>>
  return
}

// -----

func.func @broadcast_entries(%a: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.broadcast_in_dim': broadcast_dimensions must have an entry for each dimension of the operand: has 2, operand is 'tensor<2xf32>'}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [0, 1] : (tensor<2xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @broadcast_range(%a: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.broadcast_in_dim': broadcast_dimensions must be in range [0, 2): 2 is not}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [2] : (tensor<2xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @broadcast_repeated(%a: tensor<2x2xf32>) {
  // expected-error@+1 {{'stablehlo.broadcast_in_dim': broadcast_dimensions must be unique: 1 is repeated}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [1, 1] : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @broadcast_size(%a: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.broadcast_in_dim': size must be 1 or that of the result: dimension 0 of the operand is 2, dimension 1 of the result is 3}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<2xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @broadcast_to_unknown(%a: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.broadcast_in_dim': size must be 1 or that of the result: dimension 0 of the operand is 2, dimension 0 of the result is ?}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<2xf32>) -> tensor<?xf32, #stablehlo.bounds<4>>
  return
}

// -----

func.func @broadcast_element(%a: tensor<2x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1 {{'stablehlo.broadcast_in_dim': result must have the operand's element type}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<2x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x!quant.uniform<i8:f32, 2.0>>
  return
}

// -----

func.func @broadcast_axis(%a: tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) {
  // expected-error@+1 {{'stablehlo.broadcast_in_dim': quantization dimension must move with its dimension: operand has 0 which becomes 1, result has 0}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
  return
}

// -----

func.func @broadcast_scale(%a: tensor<1x!quant.uniform<i8:f32:0, {1.0}>>) {
  // expected-error@+1 {{'stablehlo.broadcast_in_dim': scales must be that of the broadcast slice: scale 1 of the result is 2.000000e+00, operand has 1.000000e+00}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<1x!quant.uniform<i8:f32:0, {1.0}>>) -> tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
  return
}

// -----

func.func @broadcast_zero_point(%a: tensor<1x!quant.uniform<i8:f32:0, {1.0:5}>>) {
  // expected-error@+1 {{'stablehlo.broadcast_in_dim': zero points must be that of the broadcast slice: zero point 0 of the result is 6, operand has 5}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<1x!quant.uniform<i8:f32:0, {1.0:5}>>) -> tensor<2x!quant.uniform<i8:f32:0, {1.0:6, 1.0:5}>>
  return
}

// -----

func.func @bitcast_complex(%a: tensor<2xcomplex<f32>>) {
  // expected-error@+1 {{'stablehlo.bitcast_convert': operand and result must both be complex or neither: operand is 'tensor<2xcomplex<f32>>', result is 'tensor<2xf64>'}}
  %0 = stablehlo.bitcast_convert %a : (tensor<2xcomplex<f32>>) -> tensor<2xf64>
  return
}

// -----

func.func @bitcast_rank(%a: tensor<2xf64>) {
  // expected-error@+1 {{'stablehlo.bitcast_convert': the side of smaller elements must have one more dimension: operand is 'tensor<2xf64>', result is 'tensor<4xf32>'}}
  %0 = stablehlo.bitcast_convert %a : (tensor<2xf64>) -> tensor<4xf32>
  return
}

// -----

func.func @bitcast_last(%a: tensor<2xf64>) {
  // expected-error@+1 {{'stablehlo.bitcast_convert': last dimension of the smaller elements must be 2: operand is 'tensor<2xf64>', result is 'tensor<2x4xf32>'}}
  %0 = stablehlo.bitcast_convert %a : (tensor<2xf64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @bitcast_shape(%a: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.bitcast_convert': shapes must be equal but for the last dimension of the smaller elements: operand is 'tensor<2xf32>', result is 'tensor<3xi32>'}}
  %0 = stablehlo.bitcast_convert %a : (tensor<2xf32>) -> tensor<3xi32>
  return
}

// -----

func.func @bitcast_width(%a: tensor<2x3xf6E2M3FN>) {
  // expected-error@+1 {{'stablehlo.bitcast_convert': element widths must divide: operand has 6 bits, result has 8}}
  %0 = stablehlo.bitcast_convert %a : (tensor<2x3xf6E2M3FN>) -> tensor<2xi8>
  return
}

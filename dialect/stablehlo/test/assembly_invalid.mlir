// RUN: alula-opt %s -split-input-file -verify-diagnostics

func.func @type_count(%a: tensor<f32>) {
  // expected-error@+1 {{number of operands and of types must be equal: 1 operands, 2 types}}
  %0 = stablehlo.abs %a : (tensor<f32>, tensor<f32>) -> tensor<f32>
}

// -----

func.func @result_count(%a: tensor<f32>) {
  // expected-error@+1 {{needs one result type: has 2}}
  %0 = stablehlo.abs %a : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
}

// -----

func.func @complex(%a: tensor<f32>) {
  // expected-error@+1 {{expected a tensor of complex numbers: got 'tensor<f32>'}}
  %0 = stablehlo.complex %a, %a : tensor<f32>
}

// -----

func.func @select(%p: tensor<i1>, %a: tensor<f32>) {
  // expected-error@+1 {{expected two types or a function type: got 1 type}}
  %0 = stablehlo.select %p, %a, %a : tensor<f32>
}

// -----

func.func @tuple(%a: tensor<f32>) {
  // expected-error@+1 {{expected a tuple type: got 'tensor<f32>'}}
  %0 = stablehlo.tuple %a : tensor<f32>
}

// -----

func.func @concatenate(%a: tensor<1xf32>) {
  // expected-error@+1 {{expected ','}}
  %0 = stablehlo.concatenate %a dim = 0 : (tensor<1xf32>) -> tensor<1xf32>
}

// -----

func.func @slice(%a: tensor<1xf32>) {
  // expected-error@+1 {{expected ':'}}
  %0 = stablehlo.slice %a [0] : (tensor<1xf32>) -> tensor<1xf32>
}

// -----

func.func @format(%a: tensor<1xf32>) {
  // expected-error@+1 {{expected a format such as e5m10: got m5e10}}
  %0 = stablehlo.reduce_precision %a, format = m5e10 : tensor<1xf32>
}

// -----

func.func @format_range(%a: tensor<1xf32>) {
  // expected-error@+1 {{expected a format such as e5m10: got e2147483648m1}}
  %0 = stablehlo.reduce_precision %a, format = e2147483648m1 : tensor<1xf32>
}

// -----

func.func @format_empty(%a: tensor<1xf32>) {
  // expected-error@+1 {{expected a format such as e5m10: got em1}}
  %0 = stablehlo.reduce_precision %a, format = em1 : tensor<1xf32>
}

// -----

func.func @precision(%a: tensor<1xf32>) {
  // expected-error@+1 {{expected one of DEFAULT, HIGH, HIGHEST: got LOW}}
  %0 = stablehlo.dot %a, %a, precision = [LOW] : (tensor<1xf32>, tensor<1xf32>) -> tensor<f32>
}

// -----

func.func @precision_or_algorithm(%a: tensor<1xf32>) {
  // expected-error@+1 {{expected 'precision' or 'algorithm'}}
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0], speed = 1 : (tensor<1xf32>, tensor<1xf32>) -> tensor<f32>
}

// -----

func.func @window_twice(%a: tensor<1x1x1xf32>) {
  // expected-error@+1 {{stride is given twice}}
  %0 = stablehlo.convolution(%a, %a) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], stride = [1]} {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
}

// -----

func.func @window_unknown(%a: tensor<1x1x1xf32>) {
  // expected-error@+1 {{expected one of stride, pad, lhs_dilate, rhs_dilate, reverse: got size}}
  %0 = stablehlo.convolution(%a, %a) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {size = [1]} {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
}

// -----

func.func @window_padding(%a: tensor<1x1x1xf32>) {
  // expected-error@+1 {{padding needs two numbers for each dimension: got 1}}
  %0 = stablehlo.convolution(%a, %a) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1]]} {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
}

// -----

func.func @constant() {
  // expected-error@+1 {{expected the elements of a tensor: got 1 : i32}}
  %0 = stablehlo.constant 1 : i32
}

// -----

func.func @applied(%a: tensor<2xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{only a commutative op of stablehlo with two operands and one result can be applied: got stablehlo.divide}}
  %0 = stablehlo.reduce(%a init: %i) applies stablehlo.divide across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
}

// -----

func.func @applied_to_nothing() {
  // expected-error@+1 {{reduce needs an input to apply an op to}}
  stablehlo.reduce applies stablehlo.add across dimensions = [0] : () -> ()
}

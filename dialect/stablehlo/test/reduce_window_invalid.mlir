// RUN: alula-opt %s -split-input-file -verify-diagnostics

func.func @window_of_other_rank(%x: tensor<4x2xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.reduce_window': window_dimensions must have an entry for each dimension of the input: has 1, input is 'tensor<4x2xf32>'}}
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @window_not_positive(%x: tensor<4x2xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.reduce_window': window_dimensions must be positive: entry 1 is 0}}
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2, 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @window_unknown(%x: tensor<4x2xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.reduce_window': window_dimensions must be positive: entry 1 is -9223372036854775808}}
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2, -9223372036854775808>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @window_strides_too_few(%x: tensor<4x2xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.reduce_window': window_strides must have an entry for each window dimension: 2 dimensions, 1 entries}}
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @window_strides_not_positive(%x: tensor<4x2xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.reduce_window': window_strides must be positive: entry 0 is 0}}
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @base_dilations_too_few(%x: tensor<4x2xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.reduce_window': base_dilations must have an entry for each window dimension: 2 dimensions, 1 entries}}
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2, 1>, base_dilations = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @base_dilations_not_positive(%x: tensor<4x2xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.reduce_window': base_dilations must be positive: entry 0 is 0}}
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2, 1>, base_dilations = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @window_dilations_too_few(%x: tensor<4x2xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.reduce_window': window_dilations must have an entry for each window dimension: 2 dimensions, 1 entries}}
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2, 1>, window_dilations = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @window_dilations_not_positive(%x: tensor<4x2xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.reduce_window': window_dilations must be positive: entry 0 is 0}}
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2, 1>, window_dilations = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @padding_too_short(%x: tensor<4x2xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.reduce_window': padding must have a pair for each window dimension: 2 dimensions, 1 pairs}}
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2, 1>, padding = dense<0> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @padding_of_triples(%x: tensor<4x2xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.reduce_window': padding must have shape [N, 2]: is [2, 3]}}
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2, 1>, padding = dense<0> : tensor<2x3xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @padding_of_rank_1(%x: tensor<4x2xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.reduce_window': padding must have shape [N, 2]: is [2]}}
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2, 1>, padding = dense<0> : tensor<2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @padding_too_long(%x: tensor<4x2xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.reduce_window': padding must have at most 1048576 pairs: has 1099511627776}}
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2, 1>, padding = dense<0> : tensor<1099511627776x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @padding_overflows(%x: tensor<4x2xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.reduce_window': padded and dilated sizes must fit in 64 bits: dimension 0 of size 4 does not}}
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2, 1>, padding = dense<9223372036854775807> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @dilation_overflows(%x: tensor<4x2xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.reduce_window': padded and dilated sizes must fit in 64 bits: dimension 0 of size 4 does not}}
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2, 1>, base_dilations = array<i64: 9223372036854775807, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @wrong_result(%x: tensor<4x2xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{result types must agree with the inferred ones: inferred 'tensor<3x2xf32>', got 'tensor<2x2xf32>'}}
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @no_inputs() {
  // expected-error@+1 {{'stablehlo.reduce_window': number of inputs and init_values must be equal and at least 1: 0 operands}}
  "stablehlo.reduce_window"() <{window_dimensions = array<i64>}> ({
    stablehlo.return
  }) : () -> ()
  return
}

// -----

func.func @body_takes_three(%x: tensor<4x2xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.reduce_window': body must take 2 arguments: takes 3}}
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  return
}

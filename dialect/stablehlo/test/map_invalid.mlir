// RUN: alula-opt %s -split-input-file -verify-diagnostics

func.func @no_input() {
  // expected-error@+1 {{'stablehlo.map': needs an input: has none}}
  %0 = "stablehlo.map"() ({
    %1 = stablehlo.constant dense<1.0> : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {dimensions = array<i64: 0>} : () -> tensor<2xf32>
  return
}

// -----

func.func @shapes(%a: tensor<2xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{'stablehlo.map': shapes must be compatible}}
  %0 = "stablehlo.map"(%a, %b) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @dimensions(%a: tensor<2x3xf32>) {
  // expected-error@+1 {{'stablehlo.map': dimensions must be those of the inputs in order: are [1, 0] for rank 2}}
  %0 = "stablehlo.map"(%a) ({
  ^bb0(%x: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) {dimensions = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @arity(%a: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.map': computation must take a scalar of each input: takes 2 for 1 inputs}}
  %0 = "stablehlo.map"(%a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @argument(%a: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.map': computation must take a scalar of each input: argument 0 must be 'tensor<f32>', is 'tensor<2xf32>'}}
  %0 = "stablehlo.map"(%a) ({
  ^bb0(%x: tensor<2xf32>):
    stablehlo.return %x : tensor<2xf32>
  }) {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @returned(%a: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.map': computation must return one scalar: returns 'tensor<f32>', 'tensor<f32>'}}
  %0 = "stablehlo.map"(%a) ({
  ^bb0(%x: tensor<f32>):
    stablehlo.return %x, %x : tensor<f32>, tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @result_element(%a: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.map': result types must agree with the inferred ones: inferred 'tensor<2xf32>', got 'tensor<2xf64>'}}
  %0 = "stablehlo.map"(%a) ({
  ^bb0(%x: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2xf64>
  return
}

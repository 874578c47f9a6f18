// RUN: alula-opt %s -split-input-file -verify-diagnostics

func.func @dimension_too_large(%x: tensor<2x3xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.reduce': dimensions must be in range [0, 2): 2 is not}}
  %0 = "stablehlo.reduce"(%x, %z) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {dimensions = array<i64: 2>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @dimension_negative(%x: tensor<2x3xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.reduce': dimensions must be in range [0, 2): -1 is not}}
  %0 = "stablehlo.reduce"(%x, %z) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {dimensions = array<i64: -1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @dimension_twice(%x: tensor<2x3xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.reduce': dimensions must be unique: 1 is repeated}}
  %0 = "stablehlo.reduce"(%x, %z) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {dimensions = array<i64: 1, 1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @no_inputs() {
  // expected-error@+1 {{'stablehlo.reduce': number of inputs and init_values must be equal and at least 1: 0 operands}}
  "stablehlo.reduce"() ({
    stablehlo.return
  }) {dimensions = array<i64>} : () -> ()
  return
}

// -----

func.func @shapes_differ(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.reduce': inputs must have compatible shapes: are 'tensor<2x3xf32>', 'tensor<2x4xf32>'}}
  %0:2 = "stablehlo.reduce"(%x, %y, %z, %z) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    stablehlo.return %a, %b : tensor<f32>, tensor<f32>
  }) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<2x4xf32>, tensor<f32>, tensor<f32>) -> (tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @init_is_no_scalar(%x: tensor<2x3xf32>, %z: tensor<1xf32>) {
  // expected-error@+1 {{'stablehlo.reduce': init_values must be 0-dimensional: init_value 0 is 'tensor<1xf32>'}}
  %0 = "stablehlo.reduce"(%x, %z) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<1xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @init_of_other_type(%x: tensor<2x3xf32>, %z: tensor<f64>) {
  // expected-error@+1 {{'stablehlo.reduce': element types of inputs and init_values must be equal: input 0 is 'tensor<2x3xf32>', init_value 0 is 'tensor<f64>'}}
  %0 = "stablehlo.reduce"(%x, %z) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<f64>) -> tensor<2xf32>
  return
}

// -----

func.func @wrong_result(%x: tensor<2x3xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{result types must agree with the inferred ones: inferred 'tensor<2xf32>', got 'tensor<3xf32>'}}
  %0 = "stablehlo.reduce"(%x, %z) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
  return
}

// -----

func.func @body_takes_three(%x: tensor<2x3xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.reduce': body must take 2 arguments: takes 3}}
  %0 = "stablehlo.reduce"(%x, %z) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @body_returns_nothing(%x: tensor<2x3xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.reduce': body must return 1 values: returns 0}}
  %0 = "stablehlo.reduce"(%x, %z) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return
  }) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @body_returns_vector(%x: tensor<2x3xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.reduce': body must return 0-dimensional tensors: value 0 is 'tensor<2xf32>'}}
  %0 = "stablehlo.reduce"(%x, %z) ({
  ^bb0(%a: tensor<2xf32>, %b: tensor<2xf32>):
    %s = stablehlo.add %a, %b : tensor<2xf32>
    stablehlo.return %s : tensor<2xf32>
  }) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @body_types_differ(%x: tensor<2x3xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.reduce': body must take what it returns: argument 1 is 'tensor<i32>', value 0 is 'tensor<f32>'}}
  %0 = "stablehlo.reduce"(%x, %z) ({
  ^bb0(%a: tensor<f32>, %b: tensor<i32>):
    stablehlo.return %a : tensor<f32>
  }) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @body_narrows(%x: tensor<2x3xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.reduce': body must return an element type that 'f32' is promotable to: value 0 is 'tensor<f16>'}}
  %0 = "stablehlo.reduce"(%x, %z) ({
  ^bb0(%a: tensor<f16>, %b: tensor<f16>):
    %s = stablehlo.add %a, %b : tensor<f16>
    stablehlo.return %s : tensor<f16>
  }) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf16>
  return
}

// -----

func.func @body_of_other_kind(%x: tensor<2x3xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.reduce': body must return an element type that 'f32' is promotable to: value 0 is 'tensor<i64>'}}
  %0 = "stablehlo.reduce"(%x, %z) ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %s = stablehlo.add %a, %b : tensor<i64>
    stablehlo.return %s : tensor<i64>
  }) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xi64>
  return
}

// -----

func.func @bool_is_no_integer(%x: tensor<2x3xi1>, %z: tensor<i1>) {
  // expected-error@+1 {{'stablehlo.reduce': body must return an element type that 'i1' is promotable to: value 0 is 'tensor<i32>'}}
  %0 = "stablehlo.reduce"(%x, %z) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {dimensions = array<i64: 1>} : (tensor<2x3xi1>, tensor<i1>) -> tensor<2xi32>
  return
}

// -----

func.func @quantized_with_other_expressed_type(%x: tensor<4x!quant.uniform<i8:f32, 2.0>>, %z: tensor<!quant.uniform<i8:f32, 2.0>>) {
  // expected-error@+1 {{body must return an element type that '!quant.uniform<i8:f32, 2.000000e+00>' is promotable to: value 0 is 'tensor<!quant.uniform<i32:f64, 2.000000e+00>>'}}
  %0 = "stablehlo.reduce"(%x, %z) ({
  ^bb0(%a: tensor<!quant.uniform<i32:f64, 2.0>>, %b: tensor<!quant.uniform<i32:f64, 2.0>>):
    %s = stablehlo.add %a, %b : tensor<!quant.uniform<i32:f64, 2.0>>
    stablehlo.return %s : tensor<!quant.uniform<i32:f64, 2.0>>
  }) {dimensions = array<i64: 0>} : (tensor<4x!quant.uniform<i8:f32, 2.0>>, tensor<!quant.uniform<i8:f32, 2.0>>) -> tensor<!quant.uniform<i32:f64, 2.0>>
  return
}

// RUN: alula-opt %s -split-input-file -verify-diagnostics

func.func @elements_differ(%a: tensor<f32>, %b: tensor<f64>) {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  // expected-error@+1 {{'stablehlo.rng': element types of a and b must be equal: are 'f32' and 'f64'}}
  %0 = stablehlo.rng %a, %b, %s, distribution = UNIFORM : (tensor<f32>, tensor<f64>, tensor<2xi64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @normal_integers(%a: tensor<i32>, %b: tensor<i32>) {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  // expected-error@+1 {{'stablehlo.rng': NORMAL must have a floating-point type: is 'i32'}}
  %0 = stablehlo.rng %a, %b, %s, distribution = NORMAL : (tensor<i32>, tensor<i32>, tensor<2xi64>) -> tensor<2x3xi32>
  return
}

// -----

func.func @negative_shape(%a: tensor<f32>, %b: tensor<f32>) {
  %s = stablehlo.constant dense<[2, -3]> : tensor<2xi64>
  // expected-error@+1 {{'stablehlo.rng': shape must not be negative: is [2, -3]}}
  %0 = stablehlo.rng %a, %b, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @wrong_shape(%a: tensor<f32>, %b: tensor<f32>) {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  // expected-error@+1 {{'stablehlo.rng': result types must agree with the inferred ones: inferred 'tensor<2x3xf32>', got 'tensor<2x4xf32>'}}
  %0 = stablehlo.rng %a, %b, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @wrong_rank(%a: tensor<f32>, %b: tensor<f32>, %s: tensor<2xi64>) {
  // expected-error@+1 {{'stablehlo.rng': result types must agree with the inferred ones: inferred 'tensor<?x?xf32>', got 'tensor<2xf32>'}}
  %0 = stablehlo.rng %a, %b, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @wrong_element(%a: tensor<f32>, %b: tensor<f32>) {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  // expected-error@+1 {{'stablehlo.rng': result types must agree with the inferred ones: inferred 'tensor<2x3xf32>', got 'tensor<2x3xf64>'}}
  %0 = stablehlo.rng %a, %b, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<2x3xf64>
  return
}

// -----

func.func @absurd_rank(%a: tensor<f32>, %b: tensor<f32>, %s: tensor<1000000000000xi64>) {
  // expected-error@+1 {{'stablehlo.rng': rank of result must be at most 65536: is 1000000000000}}
  %0 = stablehlo.rng %a, %b, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1000000000000xi64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @states_differ(%x: tensor<2xui64>) {
  // expected-error@+1 {{'stablehlo.rng_bit_generator': types of initial_state and output_state must be compatible: are 'tensor<2xui64>' and 'tensor<3xui64>'}}
  %0:2 = stablehlo.rng_bit_generator %x, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<3xui64>, tensor<8xui32>)
  return
}

// -----

func.func @three_fry_state(%x: tensor<3xui64>) {
  // expected-error@+1 {{'stablehlo.rng_bit_generator': THREE_FRY must have a state of 2 elements: has 3}}
  %0:2 = stablehlo.rng_bit_generator %x, algorithm = THREE_FRY : (tensor<3xui64>) -> (tensor<3xui64>, tensor<8xui32>)
  return
}

// -----

func.func @philox_state(%x: tensor<4xui64>) {
  // expected-error@+1 {{'stablehlo.rng_bit_generator': PHILOX must have a state of 2 or 3 elements: has 4}}
  %0:2 = stablehlo.rng_bit_generator %x, algorithm = PHILOX : (tensor<4xui64>) -> (tensor<4xui64>, tensor<8xui32>)
  return
}

// RUN: alula-opt %s -split-input-file -verify-diagnostics

func.func @dimension_too_large(%x: tensor<4x5xf32>) {
  // expected-error@+1 {{'stablehlo.sort': dimension must be in range [-2, 2): 2 is not}}
  %0 = "stablehlo.sort"(%x) <{dimension = 2 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @dimension_too_small(%x: tensor<4x5xf32>) {
  // expected-error@+1 {{'stablehlo.sort': dimension must be in range [-2, 2): -3 is not}}
  %0 = "stablehlo.sort"(%x) <{dimension = -3 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @scalar(%x: tensor<f32>) {
  // expected-error@+1 {{'stablehlo.sort': dimension must be in range [0, 0): 0 is not}}
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @no_inputs() {
  // expected-error@+1 {{'stablehlo.sort': number of inputs must be at least 1: is 0}}
  "stablehlo.sort"() <{dimension = 0 : i64}> ({
    %c = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : () -> ()
  return
}

// -----

func.func @shapes_differ(%x: tensor<4x5xf32>, %y: tensor<4x6xf32>) {
  // expected-error@+1 {{'stablehlo.sort': inputs must have compatible shapes: are 'tensor<4x5xf32>', 'tensor<4x6xf32>'}}
  %0:2 = "stablehlo.sort"(%x, %y) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    %e = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %e : tensor<i1>
  }) : (tensor<4x5xf32>, tensor<4x6xf32>) -> (tensor<4x5xf32>, tensor<4x6xf32>)
  return
}

// -----

func.func @wrong_result(%x: tensor<4x5xf32>) {
  // expected-error@+1 {{result types must agree with the inferred ones: inferred 'tensor<4x5xf32>', got 'tensor<4x6xf32>'}}
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4x5xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @comparator_takes_four(%x: tensor<4x5xf32>) {
  // expected-error@+1 {{'stablehlo.sort': comparator must take 2 arguments: takes 4}}
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    %e = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %e : tensor<i1>
  }) : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @comparator_of_other_type(%x: tensor<4x5xf32>) {
  // expected-error@+1 {{'stablehlo.sort': comparator argument 1 must be 'tensor<f32>': is 'tensor<i32>'}}
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<i32>):
    %c = stablehlo.compare LT, %a, %a : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @comparator_returns_two(%x: tensor<4x5xf32>) {
  // expected-error@+1 {{'stablehlo.sort': comparator must return 1 values: returns 2}}
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c, %c : tensor<i1>, tensor<i1>
  }) : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @comparator_returns_float(%x: tensor<4x5xf32>) {
  // expected-error@+1 {{'stablehlo.sort': comparator must return tensor<i1>: returns 'tensor<f32>'}}
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @comparator_without_return(%x: tensor<4x5xf32>) {
  // expected-error@+1 {{'stablehlo.sort': comparator must end in stablehlo.return: does not}}
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "func.return"() : () -> ()
  }) : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}

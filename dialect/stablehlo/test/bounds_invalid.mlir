// RUN: alula-opt %s -split-input-file -verify-diagnostics

// What is inferred about bounds shows where a result contradicts it.

func.func @concatenate(%a: tensor<?xf32, #stablehlo.bounds<3>>, %b: tensor<4xf32>) {
  // expected-error@+1 {{inferred 'tensor<?xf32, #stablehlo.bounds<7>>', got 'tensor<8xf32>'}}
  %0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<?xf32, #stablehlo.bounds<3>>, tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @pad(%a: tensor<?xf32, #stablehlo.bounds<3>>, %p: tensor<f32>) {
  // expected-error@+1 {{inferred 'tensor<?xf32, #stablehlo.bounds<7>>', got 'tensor<8xf32>'}}
  %0 = stablehlo.pad %a, %p, low = [1], high = [1], interior = [1] : (tensor<?xf32, #stablehlo.bounds<3>>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @transpose(%a: tensor<?x2xf32, #stablehlo.bounds<3, ?>>) {
  // expected-error@+1 {{inferred 'tensor<2x?xf32, #stablehlo.bounds<?, 3>>', got 'tensor<2x4xf32>'}}
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<?x2xf32, #stablehlo.bounds<3, ?>>) -> tensor<2x4xf32>
  return
}

// -----

func.func @broadcast(%a: tensor<?xf32, #stablehlo.bounds<3>>) {
  // expected-error@+1 {{inferred 'tensor<2x?xf32, #stablehlo.bounds<?, 3>>', got 'tensor<2x4xf32>'}}
  %0 = stablehlo.broadcast %a, sizes = [2] : (tensor<?xf32, #stablehlo.bounds<3>>) -> tensor<2x4xf32>
  return
}

// -----

func.func @set_dimension_size(%a: tensor<3xf32>, %n: tensor<i32>) {
  // expected-error@+1 {{inferred 'tensor<?xf32, #stablehlo.bounds<3>>', got 'tensor<4xf32>'}}
  %0 = stablehlo.set_dimension_size %a, %n, dim = 0 : (tensor<3xf32>, tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @set_dimension_size_to_bound(%a: tensor<?xf32, #stablehlo.bounds<3>>) {
  %n = stablehlo.constant dense<3> : tensor<i32>
  // expected-error@+1 {{inferred 'tensor<3xf32>', got 'tensor<2xf32>'}}
  %0 = stablehlo.set_dimension_size %a, %n, dim = 0 : (tensor<?xf32, #stablehlo.bounds<3>>, tensor<i32>) -> tensor<2xf32>
  return
}

// -----

func.func @compare(%a: tensor<?xf32, #stablehlo.bounds<3>>, %b: tensor<?xf32, #stablehlo.bounds<5>>) {
  // expected-error@+1 {{shapes must be compatible: operand 0 is 'tensor<?xf32, #stablehlo.bounds<3>>', result 0 is 'tensor<4xi1>'}}
  %0 = stablehlo.compare EQ, %a, %b : (tensor<?xf32, #stablehlo.bounds<3>>, tensor<?xf32, #stablehlo.bounds<5>>) -> tensor<4xi1>
  return
}

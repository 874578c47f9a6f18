// RUN: alula-opt %s -split-input-file -verify-diagnostics

func.func @entries(%a: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.slice': start_indices, limit_indices and strides must have an entry for each dimension: have 2, 2 and 2, operand is 'tensor<4xf32>'}}
  %0 = stablehlo.slice %a [0:1, 0:1] : (tensor<4xf32>) -> tensor<1x1xf32>
  return
}

// -----

func.func @start(%a: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.slice': start must not be negative: is -1 in dimension 0}}
  %0 = stablehlo.slice %a [-1:1] : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @order(%a: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.slice': start must not exceed limit: start 3, limit 2 in dimension 0}}
  %0 = stablehlo.slice %a [3:2] : (tensor<4xf32>) -> tensor<0xf32>
  return
}

// -----

func.func @limit(%a: tensor<2x4xf32>) {
  // expected-error@+1 {{'stablehlo.slice': limit must not exceed the dimension size: limit 5, size 4 in dimension 1}}
  %0 = stablehlo.slice %a [0:2, 0:5] : (tensor<2x4xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @bound(%a: tensor<?xf32, #stablehlo.bounds<4>>) {
  // expected-error@+1 {{'stablehlo.slice': limit must not exceed the dimension bound: limit 5, bound 4 in dimension 0}}
  %0 = stablehlo.slice %a [0:5] : (tensor<?xf32, #stablehlo.bounds<4>>) -> tensor<5xf32>
  return
}

// -----

func.func @stride(%a: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.slice': stride must be positive: is 0 in dimension 0}}
  %0 = stablehlo.slice %a [0:4:0] : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @result(%a: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.slice': result types must agree with the inferred ones: inferred 'tensor<2xf32>', got 'tensor<3xf32>'}}
  %0 = stablehlo.slice %a [0:4:2] : (tensor<4xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @dynamic_starts(%a: tensor<4xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{'stablehlo.dynamic_slice': start_indices must have an entry for each dimension: has 2, operand is 'tensor<4xf32>'}}
  %0 = stablehlo.dynamic_slice %a, %i, %i, sizes = [1] : (tensor<4xf32>, tensor<i32>, tensor<i32>) -> tensor<1xf32>
  return
}

// -----

func.func @dynamic_start_types(%a: tensor<4x4xf32>, %i: tensor<i32>, %j: tensor<i64>) {
  // expected-error@+1 {{'stablehlo.dynamic_slice': start_indices must have one type: 0 is 'tensor<i32>', 1 is 'tensor<i64>'}}
  %0 = stablehlo.dynamic_slice %a, %i, %j, sizes = [1, 1] : (tensor<4x4xf32>, tensor<i32>, tensor<i64>) -> tensor<1x1xf32>
  return
}

// -----

func.func @dynamic_sizes(%a: tensor<4xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{'stablehlo.dynamic_slice': slice_sizes must have an entry for each dimension: has 2, operand is 'tensor<4xf32>'}}
  %0 = stablehlo.dynamic_slice %a, %i, sizes = [1, 1] : (tensor<4xf32>, tensor<i32>) -> tensor<1xf32>
  return
}

// -----

func.func @dynamic_negative(%a: tensor<4xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{'stablehlo.dynamic_slice': start must not exceed limit: start 0, limit -1 in dimension 0}}
  %0 = stablehlo.dynamic_slice %a, %i, sizes = [-1] : (tensor<4xf32>, tensor<i32>) -> tensor<1xf32>
  return
}

// -----

func.func @dynamic_large(%a: tensor<4xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{'stablehlo.dynamic_slice': limit must not exceed the dimension size: limit 5, size 4 in dimension 0}}
  %0 = stablehlo.dynamic_slice %a, %i, sizes = [5] : (tensor<4xf32>, tensor<i32>) -> tensor<5xf32>
  return
}

// -----

func.func @update_element(%a: tensor<4xf32>, %u: tensor<2xf64>, %i: tensor<i32>) {
  // expected-error@+1 {{'stablehlo.dynamic_update_slice': update must have the operand's element type: operand is 'tensor<4xf32>', update is 'tensor<2xf64>'}}
  %0 = stablehlo.dynamic_update_slice %a, %u, %i : (tensor<4xf32>, tensor<2xf64>, tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @update_rank(%a: tensor<4xf32>, %u: tensor<1x2xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{'stablehlo.dynamic_update_slice': update must have the operand's rank: operand is 'tensor<4xf32>', update is 'tensor<1x2xf32>'}}
  %0 = stablehlo.dynamic_update_slice %a, %u, %i : (tensor<4xf32>, tensor<1x2xf32>, tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @update_starts(%a: tensor<4xf32>, %u: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.dynamic_update_slice': start_indices must have an entry for each dimension: has 0, operand is 'tensor<4xf32>'}}
  %0 = stablehlo.dynamic_update_slice %a, %u : (tensor<4xf32>, tensor<2xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @update_large(%a: tensor<4xf32>, %u: tensor<5xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{'stablehlo.dynamic_update_slice': update must not be larger than the operand: operand is 'tensor<4xf32>', update is 'tensor<5xf32>'}}
  %0 = stablehlo.dynamic_update_slice %a, %u, %i : (tensor<4xf32>, tensor<5xf32>, tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @real_result(%a: tensor<4xf32>, %i: tensor<1xi32>) {
  // expected-error@+1 {{'stablehlo.real_dynamic_slice': result must have the operand's element type and rank: operand is 'tensor<4xf32>', result is 'tensor<?x?xf32>'}}
  %0 = stablehlo.real_dynamic_slice %a, %i, %i, %i : (tensor<4xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @real_entries(%a: tensor<4xf32>, %i: tensor<1xi32>, %j: tensor<2xi32>) {
  // expected-error@+1 {{'stablehlo.real_dynamic_slice': strides must have an entry for each dimension: has 2, operand is 'tensor<4xf32>'}}
  %0 = stablehlo.real_dynamic_slice %a, %i, %i, %j : (tensor<4xf32>, tensor<1xi32>, tensor<1xi32>, tensor<2xi32>) -> tensor<?xf32>
  return
}

// -----

func.func @real_size(%a: tensor<4xf32>) {
  %0 = stablehlo.constant dense<0> : tensor<1xi32>
  %1 = stablehlo.constant dense<1> : tensor<1xi32>
  %3 = stablehlo.constant dense<3> : tensor<1xi32>
  // expected-error@+1 {{'stablehlo.real_dynamic_slice': result must have the size that is taken: is 2 in dimension 0, taken are 3}}
  %4 = stablehlo.real_dynamic_slice %a, %0, %3, %1 : (tensor<4xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
  return
}

// -----

func.func @keeps_quantization(%a: tensor<4x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1 {{'stablehlo.slice': quantized element types must be equal: operand 0 has '!quant.uniform<i8:f32, 1.000000e+00>', result 0 has '!quant.uniform<i8:f32, 2.000000e+00>'}}
  %0 = stablehlo.slice %a [0:1] : (tensor<4x!quant.uniform<i8:f32, 1.0>>) -> tensor<1x!quant.uniform<i8:f32, 2.0>>
  return
}

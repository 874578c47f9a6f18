// RUN: alula-opt --split-input-file --verify-diagnostics %s

func.func @main(%x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error@+2 {{'chlo.broadcast_add': shapes can't be broadcast: tensor<2xf32> and tensor<3xf32>}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo.broadcast_add %x, %y
      : (tensor<2xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @main(%x: tensor<2xf32>, %y: tensor<2xf64>) {
  // expected-error@+2 {{'chlo.broadcast_add': element types must be compatible: tensor<2xf32> and tensor<2xf64>}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo.broadcast_add %x, %y
      : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  return
}

// -----

func.func @main(%x: tensor<2xf32>, %y: tensor<2x3xf32>) {
  // expected-error@+2 {{'chlo.broadcast_add': broadcast_dimensions must name each dimension of the operand of lower rank: [0, 1] for tensor<2xf32>}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo.broadcast_add %x, %y {broadcast_dimensions = array<i64: 0, 1>}
      : (tensor<2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main(%x: tensor<2xf32>, %y: tensor<2x3xf32>) {
  // expected-error@+2 {{'chlo.broadcast_add': broadcast_dimensions must increase and be below the rank: [2] with rank 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo.broadcast_add %x, %y {broadcast_dimensions = array<i64: 2>}
      : (tensor<2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main(%x: tensor<2xf32>, %y: tensor<2x3xf32>) {
  // expected-error@+2 {{'chlo.broadcast_add': shapes can't be broadcast: tensor<2xf32> and tensor<2x3xf32> with broadcast_dimensions [1]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo.broadcast_add %x, %y {broadcast_dimensions = array<i64: 1>}
      : (tensor<2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @main(%p: tensor<3xi1>, %x: tensor<2xf32>) {
  // expected-error@+2 {{'chlo.broadcast_select': shapes can't be broadcast: pred 'tensor<3xi1>' and 'tensor<2xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo.broadcast_select %p, %x, %x
      : (tensor<3xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @main(%x: tensor<f32>) {
  // expected-error@+2 {{'chlo.top_k': rank of operand must be at least 1: is 0}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:2 = chlo.top_k(%x, k = 1)
      : tensor<f32> -> (tensor<1xf32>, tensor<1xi32>)
  return
}

// -----

func.func @main(%x: tensor<2xf32>) {
  // expected-error@+2 {{'chlo.top_k': k must not be negative: is -1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:2 = chlo.top_k(%x, k = -1)
      : tensor<2xf32> -> (tensor<1xf32>, tensor<1xi32>)
  return
}

// -----

func.func @main(%x: tensor<2xf32>) {
  // expected-error@+2 {{'chlo.top_k': last dimension of operand must be at least k: 2 with k 3}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:2 = chlo.top_k(%x, k = 3)
      : tensor<2xf32> -> (tensor<3xf32>, tensor<3xi32>)
  return
}

// -----

func.func @main(%x: tensor<2xi1>) {
  // expected-error@+1 {{'chlo.mulhi' op operand #0 must be ranked tensor of 2/4/8/16/32/64-bit integer}}
  %0 = chlo.mulhi %x, %x : tensor<2xi1>, tensor<2xi1> -> tensor<2xi1>
  return
}

// -----

func.func @main(%x: tensor<2xi32>) {
  // expected-error@+1 {{'chlo.is_inf' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float}}
  %0 = chlo.is_inf %x : tensor<2xi32> -> tensor<2xi1>
  return
}

// -----

func.func @main(%x: tensor<2xi32>) {
  // expected-error@+2 {{'chlo.constant_like': value must be a scalar: it is shaped}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "chlo.constant_like"(%x) <{value = dense<1> : tensor<2xi32>}>
      : (tensor<2xi32>) -> tensor<2xi32>
  return
}

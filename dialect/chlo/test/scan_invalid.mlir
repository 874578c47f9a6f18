// RUN: alula-opt --split-input-file --verify-diagnostics %s

func.func @main(%i0: tensor<2x3xf32>, %c0: tensor<3xf32>) {
  // expected-error@+1 {{'chlo.scan': scan dimension must be below the rank of each input: 2, input 0 has rank 2}}
  %0:1 = chlo.scan(%i0) inits (%c0) dimension=2 {
  ^bb0(%a0: tensor<3xf32>, %a1: tensor<3xf32>):
    stablehlo.return %a1 : tensor<3xf32>
  } : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<3xf32>)
  return
}

// -----

func.func @main(%i0: tensor<2x3xf32>, %i1: tensor<4x3xf32>, %c0: tensor<3xf32>) {
  // expected-error@+1 {{'chlo.scan': scan dimension of each input must have one size: input 1 has 4, expected 2}}
  %0:1 = chlo.scan(%i0, %i1) inits (%c0) dimension=0 {
  ^bb0(%a0: tensor<3xf32>, %a1: tensor<3xf32>, %a2: tensor<3xf32>):
    stablehlo.return %a1 : tensor<3xf32>
  } : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<3xf32>) -> (tensor<3xf32>)
  return
}

// -----

func.func @main(%i0: tensor<2x3xf32>, %c0: tensor<3xf32>) {
  // expected-error@+1 {{'chlo.scan': body must have an argument for each operand: 1 arguments, 2 operands}}
  %0:1 = chlo.scan(%i0) inits (%c0) dimension=0 {
  ^bb0(%a0: tensor<3xf32>):
    stablehlo.return %a0 : tensor<3xf32>
  } : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<3xf32>)
  return
}

// -----

func.func @main(%i0: tensor<2x3xf32>, %c0: tensor<3xf32>) {
  // expected-error@+1 {{'chlo.scan': types of operand's slice and body argument 1 must be compatible: 'tensor<3xf32>' and 'tensor<2xf32>'}}
  %0:1 = chlo.scan(%i0) inits (%c0) dimension=0 {
  ^bb0(%a0: tensor<3xf32>, %a1: tensor<2xf32>):
    stablehlo.return %a0 : tensor<3xf32>
  } : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<3xf32>)
  return
}

// -----

func.func @main(%i0: tensor<2x3xf32>, %i1: tensor<2x3xi1>, %c0: tensor<3xf32>) {
  // expected-error@+1 {{'chlo.scan': types of carry 0 must be compatible: init is 'tensor<3xf32>', body returns 'tensor<3xi1>'}}
  %0:1 = chlo.scan(%i0, %i1) inits (%c0) dimension=0 {
  ^bb0(%a0: tensor<3xf32>, %a1: tensor<3xi1>, %a2: tensor<3xf32>):
    stablehlo.return %a1 : tensor<3xi1>
  } : (tensor<2x3xf32>, tensor<2x3xi1>, tensor<3xf32>) -> (tensor<3xi1>)
  return
}

// -----

func.func @main(%i0: tensor<2x3xf32>, %c0: tensor<3xf32>) {
  // expected-error@+2 {{'chlo.scan': body must return each carry: returns 0 values for 1 carries}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:1 = chlo.scan(%i0) inits (%c0) dimension=0 {
  ^bb0(%a0: tensor<3xf32>, %a1: tensor<3xf32>):
    stablehlo.return
  } : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<3xf32>)
  return
}

// -----

func.func @main(%i0: tensor<2x3xf32>, %c0: tensor<2xf32>, %c1: tensor<f32>) {
  // expected-error@+2 {{'chlo.scan': scan dimension must be at most the rank of each output's slice: 1 with rank 0}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:3 = chlo.scan(%i0) inits (%c0, %c1) dimension=1 {
  ^bb0(%a0: tensor<2xf32>, %a1: tensor<2xf32>, %a2: tensor<f32>):
    stablehlo.return %a2, %a1, %a2 : tensor<f32>, tensor<2xf32>, tensor<f32>
  } : (tensor<2x3xf32>, tensor<2xf32>, tensor<f32>) -> (tensor<3xf32>, tensor<2xf32>, tensor<f32>)
  return
}

// -----

func.func @main(%c0: tensor<3xf32>) {
  // expected-error@+1 {{'chlo.scan': needs an input or an output: has none}}
  %0:1 = chlo.scan() inits (%c0) dimension=0 {
  ^bb0(%a0: tensor<3xf32>):
    stablehlo.return %a0 : tensor<3xf32>
  } : (tensor<3xf32>) -> (tensor<3xf32>)
  return
}

// -----

func.func @main(%x: tensor<2x3xf32>, %c: tensor<3xf32>) {
  %0 = chlo.scan(%x) inits (%c) dimension=0 {
  ^bb0(%a: tensor<3xf32>, %b: tensor<3xf32>):
    stablehlo.return %b : tensor<3xf32>
  // expected-error@+1 {{expected a type for each operand: 1 types, 2 operands}}
  } : (tensor<2x3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @main(%x: tensor<2x3xf32>, %c: tensor<3xf32>) {
  %0 = chlo.scan(%x) inits (%c) dimension=0 {
  ^bb0(%a: tensor<3xf32>, %b: tensor<3xf32>):
    stablehlo.return %b : tensor<3xf32>
  // expected-error@+1 {{expected a result for each carry: 0 results, 1 carries}}
  } : (tensor<2x3xf32>, tensor<3xf32>) -> ()
  return
}

// -----

func.func @main(%x: tensor<2x3xf32>, %c: tensor<3xf32>) {
  // expected-error@+2 {{'chlo.scan': body must return ranked tensors: value 0 is none}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = chlo.scan(%x) inits (%c) dimension=0 {
  ^bb0(%a: tensor<3xf32>, %b: tensor<3xf32>):
    %token = stablehlo.create_token : !stablehlo.token
    stablehlo.return %token : !stablehlo.token
  } : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// RUN: alula-opt %s -split-input-file -verify-diagnostics -schedule-convert-tensors-to-commands

func.func @op(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'stablehlo.negate': no native code: on the host}}
  %0 = stablehlo.negate %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error@+1 {{'func.func': no native code: values of type 'index'}}
func.func @argument(%n: index) {
  return
}

// -----

func.func @tensors(%a: tensor<4xf32>) {
  // expected-error@+1 {{'arith.constant': no native code: on tensors on the host}}
  %0 = arith.constant dense<1> : tensor<4xi32>
  return
}

// -----

func.func @element(%a: tensor<4xf32>) {
  // expected-error@+1 {{'stablehlo.constant': no native code: values of type 'tensor<!quant.uniform<i8:f32, 1.000000e+00>>'}}
  %0 = stablehlo.constant() {value = dense<1> : tensor<i8>} : () -> tensor<!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @dim(%a: tensor<?xf32>, %i: tensor<i32>) {
  %n = tensor.extract %i[] : tensor<i32>
  %k = arith.index_cast %n : i32 to index
  // expected-error@+1 {{'tensor.dim': number of the dimension must be a constant in range}}
  %d = tensor.dim %a, %k : tensor<?xf32>
  return
}

// -----

func.func @extract(%a: tensor<f32>) {
  // expected-error@+1 {{'tensor.extract': no native code: of 'tensor<f32>' on the host}}
  %n = tensor.extract %a[] : tensor<f32>
  return
}

// -----

// expected-error@+1 {{'func.func': body must be one block: @blocks}}
func.func @blocks() {
  cf.br ^bb1
^bb1:
  return
}

// -----

func.func private @token(%t: !stablehlo.token) -> !stablehlo.token {
  return %t : !stablehlo.token
}
func.func @call(%t: !stablehlo.token) -> !stablehlo.token {
  // expected-error@+1 {{'func.call': no native code: values of type '!stablehlo.token'}}
  %0 = func.call @token(%t) : (!stablehlo.token) -> !stablehlo.token
  return %0 : !stablehlo.token
}

// -----

func.func @sizes(%a: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call': sizes of a dynamic result must stand in an operand: result 0 is 'tensor<?xf32>'}}
  %0 = stablehlo.custom_call @f(%a) : (tensor<2xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @tuple(%a: tensor<2xf32>) {
  // expected-error@+1 {{'stablehlo.custom_call': no native code: of such types: 'f'}}
  %0 = stablehlo.custom_call @f(%a) : (tensor<2xf32>) -> tuple<tensor<2xf32>>
  return
}

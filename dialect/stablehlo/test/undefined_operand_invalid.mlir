// RUN: alula-opt %s -split-input-file -verify-diagnostics

// A region that defines the name of an operand does not define the operand.

func.func @reduced(%x: tensor<4x5xf32>, %zero: tensor<f32>) {
  // expected-error@+1 {{use of undeclared SSA value name}}
  %0 = stablehlo.reduce(%x init: %s) across dimensions = [1] : (tensor<4x5xf32>, tensor<f32>) -> tensor<4xf32>
    reducer(%a: tensor<f32>, %b: tensor<f32>) {
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }
  return
}

// -----

func.func @repeated() {
  // expected-error@+1 {{use of undeclared SSA value name}}
  %0 = stablehlo.while(%i = %s) : tensor<i32>
    cond {
      %s = stablehlo.constant dense<1> : tensor<i32>
      %c = stablehlo.compare LT, %i, %s : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      stablehlo.return %i : tensor<i32>
    }
  return
}

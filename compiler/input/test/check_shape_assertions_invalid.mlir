// RUN: alula-opt --split-input-file --verify-diagnostics --input-check-shape-assertions %s

func.func @fails() {
  %false = stablehlo.constant dense<false> : tensor<i1>
  %n = stablehlo.constant dense<7> : tensor<i32>
  %m = stablehlo.constant dense<-1> : tensor<i64>
  // expected-error@+1 {{shape assertion failed: b is -1, not 7 {as said} {5}}}
  stablehlo.custom_call @shape_assertion(%false, %n, %m)
      {error_message = "b is {1}, not {0} {{as said}} {5}",
       has_side_effect = true}
      : (tensor<i1>, tensor<i32>, tensor<i64>) -> ()
  return
}

// -----

func.func @not_constant(%p: tensor<i1>) {
  // expected-error@+1 {{'stablehlo.custom_call': operands of a shape assertion must be constant: operand 0 is not}}
  stablehlo.custom_call @shape_assertion(%p)
      {error_message = "", has_side_effect = true} : (tensor<i1>) -> ()
  return
}

// -----

func.func @no_message(%p: tensor<i1>) {
  // expected-error@+1 {{'stablehlo.custom_call': shape assertion must have operands, no results and an error_message: has 1 operands, 0 results}}
  stablehlo.custom_call @shape_assertion(%p) {has_side_effect = true}
      : (tensor<i1>) -> ()
  return
}

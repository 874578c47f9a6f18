// RUN: alula-opt %s -split-input-file -optimize-verify-output -verify-diagnostics

func.func @known(%x: tensor<2xf32>) -> tensor<2xf32> {
  %no = stablehlo.constant dense<false> : tensor<i1>
  // expected-error@+1 {{'stablehlo.if': a branch that is known must have been taken}}
  %0 = "stablehlo.if"(%no) ({
    stablehlo.return %x : tensor<2xf32>
  }, {
    stablehlo.return %x : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @carried(%a: tensor<i1>, %n: tensor<i32>) -> tensor<i1> {
  // expected-error@+1 {{'stablehlo.while': what a loop only carries must be outside}}
  %r:2 = stablehlo.while(%i = %a, %m = %n) : tensor<i1>, tensor<i32>
    cond {
      stablehlo.return %i : tensor<i1>
    } do {
      %j = stablehlo.not %i : tensor<i1>
      stablehlo.return %j, %m : tensor<i1>, tensor<i32>
    }
  return %r#0 : tensor<i1>
}

// -----

func.func @dead(%a: tensor<i1>) {
  // expected-error@+1 {{'stablehlo.not': what nobody reads must be gone}}
  %0 = stablehlo.not %a : tensor<i1>
  return
}

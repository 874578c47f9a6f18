// RUN: alula-opt --split-input-file --verify-diagnostics --input-check-call-sizes=max-ops=17 %s

func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  // expected-error@+1 {{'func.call' op stands for 16 operations, since each call gets a copy of its function: with them 'main' has 18, more than 17}}
  %1 = call @twice(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @twice(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @four(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @four(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = call @four(%1) : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
func.func private @four(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  %1 = stablehlo.add %0, %a : tensor<4xf32>
  %2 = stablehlo.add %1, %a : tensor<4xf32>
  %3 = stablehlo.add %2, %a : tensor<4xf32>
  return %3 : tensor<4xf32>
}

// -----

// Within the limit; an op of its own that is large is no call.

func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @four(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @four(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = call @four(%1) : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
func.func private @four(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  %1 = stablehlo.add %0, %a : tensor<4xf32>
  %2 = stablehlo.add %1, %a : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// Another pass says that functions must not call themselves.

func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @main(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @other(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @other(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @main(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

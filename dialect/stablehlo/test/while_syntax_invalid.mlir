// RUN: alula-opt %s -split-input-file -verify-diagnostics

func.func @fewer_types(%x: tensor<i32>, %y: tensor<i32>) {
  // expected-error@+1 {{2 operands present, but expected 1}}
  %0:2 = stablehlo.while(%a = %x, %b = %y) : tensor<i32> cond {
    stablehlo.return
  } do {
    stablehlo.return
  }
  return
}

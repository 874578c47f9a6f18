// RUN: alula-opt --verify-diagnostics --input-refine-shapes %s

// Each function calls the next in two shapes, so that they would need 16383
// copies together.

func.func @main(%x: tensor<1xf32>) {
  %y = stablehlo.custom_call @stablehlo.shape_refinement_operand_wrapper(%x)
      : (tensor<1xf32>) -> tensor<?xf32>
  call @f1(%y) : (tensor<?xf32>) -> ()
  return
}
func.func private @f1(%x: tensor<?xf32>) {
  %one = stablehlo.constant dense<1.0> : tensor<1xf32>
  %y = stablehlo.concatenate %x, %one, dim = 0
      : (tensor<?xf32>, tensor<1xf32>) -> tensor<?xf32>
  call @f2(%x) : (tensor<?xf32>) -> ()
  call @f2(%y) : (tensor<?xf32>) -> ()
  return
}
func.func private @f2(%x: tensor<?xf32>) {
  %one = stablehlo.constant dense<1.0> : tensor<2xf32>
  %y = stablehlo.concatenate %x, %one, dim = 0
      : (tensor<?xf32>, tensor<2xf32>) -> tensor<?xf32>
  call @f3(%x) : (tensor<?xf32>) -> ()
  call @f3(%y) : (tensor<?xf32>) -> ()
  return
}
func.func private @f3(%x: tensor<?xf32>) {
  %one = stablehlo.constant dense<1.0> : tensor<4xf32>
  %y = stablehlo.concatenate %x, %one, dim = 0
      : (tensor<?xf32>, tensor<4xf32>) -> tensor<?xf32>
  call @f4(%x) : (tensor<?xf32>) -> ()
  call @f4(%y) : (tensor<?xf32>) -> ()
  return
}
func.func private @f4(%x: tensor<?xf32>) {
  %one = stablehlo.constant dense<1.0> : tensor<8xf32>
  %y = stablehlo.concatenate %x, %one, dim = 0
      : (tensor<?xf32>, tensor<8xf32>) -> tensor<?xf32>
  call @f5(%x) : (tensor<?xf32>) -> ()
  call @f5(%y) : (tensor<?xf32>) -> ()
  return
}
func.func private @f5(%x: tensor<?xf32>) {
  %one = stablehlo.constant dense<1.0> : tensor<16xf32>
  %y = stablehlo.concatenate %x, %one, dim = 0
      : (tensor<?xf32>, tensor<16xf32>) -> tensor<?xf32>
  call @f6(%x) : (tensor<?xf32>) -> ()
  call @f6(%y) : (tensor<?xf32>) -> ()
  return
}
func.func private @f6(%x: tensor<?xf32>) {
  %one = stablehlo.constant dense<1.0> : tensor<32xf32>
  %y = stablehlo.concatenate %x, %one, dim = 0
      : (tensor<?xf32>, tensor<32xf32>) -> tensor<?xf32>
  call @f7(%x) : (tensor<?xf32>) -> ()
  call @f7(%y) : (tensor<?xf32>) -> ()
  return
}
func.func private @f7(%x: tensor<?xf32>) {
  %one = stablehlo.constant dense<1.0> : tensor<64xf32>
  %y = stablehlo.concatenate %x, %one, dim = 0
      : (tensor<?xf32>, tensor<64xf32>) -> tensor<?xf32>
  call @f8(%x) : (tensor<?xf32>) -> ()
  call @f8(%y) : (tensor<?xf32>) -> ()
  return
}
func.func private @f8(%x: tensor<?xf32>) {
  %one = stablehlo.constant dense<1.0> : tensor<128xf32>
  %y = stablehlo.concatenate %x, %one, dim = 0
      : (tensor<?xf32>, tensor<128xf32>) -> tensor<?xf32>
  call @f9(%x) : (tensor<?xf32>) -> ()
  call @f9(%y) : (tensor<?xf32>) -> ()
  return
}
func.func private @f9(%x: tensor<?xf32>) {
  %one = stablehlo.constant dense<1.0> : tensor<256xf32>
  %y = stablehlo.concatenate %x, %one, dim = 0
      : (tensor<?xf32>, tensor<256xf32>) -> tensor<?xf32>
  call @f10(%x) : (tensor<?xf32>) -> ()
  call @f10(%y) : (tensor<?xf32>) -> ()
  return
}
func.func private @f10(%x: tensor<?xf32>) {
  %one = stablehlo.constant dense<1.0> : tensor<512xf32>
  %y = stablehlo.concatenate %x, %one, dim = 0
      : (tensor<?xf32>, tensor<512xf32>) -> tensor<?xf32>
  call @f11(%x) : (tensor<?xf32>) -> ()
  call @f11(%y) : (tensor<?xf32>) -> ()
  return
}
func.func private @f11(%x: tensor<?xf32>) {
  %one = stablehlo.constant dense<1.0> : tensor<1024xf32>
  %y = stablehlo.concatenate %x, %one, dim = 0
      : (tensor<?xf32>, tensor<1024xf32>) -> tensor<?xf32>
  call @f12(%x) : (tensor<?xf32>) -> ()
  call @f12(%y) : (tensor<?xf32>) -> ()
  return
}
func.func private @f12(%x: tensor<?xf32>) {
  %one = stablehlo.constant dense<1.0> : tensor<2048xf32>
  %y = stablehlo.concatenate %x, %one, dim = 0
      : (tensor<?xf32>, tensor<2048xf32>) -> tensor<?xf32>
  call @f13(%x) : (tensor<?xf32>) -> ()
  call @f13(%y) : (tensor<?xf32>) -> ()
  return
}
func.func private @f13(%x: tensor<?xf32>) {
  %one = stablehlo.constant dense<1.0> : tensor<4096xf32>
  %y = stablehlo.concatenate %x, %one, dim = 0
      : (tensor<?xf32>, tensor<4096xf32>) -> tensor<?xf32>
  // expected-error@+1 {{'func.call': functions must need at most 10000 copies: f14 is one more}}
  call @f14(%x) : (tensor<?xf32>) -> ()
  call @f14(%y) : (tensor<?xf32>) -> ()
  return
}
func.func private @f14(%x: tensor<?xf32>) {
  stablehlo.custom_call @g(%x) {has_side_effect = true}
      : (tensor<?xf32>) -> ()
  return
}

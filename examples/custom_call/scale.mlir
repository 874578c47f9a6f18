func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<4xf32>
  %scaled = stablehlo.custom_call @scale(%x) {backend_config = "2.5"} : (tensor<4xf32>) -> tensor<4xf32>
  %y = stablehlo.add %scaled, %one : tensor<4xf32>
  return %y : tensor<4xf32>
}

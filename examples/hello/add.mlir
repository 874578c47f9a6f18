func.func public @add(%x: tensor<2x2xf32>, %y: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %sum = stablehlo.add %x, %y : tensor<2x2xf32>
  return %sum : tensor<2x2xf32>
}

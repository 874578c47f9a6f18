// Two constants that are no splats: one small, one large.
func.func public @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2x4xi64>) {
  %small = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %large = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8]]> : tensor<2x4xi64>
  %y = stablehlo.add %x, %small : tensor<4xf32>
  return %y, %large : tensor<4xf32>, tensor<2x4xi64>
}

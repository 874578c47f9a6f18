"""A product with constant weights: every seventh is one."""

rows = [[float((64 * row + column) % 7 == 0) for column in range(64)] for row in range(64)]
print(
    f"""func.func public @main(%x: tensor<1x64xf32>) -> tensor<1x64xf32> {{
  %w = stablehlo.constant dense<{rows}> : tensor<64x64xf32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
  return %y : tensor<1x64xf32>
}}"""
)

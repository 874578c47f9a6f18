module @dense {
  func.func public @main(%x: tensor<4x32xf32>, %w: tensor<32x3xf32>, %b: tensor<3xf32>) -> tensor<4x3xf32> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x32xf32>, tensor<32x3xf32>) -> tensor<4x3xf32>
    %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<3xf32>) -> tensor<4x3xf32>
    %2 = stablehlo.add %0, %1 : tensor<4x3xf32>
    %3 = chlo.erf %2 : tensor<4x3xf32> -> tensor<4x3xf32>
    return %3 : tensor<4x3xf32>
  }
}

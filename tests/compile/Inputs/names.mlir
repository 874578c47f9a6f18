func.func public @main(%arg0: tensor<2xf32> loc("weights['b']"), %arg1: tensor<2xf32> {jax.arg_info = "x"}) -> (tensor<2xf32> {jax.result_info = "y"}) {
  %0 = stablehlo.add %arg0, %arg1 : tensor<2xf32>
  return %0 : tensor<2xf32>
}

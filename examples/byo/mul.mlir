// One product, and so one kernel: that is what comes from elsewhere.
func.func @main(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %product = stablehlo.multiply %a, %b : tensor<8xf32>
  return %product : tensor<8xf32>
}

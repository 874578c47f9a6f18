// compiles
func.func @main(%in0: tensor<2x2xf32>, %in1: tensor<2xi32>) -> (tensor<2x2xf32>) {
    %2 = "stablehlo.torch_index_select"(%in0, %in1) <{batch_dims = 0 : i64, dim = -2 : i64}> : (tensor<2x2xf32>, tensor<2xi32>) -> tensor<2x2xf32>
    "func.return"(%2) : (tensor<2x2xf32>) -> ()
}


// compiles
func.func @main(%in0: tensor<1x4x1xf32>, %in1: tensor<2x1x1xf32>, %in2: tensor<1x2xi64>) -> (tensor<1x3x1xf32>) {
    %3 = "stablehlo.dynamic_conv"(%in0, %in1, %in2) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, window_strides = array<i64>}> : (tensor<1x4x1xf32>, tensor<2x1x1xf32>, tensor<1x2xi64>) -> tensor<1x3x1xf32>
    "func.return"(%3) : (tensor<1x3x1xf32>) -> ()
}


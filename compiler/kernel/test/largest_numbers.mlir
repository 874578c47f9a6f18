// RUN: alula-compile %s -o %t.alula
// RUN: alula-run %t.alula --function=cut --input=4xf32=1,2,3,4 --expected_output=1xf32=1
// RUN: alula-run %t.alula --function=stride --input=4xf32=1,2,3,4 --expected_output=1xf32=3
// RUN: alula-run %t.alula --function=window --input=4xf32=1,2,3,4 --expected_output=0xf32
// RUN: alula-run %t.alula --function=convolve --input=1x4x1xf32=1,2,3,4 --input=2x1x1xf32=10,1 --expected_output=1x1x1xf32=12

// Strides and sizes of 2^63 - 1 and 2^63 - 2: one window, or none.
func.func @cut(%x: tensor<4xf32>) -> tensor<1xf32> {
  %0 = "stablehlo.slice"(%x) <{start_indices = array<i64: 0>, limit_indices = array<i64: 4>, strides = array<i64: 9223372036854775807>}> : (tensor<4xf32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

func.func @stride(%x: tensor<4xf32>) -> tensor<1xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 9223372036854775806>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

func.func @window(%x: tensor<4xf32>) -> tensor<0xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 9223372036854775807>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<0xf32>
  return %0 : tensor<0xf32>
}

func.func @convolve(%x: tensor<1x4x1xf32>, %w: tensor<2x1x1xf32>) -> tensor<1x1x1xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [9223372036854775807]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x1xf32>, tensor<2x1x1xf32>) -> tensor<1x1x1xf32>
  return %0 : tensor<1x1x1xf32>
}

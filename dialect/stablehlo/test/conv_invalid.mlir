// RUN: alula-opt %s -split-input-file -verify-diagnostics

func.func @ranks_differ(%l: tensor<1x8x8x4xf32>, %r: tensor<3x4x6xf32>) {
  // expected-error@+1 {{'stablehlo.convolution': lhs and rhs must have one rank of at least 2: lhs is 'tensor<1x8x8x4xf32>', rhs is 'tensor<3x4x6xf32>'}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x4x6xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @input_spatial_count(%l: tensor<1x8x8x4xf32>, %r: tensor<3x3x4x6xf32>) {
  // expected-error@+1 {{'stablehlo.convolution': input_spatial_dimensions must have 2 entries: has 1}}
  %0 = "stablehlo.convolution"(%l, %r) <{dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1], kernel_output_feature_dimension = 3, kernel_input_feature_dimension = 2, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64}> : (tensor<1x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @kernel_spatial_count(%l: tensor<1x8x8x4xf32>, %r: tensor<3x3x4x6xf32>) {
  // expected-error@+1 {{'stablehlo.convolution': kernel_spatial_dimensions must have 2 entries: has 3}}
  %0 = "stablehlo.convolution"(%l, %r) <{dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_output_feature_dimension = 3, kernel_input_feature_dimension = 2, kernel_spatial_dimensions = [0, 1, 2], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64}> : (tensor<1x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @output_spatial_count(%l: tensor<1x8x8x4xf32>, %r: tensor<3x3x4x6xf32>) {
  // expected-error@+1 {{'stablehlo.convolution': output_spatial_dimensions must have 2 entries: has 1}}
  %0 = "stablehlo.convolution"(%l, %r) <{dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_output_feature_dimension = 3, kernel_input_feature_dimension = 2, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64}> : (tensor<1x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @input_range(%l: tensor<1x8x8x4xf32>, %r: tensor<3x3x4x6xf32>) {
  // expected-error@+1 {{'stablehlo.convolution': input dimension numbers must be in range [0, 4): 4 is not}}
  %0 = "stablehlo.convolution"(%l, %r) <{dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 4, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_output_feature_dimension = 3, kernel_input_feature_dimension = 2, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64}> : (tensor<1x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @kernel_range(%l: tensor<1x8x8x4xf32>, %r: tensor<3x3x4x6xf32>) {
  // expected-error@+1 {{'stablehlo.convolution': kernel dimension numbers must be in range [0, 4): -1 is not}}
  %0 = "stablehlo.convolution"(%l, %r) <{dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_output_feature_dimension = 3, kernel_input_feature_dimension = -1, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64}> : (tensor<1x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @output_range(%l: tensor<1x8x8x4xf32>, %r: tensor<3x3x4x6xf32>) {
  // expected-error@+1 {{'stablehlo.convolution': output dimension numbers must be in range [0, 4): 7 is not}}
  %0 = "stablehlo.convolution"(%l, %r) <{dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_output_feature_dimension = 3, kernel_input_feature_dimension = 2, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 7]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64}> : (tensor<1x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @input_repeated(%l: tensor<1x8x8x4xf32>, %r: tensor<3x3x4x6xf32>) {
  // expected-error@+1 {{'stablehlo.convolution': input dimension numbers must be unique: 0 is repeated}}
  %0 = "stablehlo.convolution"(%l, %r) <{dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [0, 2], kernel_output_feature_dimension = 3, kernel_input_feature_dimension = 2, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64}> : (tensor<1x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @kernel_repeated(%l: tensor<1x8x8x4xf32>, %r: tensor<3x3x4x6xf32>) {
  // expected-error@+1 {{'stablehlo.convolution': kernel dimension numbers must be unique: 3 is repeated}}
  %0 = "stablehlo.convolution"(%l, %r) <{dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_output_feature_dimension = 3, kernel_input_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64}> : (tensor<1x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @output_repeated(%l: tensor<1x8x8x4xf32>, %r: tensor<3x3x4x6xf32>) {
  // expected-error@+1 {{'stablehlo.convolution': output dimension numbers must be unique: 2 is repeated}}
  %0 = "stablehlo.convolution"(%l, %r) <{dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_output_feature_dimension = 3, kernel_input_feature_dimension = 2, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [2, 2]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64}> : (tensor<1x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @feature_groups_not_positive(%l: tensor<1x8x8x4xf32>, %r: tensor<3x3x4x6xf32>) {
  // expected-error@+1 {{'stablehlo.convolution': feature_group_count and batch_group_count must be positive: are 0 and 1}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 0 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @batch_groups_not_positive(%l: tensor<1x8x8x4xf32>, %r: tensor<3x3x4x6xf32>) {
  // expected-error@+1 {{'stablehlo.convolution': feature_group_count and batch_group_count must be positive: are 1 and -1}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = -1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @both_grouped(%l: tensor<1x8x8x4xf32>, %r: tensor<3x3x4x6xf32>) {
  // expected-error@+1 {{'stablehlo.convolution': feature_group_count or batch_group_count must be 1: are 2 and 2}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 2 : i64, feature_group_count = 2 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @batch_not_divisible(%l: tensor<1x8x8x4xf32>, %r: tensor<3x3x4x6xf32>) {
  // expected-error@+1 {{'stablehlo.convolution': input batch dimension size must be a multiple of batch_group_count: 1 and 2}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @features_not_divisible(%l: tensor<1x8x8x4xf32>, %r: tensor<3x3x4x6xf32>) {
  // expected-error@+1 {{'stablehlo.convolution': input feature dimension size must be a multiple of feature_group_count: 4 and 3}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 3 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @kernel_output_and_batch_groups(%l: tensor<4x8x8x4xf32>, %r: tensor<3x3x4x6xf32>) {
  // expected-error@+1 {{'stablehlo.convolution': kernel output feature dimension size must be a multiple of batch_group_count: 6 and 4}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 4 : i64, feature_group_count = 1 : i64} : (tensor<4x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @kernel_output_and_feature_groups(%l: tensor<1x8x8x4xf32>, %r: tensor<3x3x1x6xf32>) {
  // expected-error@+1 {{'stablehlo.convolution': kernel output feature dimension size must be a multiple of feature_group_count: 6 and 4}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 4 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x1x6xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @kernel_input_features(%l: tensor<1x8x8x4xf32>, %r: tensor<3x3x4x6xf32>) {
  // expected-error@+1 {{'stablehlo.convolution': kernel input feature dimension size must be that of the input divided by feature_group_count: 4 and 4 / 2}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @empty_kernel(%l: tensor<1x8x8x4xf32>, %r: tensor<0x3x4x6xf32>) {
  // expected-error@+1 {{'stablehlo.convolution': kernel spatial sizes must be positive: entry 0 is 0}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<0x3x4x6xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @window_strides_count(%l: tensor<1x8x8x4xf32>, %r: tensor<3x3x4x6xf32>) {
  // expected-error@+1 {{'stablehlo.convolution': window_strides must have an entry for each window dimension: 2 dimensions, 1 entries}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @window_strides_not_positive(%l: tensor<1x8x8x4xf32>, %r: tensor<3x3x4x6xf32>) {
  // expected-error@+1 {{'stablehlo.convolution': window_strides must be positive: entry 1 is 0}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 0]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @lhs_dilation_count(%l: tensor<1x8x8x4xf32>, %r: tensor<3x3x4x6xf32>) {
  // expected-error@+1 {{'stablehlo.convolution': lhs_dilation must have an entry for each window dimension: 2 dimensions, 1 entries}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {lhs_dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @lhs_dilation_not_positive(%l: tensor<1x8x8x4xf32>, %r: tensor<3x3x4x6xf32>) {
  // expected-error@+1 {{'stablehlo.convolution': lhs_dilation must be positive: entry 1 is 0}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {lhs_dilate = [1, 0]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @rhs_dilation_count(%l: tensor<1x8x8x4xf32>, %r: tensor<3x3x4x6xf32>) {
  // expected-error@+1 {{'stablehlo.convolution': rhs_dilation must have an entry for each window dimension: 2 dimensions, 1 entries}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {rhs_dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @rhs_dilation_not_positive(%l: tensor<1x8x8x4xf32>, %r: tensor<3x3x4x6xf32>) {
  // expected-error@+1 {{'stablehlo.convolution': rhs_dilation must be positive: entry 1 is 0}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {rhs_dilate = [1, 0]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @padding_count(%l: tensor<1x8x8x4xf32>, %r: tensor<3x3x4x6xf32>) {
  // expected-error@+1 {{'stablehlo.convolution': padding must have a pair for each window dimension: 2 dimensions, 1 pairs}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @padding_overflows(%l: tensor<1x8x8x4xf32>, %r: tensor<3x3x4x6xf32>) {
  // expected-error@+1 {{'stablehlo.convolution': padded and dilated sizes must fit in 64 bits: dimension 1 of size 8 does not}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[9223372036854775807, 9223372036854775807], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @reversal_count(%l: tensor<1x8x8x4xf32>, %r: tensor<3x3x4x6xf32>) {
  // expected-error@+1 {{'stablehlo.convolution': window_reversal must have an entry for each window dimension: 2 dimensions, 1 entries}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @precision_of_three(%l: tensor<1x8x8x4xf32>, %r: tensor<3x3x4x6xf32>) {
  // expected-error@+1 {{'stablehlo.convolution': precision_config must have at most 2 entries: has 3}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision HIGH>, #stablehlo<precision HIGH>]} : (tensor<1x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @elements_differ(%l: tensor<1x8x8x4xf32>, %r: tensor<3x3x4x6xf16>) {
  // expected-error@+1 {{'stablehlo.convolution': element types of lhs and rhs must be equal: lhs is 'f32', rhs is 'f16'}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x6xf16>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @result_rank(%l: tensor<1x8x8x4xf32>, %r: tensor<3x3x4x6xf32>) {
  // expected-error@+1 {{'stablehlo.convolution': rank of result must be 4: result is 'tensor<1x6x6xf32>'}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<1x6x6xf32>
  return
}

// -----

func.func @result_shape(%l: tensor<1x8x8x4xf32>, %r: tensor<3x3x4x6xf32>) {
  // expected-error@+1 {{'stablehlo.convolution': result shape must be [1, 6, 6, 6]: result is 'tensor<1x6x6x7xf32>'}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<1x6x6x7xf32>
  return
}

// -----

func.func @padded_result_shape(%l: tensor<1x8x8x4xf32>, %r: tensor<3x3x4x6xf32>) {
  // expected-error@+1 {{'stablehlo.convolution': result shape must be [1, 8, 4, 6]: result is 'tensor<1x6x6x6xf32>'}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 2], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @rhs_axis(%l: tensor<1x8x8x6x!quant.uniform<i8:f32, 1.0>>, %r: tensor<6x3x6x6x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}>>) {
  // expected-error@+1 {{'stablehlo.convolution': quantization dimension of rhs must be kernel_output_feature_dimension: 0 and 3}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x6x!quant.uniform<i8:f32, 1.0>>, tensor<6x3x6x6x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}>>) -> tensor<1x3x6x6x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @result_axis(%l: tensor<1x8x8x6x!quant.uniform<i8:f32, 1.0>>, %r: tensor<3x3x6x6x!quant.uniform<i8:f32:3, {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}>>) {
  // expected-error@+1 {{'stablehlo.convolution': quantization dimension of result must be output_feature_dimension: 1 and 3}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x6x!quant.uniform<i8:f32, 1.0>>, tensor<3x3x6x6x!quant.uniform<i8:f32:3, {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}>>) -> tensor<1x6x6x6x!quant.uniform<i8:f32:1, {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}>>
  return
}

// -----

func.func @only_lhs_quantized(%l: tensor<1x8x8x4x!quant.uniform<i8:f32, 1.0>>, %r: tensor<3x3x4x6xf32>) {
  // expected-error@+1 {{'stablehlo.convolution': rhs must be quantized, and lhs and result both or neither: lhs is '!quant.uniform<i8:f32, 1.000000e+00>', rhs is 'f32', result is '!quant.uniform<i8:f32, 1.000000e+00>'}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4x!quant.uniform<i8:f32, 1.0>>, tensor<3x3x4x6xf32>) -> tensor<1x6x6x6x!quant.uniform<i8:f32, 1.0>>
  return
}

// -----

func.func @dynamic_padding_shape(%l: tensor<1x8x8x4xf32>, %r: tensor<3x3x4x6xf32>, %p: tensor<2x3xi64>) {
  // expected-error@+1 {{'stablehlo.dynamic_conv': padding must have shape [2, 2]: is 'tensor<2x3xi64>'}}
  %0 = "stablehlo.dynamic_conv"(%l, %r, %p) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64}> : (tensor<1x8x8x4xf32>, tensor<3x3x4x6xf32>, tensor<2x3xi64>) -> tensor<1x?x?x6xf32>
  return
}

// -----

func.func @dynamic_ranks(%l: tensor<1xf32>, %r: tensor<3x3x4x6xf32>, %p: tensor<2x2xi64>) {
  // expected-error@+1 {{'stablehlo.dynamic_conv': lhs and rhs must have one rank of at least 2: lhs is 'tensor<1xf32>', rhs is 'tensor<3x3x4x6xf32>'}}
  %0 = "stablehlo.dynamic_conv"(%l, %r, %p) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64}> : (tensor<1xf32>, tensor<3x3x4x6xf32>, tensor<2x2xi64>) -> tensor<1x?x?x6xf32>
  return
}

// -----

func.func @dynamic_result(%l: tensor<1x8x8x4xf32>, %r: tensor<3x3x4x6xf32>, %p: tensor<2x2xi64>) {
  // expected-error@+1 {{'stablehlo.dynamic_conv': result shape must be [1, ?, ?, 6]: result is 'tensor<1x?x?x7xf32>'}}
  %0 = "stablehlo.dynamic_conv"(%l, %r, %p) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64}> : (tensor<1x8x8x4xf32>, tensor<3x3x4x6xf32>, tensor<2x2xi64>) -> tensor<1x?x?x7xf32>
  return
}

// -----

func.func @dynamic_known_padding(%l: tensor<1x8x8x4xf32>, %r: tensor<3x3x4x6xf32>) {
  %p = stablehlo.constant dense<1> : tensor<2x2xi64>
  // expected-error@+1 {{'stablehlo.dynamic_conv': result shape must be [1, 8, 8, 6]: result is 'tensor<1x6x?x6xf32>'}}
  %0 = "stablehlo.dynamic_conv"(%l, %r, %p) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64}> : (tensor<1x8x8x4xf32>, tensor<3x3x4x6xf32>, tensor<2x2xi64>) -> tensor<1x6x?x6xf32>
  return
}

// -----

func.func @absurd_spatial_number(%l: tensor<1x8x4xf32>, %r: tensor<3x4x6xf32>) {
  // expected-error@+1 {{spatial dimension 0 is missing}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 9223372036854775807, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x4xf32>, tensor<3x4x6xf32>) -> tensor<1x6x6xf32>
  return
}

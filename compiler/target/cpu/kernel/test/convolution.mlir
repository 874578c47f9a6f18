// RUN: alula-compile --target=cpu:host %s -o %t.alula
// RUN: alula-run %t.alula --function=groups --input=1x2x4x5xf32=-7,-6,-5,-4,-3,-2,-1,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32 --input=4x1x2x3xf32=-5.5,-5,-4.5,-4,-3.5,-3,-2.5,-2,-1.5,-1,-0.5,0,0.5,1,1.5,2,2.5,3,3.5,4,4.5,5,5.5,6 --expected_output=1x4x4x3xf32=54.5,38,30.5,2,0.5,-7,-50.5,-37,-44.5,-103,-74.5,-82,9.5,8,6.5,2,0.5,-1,-5.5,-7,-8.5,-13,-14.5,-16,114.5,68,72.5,152,90.5,95,189.5,113,117.5,227,135.5,140,249.5,158,168.5,332,210.5,221,414.5,263,273.5,497,315.5,326
// RUN: alula-run %t.alula --function=last --input=2x3x3xf32=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17 --input=2x3x2xf32=0,1,2,3,4,5,6,7,8,9,10,11 --expected_output=2x3x2xf32=28,31,110,125,200,233,244,274,380,449,470,557
// RUN: alula-run %t.alula --function=batches --input=2x1x4xi32=0,1,2,3,4,5,6,7 --input=2x1x2xi32=1,2,3,4 --expected_output=1x2x3xi32=2,5,8,32,39,46

// The numbers are XLA's.
module {
// Two groups; strides, padding and holes in both operands.
func.func @groups(%x: tensor<1x2x4x5xf32>, %k: tensor<4x1x2x3xf32>) -> tensor<1x4x4x3xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [2, 1], pad = [[1, 0], [0, 2]], lhs_dilate = [2, 1], rhs_dilate = [1, 2]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x2x4x5xf32>, tensor<4x1x2x3xf32>) -> tensor<1x4x4x3xf32>
  return %0 : tensor<1x4x4x3xf32>
}

func.func @last(%x: tensor<2x3x3xf32>, %k: tensor<2x3x2xf32>) -> tensor<2x3x2xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x3x3xf32>, tensor<2x3x2xf32>) -> tensor<2x3x2xf32>
  return %0 : tensor<2x3x2xf32>
}

func.func @batches(%x: tensor<2x1x4xi32>, %k: tensor<2x1x2xi32>) -> tensor<1x2x3xi32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<2x1x4xi32>, tensor<2x1x2xi32>) -> tensor<1x2x3xi32>
  return %0 : tensor<1x2x3xi32>
}
}

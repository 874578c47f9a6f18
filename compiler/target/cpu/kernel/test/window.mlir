// RUN: alula-compile --target=cpu:host %s -o %t.alula
// RUN: alula-run %t.alula --function=padded --input=3x3xf32=1,2,3,4,5,6,7,8,9 --expected_output=2x2xf32=1,5,11,28
// RUN: alula-run %t.alula --function=channels --input=4x2xi32=1,8,2,7,3,6,4,5 --expected_output=3x2xi32=2,8,3,7,4,6
// RUN: alula-run %t.alula --function=holes --input=3xi32=1,2,3 --expected_output=3xi32=1,3,5
// RUN: alula-run %t.alula --function=scan --input=4x2xi32=1,5,2,6,3,7,4,8 --expected_output=4x2xi32=10,26,9,21,7,15,4,8
// RUN: alula-run %t.alula --function=narrow --input=600xbf16 --expected_output=bf16=600
// RUN: alula-run %t.alula --function=select --input=6xf32=1,4,2,2,9,3 --input=3xf32=10,20,30 --expected_output=6xf32=0,10,0,0,50,0

// The numbers are summed by hand.
module {
func.func @padded(%x: tensor<3x3xf32>) -> tensor<2x2xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>, padding = dense<[[1, 0], [1, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<3x3xf32>, tensor<f32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

func.func @channels(%x: tensor<4x2xi32>) -> tensor<3x2xi32> {
  %low = stablehlo.constant dense<-2147483648> : tensor<i32>
  %0 = "stablehlo.reduce_window"(%x, %low) <{window_dimensions = array<i64: 2, 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.maximum %a, %b : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }) : (tensor<4x2xi32>, tensor<i32>) -> tensor<3x2xi32>
  return %0 : tensor<3x2xi32>
}

// 1 . 2 . 3 under windows of places 0, 2 of 3
func.func @holes(%x: tensor<3xi32>) -> tensor<3xi32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>, base_dilations = array<i64: 2>, window_dilations = array<i64: 2>, padding = dense<[[2, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }) : (tensor<3xi32>, tensor<i32>) -> tensor<3xi32>
  return %0 : tensor<3xi32>
}

// Sums of all that come after: each is the next one's and one element.
func.func @scan(%x: tensor<4x2xi32>) -> tensor<4x2xi32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 4, 1>, padding = dense<[[0, 3], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }) : (tensor<4x2xi32>, tensor<i32>) -> tensor<4x2xi32>
  return %0 : tensor<4x2xi32>
}

// A bf16 can't count above 256 by ones.
func.func @narrow(%x: tensor<600xbf16>) -> tensor<bf16> {
  %zero = stablehlo.constant dense<0.0> : tensor<bf16>
  %one = stablehlo.constant dense<1.0> : tensor<600xbf16>
  %ones = stablehlo.add %x, %one : tensor<600xbf16>
  %0 = "stablehlo.reduce"(%ones, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %1 = stablehlo.add %a, %b : tensor<bf16>
    stablehlo.return %1 : tensor<bf16>
  }) : (tensor<600xbf16>, tensor<bf16>) -> tensor<bf16>
  return %0 : tensor<bf16>
}

func.func @select(%x: tensor<6xf32>, %source: tensor<3xf32>) -> tensor<6xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%x, %source, %zero) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>, padding = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<6xf32>, tensor<3xf32>, tensor<f32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}
}

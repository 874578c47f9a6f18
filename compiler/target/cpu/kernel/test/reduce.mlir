// RUN: alula-compile --target=cpu:host %s -o %t.alula
// RUN: alula-run %t.alula --function=sums --input=2x3xf32=1,2,3,4,5,6 --expected_output=3xf32=5,7,9 --expected_output=2xf32=6,15 --expected_output=f32=22
// RUN: alula-run %t.alula --function=largest --input=4xf32=1,nan,3,-1 --expected_output=f32=nan
// RUN: alula-run %t.alula --function=place --input=2x3xi32=5,9,9,-1,-4,-1 --expected_output=2xi32=9,-1 --expected_output=2xi32=1,0
// RUN: alula-run %t.alula --function=long --expected_output=bf16=4096
// RUN: alula-run %t.alula --function=none --input=0x2xi32= --expected_output=2xi32=7,7
// RUN: alula-run %t.alula --function=nothing --input=2xi32=3,4 --expected_output=2xi32=4,5

module {
func.func @sums(%x: tensor<2x3xf32>) -> (tensor<3xf32>, tensor<2xf32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
  %1 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  %2 = stablehlo.reduce(%x init: %one) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<f32>
  return %0, %1, %2 : tensor<3xf32>, tensor<2xf32>, tensor<f32>
}

func.func @largest(%x: tensor<4xf32>) -> tensor<f32> {
  %init = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %init) applies stablehlo.maximum across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// The first of the largest, and where it is.
func.func @place(%x: tensor<2x3xi32>) -> (tensor<2xi32>, tensor<2xi32>) {
  %i = stablehlo.iota dim = 1 : tensor<2x3xi32>
  %least = stablehlo.constant dense<-2147483648> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.reduce(%x init: %least), (%i init: %zero) across dimensions = [1] : (tensor<2x3xi32>, tensor<2x3xi32>, tensor<i32>, tensor<i32>) -> (tensor<2xi32>, tensor<2xi32>)
  reducer(%a: tensor<i32>, %b: tensor<i32>) (%j: tensor<i32>, %k: tensor<i32>) {
    %1 = stablehlo.compare GE, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = stablehlo.select %1, %a, %b : tensor<i1>, tensor<i32>
    %3 = stablehlo.select %1, %j, %k : tensor<i1>, tensor<i32>
    stablehlo.return %2, %3 : tensor<i32>, tensor<i32>
  }
  return %0#0, %0#1 : tensor<2xi32>, tensor<2xi32>
}

// In bf16 the sum of ones would stop at 256.
func.func @long() -> tensor<bf16> {
  %ones = stablehlo.constant dense<1.0> : tensor<4096xbf16>
  %zero = stablehlo.constant dense<0.0> : tensor<bf16>
  %0 = stablehlo.reduce(%ones init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4096xbf16>, tensor<bf16>) -> tensor<bf16>
  return %0 : tensor<bf16>
}

func.func @none(%x: tensor<0x2xi32>) -> tensor<2xi32> {
  %seven = stablehlo.constant dense<7> : tensor<i32>
  %0 = stablehlo.reduce(%x init: %seven) applies stablehlo.multiply across dimensions = [0] : (tensor<0x2xi32>, tensor<i32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}

func.func @nothing(%x: tensor<2xi32>) -> tensor<2xi32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.reduce(%x init: %one) applies stablehlo.add across dimensions = [] : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}
}

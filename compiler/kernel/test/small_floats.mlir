// RUN: alula-compile --target=cpu:host %s -o %t.alula
// RUN: alula-run %t.alula --function=sum --input=5xf8E4M3FN=1,17,240,448,0.001953125 --input=5xf8E4M3FN=0.0625,1,240,448,0.0009765625 --expected_output=5xf8E4M3FN=1,16,nan,nan,0.001953125
// RUN: alula-run %t.alula --function=twice --input=4xf8E5M2=1,57344,-57344,0.09375 --expected_output=4xf8E5M2=2,inf,-inf,0.1875
// RUN: alula-run %t.alula --function=half --input=4xf16=1,1.0009765625,65504,6e-8 --expected_output=4xf16=2,2,65504,1
// RUN: alula-run %t.alula --function=brain --input=3xbf16=1,256,3.390625 --input=3xbf16=0.00390625,1,0.01171875 --expected_output=3xbf16=1,256,3.40625
// RUN: alula-run %t.alula --function=four --input=4xf4E2M1FN=0.5,6,-3,1 --expected_output=4xf4E2M1FN=1,6,-6,2

// Each op rounds to its type: the numbers are those of ml_dtypes.
module {
func.func @sum(%x: tensor<5xf8E4M3FN>, %y: tensor<5xf8E4M3FN>) -> tensor<5xf8E4M3FN> {
  %0 = stablehlo.add %x, %y : tensor<5xf8E4M3FN>
  return %0 : tensor<5xf8E4M3FN>
}

func.func @twice(%x: tensor<4xf8E5M2>) -> tensor<4xf8E5M2> {
  %two = stablehlo.constant dense<2.0> : tensor<4xf8E5M2>
  %0 = stablehlo.multiply %x, %two : tensor<4xf8E5M2>
  return %0 : tensor<4xf8E5M2>
}

func.func @half(%x: tensor<4xf16>) -> tensor<4xf16> {
  %one = stablehlo.constant dense<1.0> : tensor<4xf16>
  %0 = stablehlo.add %x, %one : tensor<4xf16>
  return %0 : tensor<4xf16>
}

func.func @brain(%x: tensor<3xbf16>, %y: tensor<3xbf16>) -> tensor<3xbf16> {
  %0 = stablehlo.add %x, %y : tensor<3xbf16>
  return %0 : tensor<3xbf16>
}

func.func @four(%x: tensor<4xf4E2M1FN>) -> tensor<4xf4E2M1FN> {
  %0 = stablehlo.add %x, %x : tensor<4xf4E2M1FN>
  return %0 : tensor<4xf4E2M1FN>
}
}

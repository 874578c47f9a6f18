// RUN: alula-compile --target=cpu:host %s -o %t.alula
// RUN: alula-run %t.alula --function=round --input=8xf32=-2.5,-1.5,-0.5,0.5,1.5,2.5,-0.0,nan --expected_output=8xf32=-3,-2,-1,0,1,2,-0,nan --expected_output=8xf32=-2,-1,-0,1,2,3,-0,nan --expected_output=8xf32=-3,-2,-1,1,2,3,-0,nan --expected_output=8xf32=-2,-2,-0,0,2,2,-0,nan --expected_output=8xf32=-1,-1,-1,1,1,1,-0,nan --expected_output=8xi1=true,true,true,true,true,true,true,false
// RUN: alula-run %t.alula --function=divide --input=6xf32=5,-5,5,-5,3,inf --input=6xf32=3,3,-3,-3,0,2 --expected_output=6xf32=2,-2,2,-2,nan,nan --expected_output=6xf32=1.03037691,-1.03037691,2.11121583,-2.11121583,1.57079637,1.57079637
// RUN: alula-run %t.alula --function=functions --input=4xf64=-1.25,0.5,2,10 --expected_output=4xf64=0.286504797,1.64872127,7.3890561,22026.4658 --expected_output=4xf64=-0.84828364,0.462117157,0.96402758,0.999999996 --expected_output=4xf64=-1.07721735,0.793700526,1.25992105,2.15443469 --expected_output=4xf64=-3.00956967,0.54630249,-2.18503986,0.648360827 --expected_output=4xf64=0.222700139,0.622459331,0.880797078,0.999954602 --rtol=1e-8
// RUN: alula-run %t.alula --function=order --input=4xf32=1,nan,-0.0,2 --input=4xf32=nan,1,0.0,1 --expected_output=4xf32=nan,nan,-0,1 --expected_output=4xi1=false,false,true,false --expected_output=4xi1=true,false,true,false --expected_output=4xi1=true,false,true,false
// RUN: alula-run %t.alula --function=clamp --input=f16=-1 --input=5xf16=-3,-1,0.5,7,nan --input=f16=2 --expected_output=5xf16=-1,-1,0.5,2,nan

// The numbers are numpy's.
module {
func.func @round(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xi1>) {
  %0 = stablehlo.floor %x : tensor<8xf32>
  %1 = stablehlo.ceil %x : tensor<8xf32>
  %2 = stablehlo.round_nearest_afz %x : tensor<8xf32>
  %3 = stablehlo.round_nearest_even %x : tensor<8xf32>
  %4 = stablehlo.sign %x : tensor<8xf32>
  %5 = stablehlo.is_finite %x : (tensor<8xf32>) -> tensor<8xi1>
  return %0, %1, %2, %3, %4, %5 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xi1>
}

func.func @divide(%x: tensor<6xf32>, %y: tensor<6xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
  %0 = stablehlo.remainder %x, %y : tensor<6xf32>
  %1 = stablehlo.atan2 %x, %y : tensor<6xf32>
  return %0, %1 : tensor<6xf32>, tensor<6xf32>
}

func.func @functions(%x: tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) {
  %0 = stablehlo.exponential %x : tensor<4xf64>
  %1 = stablehlo.tanh %x : tensor<4xf64>
  %2 = stablehlo.cbrt %x : tensor<4xf64>
  %3 = stablehlo.tan %x : tensor<4xf64>
  %4 = stablehlo.logistic %x : tensor<4xf64>
  return %0, %1, %2, %3, %4 : tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>
}

// NaN wins; the total order puts it last and -0 before 0.
func.func @order(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) {
  %0 = stablehlo.minimum %x, %y : tensor<4xf32>
  %1 = stablehlo.compare EQ, %x, %y, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %2 = stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %3 = stablehlo.compare LE, %x, %y, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
}

func.func @clamp(%low: tensor<f16>, %x: tensor<5xf16>, %high: tensor<f16>) -> tensor<5xf16> {
  %0 = stablehlo.clamp %low, %x, %high : (tensor<f16>, tensor<5xf16>, tensor<f16>) -> tensor<5xf16>
  return %0 : tensor<5xf16>
}
}

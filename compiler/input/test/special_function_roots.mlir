// RUN: alula-interpret %s --passes=input-convert-chlo-to-stablehlo --function=lgamma_f32 --input=4xf32=1,2,1.0625,2.0625 --expected_output=4xf32=0,0,-0.0329571003,0.0276675215 --relative-tolerance=5e-7 --absolute-tolerance=0
// RUN: alula-interpret %s --passes=input-convert-chlo-to-stablehlo --function=lgamma_f64 --input=4xf64=5e-324,2,1.0625,2.0625 --expected_output=4xf64=744.44007192138122,0,-0.032957100293577818,0.027667521522857022 --relative-tolerance=1e-15 --absolute-tolerance=0
// RUN: alula-interpret %s --passes=input-convert-chlo-to-stablehlo --function=digamma_f32 --input=4xf32=1.5,1.4375,1.46875,1.4616321 --expected_output=4xf32=0.036489974,-0.023613544,0.00686541147,-1.20360526e-8 --relative-tolerance=5e-7 --absolute-tolerance=0
// RUN: alula-interpret %s --passes=input-convert-chlo-to-stablehlo --function=digamma_f64 --input=4xf64=1.5,1.4375,1.46875,1.25 --expected_output=4xf64=0.036489973978576521,-0.023613544005297899,0.0068654114707357767,-0.22745353337626541 --relative-tolerance=1e-15 --absolute-tolerance=0
// RUN: alula-interpret %s --passes=input-convert-chlo-to-stablehlo --function=erfc_f32 --input=4xf32=514,-514,1e30,inf --expected_output=4xf32=0,2,0,0 --relative-tolerance=0 --absolute-tolerance=0

// Numbers from mpmath. Around roots, results are right beside themselves, not
// only beside 1; far out, nothing overflows.

func.func @lgamma_f32(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.lgamma %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @lgamma_f64(%x: tensor<4xf64>) -> tensor<4xf64> {
  %0 = chlo.lgamma %x : tensor<4xf64> -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

func.func @digamma_f32(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.digamma %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @digamma_f64(%x: tensor<4xf64>) -> tensor<4xf64> {
  %0 = chlo.digamma %x : tensor<4xf64> -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

func.func @erfc_f32(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.erfc %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

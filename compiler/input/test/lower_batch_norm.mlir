// RUN: alula-opt --input-lower-batch-norm %s | FileCheck %s
// RUN: alula-compile --target=cpu:host %s -o %t.alula
// RUN: alula-run %t.alula --function=training --input=3x2xf32=1,10,2,20,6,60 --input=2xf32=2,0.5 --input=2xf32=1,-1 --expected_output=3x2xf32=-0.75976538,-1.46266226,0.12011731,-1.23133113,3.63964807,-0.306006608 --expected_output=2xf32=3,30 --expected_output=2xf32=4.66666667,466.666667
// RUN: alula-run %t.alula --function=dynamic --input=3x2xf32=1,10,2,20,6,60 --input=2xf32=2,0.5 --input=2xf32=1,-1 --expected_output=3x2xf32=-0.75976538,-1.46266226,0.12011731,-1.23133113,3.63964807,-0.306006608 --expected_output=2xf32=3,30 --expected_output=2xf32=4.66666667,466.666667
// RUN: alula-run %t.alula --function=inference --input=3x2xbf16=1,10,2,20,6,60 --input=2xbf16=2,0.5 --input=2xbf16=1,-1 --input=2xbf16=2,25 --input=2xbf16=4,400 --expected_output=3x2xbf16=0.0571909584,-1.37476584,1,-1.12492195,4.77123617,-0.125546363
// RUN: alula-run %t.alula --function=grad --input=3x2xf64=1,10,2,20,6,60 --input=2xf64=2,0.5 --input=2xf64=2,25 --input=2xf64=4,400 --input=3x2xf64=1,-1,0.5,2,0,3 --expected_output=3x2xf64=0.401566814,-0.0239862617,0,0.0280931422,-0.192053694,-0.038417528 --expected_output=2xf64=-0.471404521,5.49656572 --expected_output=2xf64=1.5,4 --rtol=1e-8

// The numbers are numpy's, by the formulas of the specification.
// CHECK-NOT: batch_norm
module {
func.func @training(%x: tensor<3x2xf32>, %scale: tensor<2xf32>, %offset: tensor<2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %0:3 = "stablehlo.batch_norm_training"(%x, %scale, %offset) <{epsilon = 0.5 : f32, feature_index = 1 : i64}> : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>)
  return %0#0, %0#1, %0#2 : tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>
}

func.func @dynamic(%x: tensor<?x?xf32>, %scale: tensor<?xf32>, %offset: tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %0:3 = "stablehlo.batch_norm_training"(%x, %scale, %offset) <{epsilon = 0.5 : f32, feature_index = 1 : i64}> : (tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>)
  return %0#0, %0#1, %0#2 : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>
}

func.func @inference(%x: tensor<3x2xbf16>, %scale: tensor<2xbf16>, %offset: tensor<2xbf16>, %mean: tensor<2xbf16>, %variance: tensor<2xbf16>) -> tensor<3x2xbf16> {
  %0 = "stablehlo.batch_norm_inference"(%x, %scale, %offset, %mean, %variance) <{epsilon = 0.5 : f32, feature_index = 1 : i64}> : (tensor<3x2xbf16>, tensor<2xbf16>, tensor<2xbf16>, tensor<2xbf16>, tensor<2xbf16>) -> tensor<3x2xbf16>
  return %0 : tensor<3x2xbf16>
}

func.func @grad(%x: tensor<3x2xf64>, %scale: tensor<2xf64>, %mean: tensor<2xf64>, %variance: tensor<2xf64>, %grad: tensor<3x2xf64>) -> (tensor<3x2xf64>, tensor<2xf64>, tensor<2xf64>) {
  %0:3 = "stablehlo.batch_norm_grad"(%x, %scale, %mean, %variance, %grad) <{epsilon = 0.5 : f32, feature_index = 1 : i64}> : (tensor<3x2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<3x2xf64>) -> (tensor<3x2xf64>, tensor<2xf64>, tensor<2xf64>)
  return %0#0, %0#1, %0#2 : tensor<3x2xf64>, tensor<2xf64>, tensor<2xf64>
}
}

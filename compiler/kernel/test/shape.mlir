// RUN: alula-compile --target=cpu:host %s -o %t.alula
// RUN: alula-run %t.alula --function=turn --input=2x3xi32=1,2,3,4,5,6 --expected_output=3x2xi32=1,4,2,5,3,6 --expected_output=6xi32=6,5,4,3,2,1 --expected_output=3x2xi32=1,2,3,4,5,6
// RUN: alula-run %t.alula --function=spread --input=2x1xf32=1,2 --expected_output=2x2x2xf32=1,2,1,2,1,2,1,2 --expected_output=2x2x2xf32=1,1,1,1,2,2,2,2
// RUN: alula-run %t.alula --function=count --expected_output=2x3xui8=0,1,2,0,1,2 --expected_output='2xcomplex<f32>=(0,0),(1,0)' --expected_output=3xf16=0,1,2
// RUN: alula-run %t.alula --function=empty --input=0x3xf32= --expected_output=3x0xf32= --expected_output=0xf32= --expected_output=i32=0
// RUN: alula-run %t.alula --function=deep --input=2xf32=1,2 --expected_output=f32=1536

module {
func.func @turn(%x: tensor<2x3xi32>) -> (tensor<3x2xi32>, tensor<6xi32>, tensor<3x2xi32>) {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xi32>) -> tensor<3x2xi32>
  %1 = stablehlo.reverse %x, dims = [0, 1] : tensor<2x3xi32>
  %2 = stablehlo.reshape %1 : (tensor<2x3xi32>) -> tensor<6xi32>
  %3 = stablehlo.reshape %x : (tensor<2x3xi32>) -> tensor<3x2xi32>
  return %0, %2, %3 : tensor<3x2xi32>, tensor<6xi32>, tensor<3x2xi32>
}

// Dimensions of size 1 are repeated, and those that are new.
func.func @spread(%x: tensor<2x1xf32>) -> (tensor<2x2x2xf32>, tensor<2x2x2xf32>) {
  %0 = stablehlo.broadcast_in_dim %x, dims = [2, 1] : (tensor<2x1xf32>) -> tensor<2x2x2xf32>
  %1 = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<2x1xf32>) -> tensor<2x2x2xf32>
  return %0, %1 : tensor<2x2x2xf32>, tensor<2x2x2xf32>
}

// Many dimensions.
func.func @deep(%x: tensor<2xf32>) -> tensor<f32> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [3] : (tensor<2xf32>) -> tensor<2x2x2x2x2x2x2x2x2x2xf32>
  %1 = stablehlo.constant dense<0.0> : tensor<f32>
  %2 = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] : (tensor<2x2x2x2x2x2x2x2x2x2xf32>, tensor<f32>) -> tensor<f32>
  return %2 : tensor<f32>
}

func.func @count() -> (tensor<2x3xui8>, tensor<2xcomplex<f32>>, tensor<3xf16>) {
  %0 = stablehlo.iota dim = 1 : tensor<2x3xui8>
  %1 = stablehlo.iota dim = 0 : tensor<2xcomplex<f32>>
  %2 = stablehlo.iota dim = 0 : tensor<3xf16>
  return %0, %1, %2 : tensor<2x3xui8>, tensor<2xcomplex<f32>>, tensor<3xf16>
}

func.func @empty(%x: tensor<0x3xf32>) -> (tensor<3x0xf32>, tensor<0xf32>, tensor<i32>) {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<0x3xf32>) -> tensor<3x0xf32>
  %1 = stablehlo.reshape %x : (tensor<0x3xf32>) -> tensor<0xf32>
  %2 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<0x3xf32>) -> tensor<i32>
  return %0, %1, %2 : tensor<3x0xf32>, tensor<0xf32>, tensor<i32>
}
}

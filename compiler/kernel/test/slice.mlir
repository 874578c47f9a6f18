// RUN: alula-compile --target=cpu:host %s -o %t.alula
// RUN: alula-run %t.alula --function=strided --input=2x5xi32=0,1,2,3,4,5,6,7,8,9 --expected_output=1x2xi32=6,8
// RUN: alula-run %t.alula --function=moved --input=5xi32=0,1,2,3,4 --input=i32=4 --expected_output=3xi32=2,3,4
// RUN: alula-run %t.alula --function=moved --input=5xi32=0,1,2,3,4 --input=i32=-7 --expected_output=3xi32=0,1,2
// RUN: alula-run %t.alula --function=updated --input=5xi32=0,1,2,3,4 --input=2xi32=8,9 --input=ui8=255 --expected_output=5xi32=0,1,2,8,9 --expected_output=5xi32=0,1,2,3,4
// RUN: alula-run %t.alula --function=padded --input=4xf32=1,2,3,4 --input=f32=0.5 --expected_output=8xf32=2,0.5,0.5,3,0.5,0.5,4,0.5 --expected_output=2xf32=2,3
// RUN: alula-run %t.alula --function=joined --input=2x1xi8=1,2 --input=2x0xi8= --input=2x2xi8=3,4,5,6 --expected_output=2x3xi8=1,3,4,2,5,6

module {
func.func @strided(%x: tensor<2x5xi32>) -> tensor<1x2xi32> {
  %0 = stablehlo.slice %x [1:2, 1:5:2] : (tensor<2x5xi32>) -> tensor<1x2xi32>
  return %0 : tensor<1x2xi32>
}

// The slice is moved until it lies inside.
func.func @moved(%x: tensor<5xi32>, %i: tensor<i32>) -> tensor<3xi32> {
  %0 = stablehlo.dynamic_slice %x, %i, sizes = [3] : (tensor<5xi32>, tensor<i32>) -> tensor<3xi32>
  return %0 : tensor<3xi32>
}

// 255 is not -1; the operand stays what it was.
func.func @updated(%x: tensor<5xi32>, %u: tensor<2xi32>, %i: tensor<ui8>) -> (tensor<5xi32>, tensor<5xi32>) {
  %0 = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<5xi32>, tensor<2xi32>, tensor<ui8>) -> tensor<5xi32>
  return %0, %x : tensor<5xi32>, tensor<5xi32>
}

// Negative padding cuts, after what goes between has been put in.
func.func @padded(%x: tensor<4xf32>, %p: tensor<f32>) -> (tensor<8xf32>, tensor<2xf32>) {
  %0 = stablehlo.pad %x, %p, low = [-3], high = [1], interior = [2] : (tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = stablehlo.pad %x, %p, low = [-1], high = [-1], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<2xf32>
  return %0, %1 : tensor<8xf32>, tensor<2xf32>
}

func.func @joined(%x: tensor<2x1xi8>, %y: tensor<2x0xi8>, %z: tensor<2x2xi8>) -> tensor<2x3xi8> {
  %0 = stablehlo.concatenate %x, %y, %z, dim = 1 : (tensor<2x1xi8>, tensor<2x0xi8>, tensor<2x2xi8>) -> tensor<2x3xi8>
  return %0 : tensor<2x3xi8>
}
}

// RUN: alula-compile --target=cpu:host %s -o %t.alula
// RUN: alula-run %t.alula --function=short --input=4x2xi32=3,1,2,9,3,0,1,9 --expected_output=4x2xi32=1,0,2,1,3,9,3,9
// RUN: alula-run %t.alula --function=stable --input=100xi8=11,7,8,10,6,9,10,2,0,3,3,10,10,0,5,9,1,9,1,5,9,3,4,3,8,3,11,5,5,6,6,6,6,11,9,9,8,7,4,11,5,2,10,1,10,7,1,0,5,0,1,6,11,5,9,11,9,7,5,6,3,5,4,2,11,0,1,2,11,8,10,2,8,4,5,0,7,9,7,1,6,3,11,10,2,6,11,10,8,7,0,8,5,1,2,6,8,6,7,10 --expected_output=100xi8=0,0,0,0,0,0,0,1,1,1,1,1,1,1,1,2,2,2,2,2,2,2,3,3,3,3,3,3,3,4,4,4,4,5,5,5,5,5,5,5,5,5,5,5,6,6,6,6,6,6,6,6,6,6,6,7,7,7,7,7,7,7,7,8,8,8,8,8,8,8,8,9,9,9,9,9,9,9,9,9,10,10,10,10,10,10,10,10,10,10,11,11,11,11,11,11,11,11,11,11 --expected_output=100xi32=8,13,47,49,65,75,90,16,18,43,46,50,66,79,93,7,41,63,67,71,84,94,9,10,21,23,25,60,81,22,38,62,73,14,19,27,28,40,48,53,58,61,74,92,4,29,30,31,32,51,59,80,85,95,97,1,37,45,57,76,78,89,98,2,24,36,69,72,88,91,96,5,15,17,20,34,35,54,56,77,3,6,11,12,42,44,70,83,87,99,0,26,33,39,52,55,64,68,82,86
// RUN: alula-run %t.alula --function=columns --input=40x2xf32 --expected_output=40x2xf32=78,79,76,77,74,75,72,73,70,71,68,69,66,67,64,65,62,63,60,61,58,59,56,57,54,55,52,53,50,51,48,49,46,47,44,45,42,43,40,41,38,39,36,37,34,35,32,33,30,31,28,29,26,27,24,25,22,23,20,21,18,19,16,17,14,15,12,13,10,11,8,9,6,7,4,5,2,3,0,1
// RUN: alula-run %t.alula --function=contradictory --input=100xi8=11,7,8,10,6,9,10,2,0,3,3,10,10,0,5,9,1,9,1,5,9,3,4,3,8,3,11,5,5,6,6,6,6,11,9,9,8,7,4,11,5,2,10,1,10,7,1,0,5,0,1,6,11,5,9,11,9,7,5,6,3,5,4,2,11,0,1,2,11,8,10,2,8,4,5,0,7,9,7,1,6,3,11,10,2,6,11,10,8,7,0,8,5,1,2,6,8,6,7,10 --output=- | FileCheck %s

// Expected orders are NumPy's, of its stable sort.
module {
// Insertion in the result.
func.func @short(%x: tensor<4x2xi32>) -> tensor<4x2xi32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = false}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<4x2xi32>) -> tensor<4x2xi32>
  return %0 : tensor<4x2xi32>
}

func.func @stable(%x: tensor<100xi8>) -> (tensor<100xi8>, tensor<100xi32>) {
  %i = stablehlo.iota dim = 0 : tensor<100xi32>
  %0:2 = "stablehlo.sort"(%x, %i) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i8>, %b: tensor<i8>, %c: tensor<i32>, %d: tensor<i32>):
    %1 = stablehlo.compare LT, %a, %b : (tensor<i8>, tensor<i8>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<100xi8>, tensor<100xi32>) -> (tensor<100xi8>, tensor<100xi32>)
  return %0#0, %0#1 : tensor<100xi8>, tensor<100xi32>
}

// Of 37 k mod 80, down each column, the largest first.
func.func @columns(%zero: tensor<40x2xf32>) -> tensor<40x2xf32> {
  %row = stablehlo.iota dim = 0 : tensor<40x2xf32>
  %column = stablehlo.iota dim = 1 : tensor<40x2xf32>
  %two = stablehlo.constant dense<2.0> : tensor<40x2xf32>
  %factor = stablehlo.constant dense<37.0> : tensor<40x2xf32>
  %count = stablehlo.constant dense<80.0> : tensor<40x2xf32>
  %2 = stablehlo.multiply %row, %two : tensor<40x2xf32>
  %3 = stablehlo.add %2, %column : tensor<40x2xf32>
  %4 = stablehlo.multiply %3, %factor : tensor<40x2xf32>
  %5 = stablehlo.remainder %4, %count : tensor<40x2xf32>
  %6 = stablehlo.add %5, %zero : tensor<40x2xf32>
  %0 = "stablehlo.sort"(%6) <{dimension = 0 : i64, is_stable = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<40x2xf32>) -> tensor<40x2xf32>
  return %0 : tensor<40x2xf32>
}

// A comparator that is no order gives some order and stays inside.
// CHECK: 100xi8=
func.func @contradictory(%x: tensor<100xi8>) -> tensor<100xi8> {
  %true = stablehlo.constant dense<true> : tensor<i1>
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = false}> ({
  ^bb0(%a: tensor<i8>, %b: tensor<i8>):
    stablehlo.return %true : tensor<i1>
  }) : (tensor<100xi8>) -> tensor<100xi8>
  return %0 : tensor<100xi8>
}
}

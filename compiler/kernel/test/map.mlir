// RUN: alula-compile --target=cpu:host %s -o %t.alula
// RUN: alula-run %t.alula --input=2x2xi32=1,2,3,4 --input=2x2xi32=5,6,7,8 --expected_output=2x2xi32=6,14,24,36

// x (y + 1)
func.func @main(%x: tensor<2x2xi32>, %y: tensor<2x2xi32>) -> tensor<2x2xi32> {
  %0 = "stablehlo.map"(%x, %y) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %b, %one : tensor<i32>
    %2 = stablehlo.multiply %a, %1 : tensor<i32>
    stablehlo.return %2 : tensor<i32>
  }) : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  return %0 : tensor<2x2xi32>
}

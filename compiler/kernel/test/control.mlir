// RUN: alula-compile --target=cpu:host %s -o %t.alula
// RUN: alula-run %t.alula --function=swap --input=i32=3 --input=2xf32=1,2 --input=2xf32=3,4 --expected_output=2xf32=3,4 --expected_output=2xf32=1,2
// RUN: alula-run %t.alula --function=swap --input=i32=0 --input=2xf32=1,2 --input=2xf32=3,4 --expected_output=2xf32=1,2 --expected_output=2xf32=3,4
// RUN: alula-run %t.alula --function=nested --input=i32=4 --expected_output=i32=10
// RUN: alula-run %t.alula --function=branch --input=i32=0 --input=2xi32=5,6 --expected_output=2xi32=6,7
// RUN: alula-run %t.alula --function=branch --input=i32=1 --input=2xi32=5,6 --expected_output=2xi32=10,12
// RUN: alula-run %t.alula --function=branch --input=i32=-1 --input=2xi32=5,6 --expected_output=2xi32=-5,-6
// RUN: alula-run %t.alula --function=branch --input=i32=9 --input=2xi32=5,6 --expected_output=2xi32=-5,-6
// RUN: alula-run %t.alula --function=choice --input=i1=true --input=3xf64=1,2,3 --expected_output=3xf64=3,2,1 --expected_output=f64=1
// RUN: alula-run %t.alula --function=choice --input=i1=false --input=3xf64=1,2,3 --expected_output=3xf64=1,2,3 --expected_output=f64=2

module {
// Values that change places need one more memory.
func.func @swap(%n: tensor<i32>, %a: tensor<2xf32>, %b: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0:3 = stablehlo.while(%i = %n, %x = %a, %y = %b) : tensor<i32>, tensor<2xf32>, tensor<2xf32>
  cond {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.subtract %i, %one : tensor<i32>
    stablehlo.return %1, %y, %x : tensor<i32>, tensor<2xf32>, tensor<2xf32>
  }
  return %0#1, %0#2 : tensor<2xf32>, tensor<2xf32>
}

// 1 + 2 + … + n, one by one.
func.func @nested(%n: tensor<i32>) -> tensor<i32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %n, %sum = %zero) : tensor<i32>, tensor<i32>
  cond {
    %1 = stablehlo.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1:2 = stablehlo.while(%j = %i, %inner = %sum) : tensor<i32>, tensor<i32>
    cond {
      %2 = stablehlo.compare GT, %j, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %2 = stablehlo.subtract %j, %one : tensor<i32>
      %3 = stablehlo.add %inner, %one : tensor<i32>
      stablehlo.return %2, %3 : tensor<i32>, tensor<i32>
    }
    %4 = stablehlo.subtract %i, %one : tensor<i32>
    stablehlo.return %4, %1#1 : tensor<i32>, tensor<i32>
  }
  return %0#1 : tensor<i32>
}

// An index outside takes the last branch.
func.func @branch(%i: tensor<i32>, %x: tensor<2xi32>) -> tensor<2xi32> {
  %0 = "stablehlo.case"(%i) ({
    %one = stablehlo.constant dense<1> : tensor<2xi32>
    %1 = stablehlo.add %x, %one : tensor<2xi32>
    stablehlo.return %1 : tensor<2xi32>
  }, {
    %1 = stablehlo.add %x, %x : tensor<2xi32>
    stablehlo.return %1 : tensor<2xi32>
  }, {
    %1 = stablehlo.negate %x : tensor<2xi32>
    stablehlo.return %1 : tensor<2xi32>
  }) : (tensor<i32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}

func.func @choice(%p: tensor<i1>, %x: tensor<3xf64>) -> (tensor<3xf64>, tensor<f64>) {
  %0:2 = "stablehlo.if"(%p) ({
    %1 = stablehlo.reverse %x, dims = [0] : tensor<3xf64>
    %2 = stablehlo.constant dense<1.0> : tensor<f64>
    stablehlo.return %1, %2 : tensor<3xf64>, tensor<f64>
  }, {
    %2 = stablehlo.constant dense<2.0> : tensor<f64>
    stablehlo.return %x, %2 : tensor<3xf64>, tensor<f64>
  }) : (tensor<i1>) -> (tensor<3xf64>, tensor<f64>)
  return %0#0, %0#1 : tensor<3xf64>, tensor<f64>
}
}
